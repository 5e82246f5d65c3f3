"""Live timeline of trials with their current step and alerts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Final

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from scenario_kit.campaign import PlannedTrial
from scenario_kit.cli.terminal.terminal import is_dumb
from scenario_kit.model import StepStatus
from scenario_kit.model.shortening import cut_text
from scenario_kit.trial import AlertNow, TrialStatus

_STYLE: Final = {"Held": "green", "Broken": "bold red", "Infra": "yellow", "Running": "cyan", "Skipped": "dim"}
_COLUMNS: Final[dict[str, JustifyMethod]] = {
    "trial": "left",
    "time": "right",
    "steps": "left",
    "now": "left",
    "alerts": "left",
}
_NOW_WIDTH: Final = 30
_SIGN: Final = {"Held": "✓", "Broken": "✗", "Infra": "?", "Running": "…", "Skipped": "·"}


class Timeline:
    """Shows running trials: as a live table on a terminal, else as one line per finished step."""

    def __init__(self, title: str, planned: Sequence[PlannedTrial], console: Console | None = None) -> None:
        self._title = title
        self._planned = list(planned)
        self._console = console or Console(file=sys.stderr)
        self._statuses: dict[str, TrialStatus] = {}
        self._printed: dict[str, int] = {}
        self._redraws = self._console.is_terminal and not is_dumb()
        self._live = Live(console=self._console, refresh_per_second=8, transient=False)

    def __enter__(self) -> Timeline:
        if self._redraws:
            self._live.start()
            self._live.update(self._table())
        else:
            self._console.print(self._title, highlight=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._redraws:
            self._live.update(self._table())
            self._live.stop()

    def __call__(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """Update the status of a trial, which is shown by purpose rather than by name."""
        del name
        if planned not in self._planned:  # a further repeat, or a second attempt
            self._planned.append(planned)
        self._statuses[planned.purpose] = status
        if self._redraws:
            self._live.update(self._table())
        else:
            self._lines(planned, status)

    def show_line(self, text: str) -> None:
        """Print a separate line, above the table if there is one."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def _lines(self, planned: PlannedTrial, status: TrialStatus) -> None:
        done = [s for s in status.steps if s.outcome != "Running"]
        for step in done[self._printed.get(planned.purpose, 0) :]:
            at = _format_offset(status, step.finished_at if step.finished_at is not None else step.started_at)
            self._console.print(
                f"  {planned.purpose:<12} {at:>7}  {_SIGN[step.outcome]} {step.step}{_describe_step(step)}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
        self._printed[planned.purpose] = len(done)

    def _table(self) -> RenderableType:
        # Expanded, so that only the last column shrinks on narrow terminals.
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, expand=True)
        # Rows keep their height, so that the table does not jump.
        for heading, justify in _COLUMNS.items():
            last = heading == "alerts"
            table.add_column(heading, justify=justify, no_wrap=True, overflow="ellipsis", ratio=1 if last else None)
        for planned in self._planned:
            status = self._statuses.get(planned.purpose)
            if status is None:
                table.add_row(planned.purpose, "", Text("waiting", style="dim"), "", "")
            else:
                table.add_row(*_build_row(planned, status))
        return Group(Text(self._title, style="italic", no_wrap=True, overflow="ellipsis"), table)


def _build_row(planned: PlannedTrial, status: TrialStatus) -> tuple[RenderableType, ...]:
    steps = Text()
    for index, _ in enumerate(planned.steps):
        known = status.step(index)
        outcome = known.outcome if known else ""
        steps.append(_SIGN.get(outcome, "·"), style=_STYLE.get(outcome, "dim"))
    current = status.step(status.current)
    now = status.outcome or (current.step if current else "")
    return (
        planned.purpose,
        _format_offset(status, status.now),
        steps,
        Text(cut_text(now, _NOW_WIDTH), style=_STYLE.get(status.outcome, "")),
        _format_alerts(status.alerts),
    )


def _format_alerts(alerts: Sequence[AlertNow]) -> Text:
    text = Text()
    if alerts:  # the number comes first because the end may be cut off
        text.append(f"{len(alerts)}: ", style="dim")
    for (name, state), times in Counter((_name_alert(alert), alert.state) for alert in alerts).items():
        shown = f"{name}×{times}" if times > 1 else name
        text.append(f"{shown} ", style="bold red" if state == "Firing" else "yellow")
    return text


def _name_alert(alert: AlertNow) -> str:
    """Format an alert with its entity; alerts on several pods of a workload have the same name."""
    entity = (alert.entity or "").partition("/")[2]
    return f"{alert.name}({entity})" if entity else alert.name


def _format_offset(status: TrialStatus, at: float | None) -> str:
    """Format the time since the start of the trial on its own clock, in minutes and seconds."""
    if at is None or status.started_at is None:
        return ""
    minutes, seconds = divmod(round(at - status.started_at), 60)
    return f"{minutes}:{seconds:02d}"


def _describe_step(step: StepStatus) -> str:
    return f": {step.message}" if step.message else ""
