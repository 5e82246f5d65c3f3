"""The JSON document of one world: everything is computed here, the page only renders. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from scenario_kit.campaign import TrialResult
from scenario_kit.lab.page.graph import Drawing
from scenario_kit.lab.page.health import ComponentHealth
from scenario_kit.model import AlertHistory, Object, StepStatus, Value
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.model.kubernetes.status import read_revision
from scenario_kit.ports import LogLine
from scenario_kit.report import timeline
from scenario_kit.trial import list_alerts_now

EVENTS, LINES = 80, 200
_LONGEST: Final = 2000


class WorldSummary(Value, frozen=True, kw_only=True, omit_defaults=False):
    """A world in a list. ``trial`` and ``scenario`` are empty without spoilers."""

    namespace: str
    mode: str
    now: float
    trial: str = ""
    scenario: str = ""
    app: str = ""


class WorldTrial(Value, frozen=True, kw_only=True):
    """The progress of a world's trial. Times are on its clock."""

    started_at: float
    steps: tuple[StepStatus, ...] = ()
    outcome: str = ""

    @property
    def injected_at(self) -> float | None:
        """When the first fault was injected; None before that."""
        return next((s.started_at for s in self.steps if s.kind == "inject"), None)

    @property
    def step(self) -> str:
        """The current or last step."""
        return self.steps[-1].step if self.steps else ""


def document(
    shown: WorldSummary,
    run: WorldTrial,
    drawing: Drawing,
    components: Sequence[ComponentHealth],
    history: AlertHistory,
    events: Iterable[Object],
) -> Object:
    """Return the document of a world, without logs."""
    counts = {tone: sum(1 for c in components if c.tone == tone) for tone in ("good", "open", "bad", "plain")}
    alerts = list_alerts_now(history)
    return {
        **shown.to_json(),
        "startedAt": run.started_at,
        "injectedAt": run.injected_at,
        "step": run.step,
        "outcome": run.outcome,
        "counts": counts,
        "components": [c.to_json() for c in components],
        "graph": drawing.to_json(),
        "alerts": [a.to_json() for a in alerts],
        "chart": build_chart(run, history),
        "events": select_latest(events),
    }


def build_chart(run: WorldTrial, history: AlertHistory) -> Object | None:
    """Build the alert timeline of a trial as in the report; time 0 is the injection, before that the start."""
    zero = run.injected_at if run.injected_at is not None else run.started_at
    if run.injected_at is None:
        # Every app has pending alerts while it starts; only those that persist are shown.
        shown = tuple(t for t in history.timelines if t.firing or any(i.end is None for i in t.pending))
        history = msgspec.structs.replace(history, timelines=shown)
    result = TrialResult(
        name="", purpose="", describe="", seed=0, outcome=run.outcome, started_at=run.started_at, injected_at=zero,
        steps=run.steps, history=history,
    )  # fmt: skip
    found = timeline.build_chart([result], Expect())
    if found is None:
        return None
    rows = [
        {
            **row._asdict(),
            "declared": "",
            "bars": [{**bar._asdict(), "text": bar.text.removeprefix(": ")} for bar in row.bars],
        }
        for row in found.rows
    ]
    return {
        **found._asdict(),
        "rows": rows,
        "bands": [band._asdict() for band in found.bands],
        "ticks": [tick._asdict() for tick in found.ticks],
        "head": timeline.HEAD,
        "lane": timeline.LANE,
        "faulty": run.injected_at is not None,
    }


def select_latest(events: Iterable[Object]) -> list[Object]:
    """Select the latest events, newest first, by revision: their clocks may differ."""
    ordered = sorted(events, key=read_revision, reverse=True)[:EVENTS]
    return [
        {
            "at": _read_time(event),
            "type": str(event.get("type", "")),
            "reason": str(event.get("reason", "")),
            "object": "{kind}/{name}".format(
                **{"kind": "", "name": "", **_format_fields(event.get("involvedObject") or {})}
            ),
            "message": str(event.get("message", ""))[:_LONGEST],
            "count": int(event.get("count") or (event.get("series") or {}).get("count") or 1),
        }
        for event in ordered
    ]


def merge_lines(found: Iterable[LogLine]) -> list[Object]:
    """Merge the last lines of several pods by time."""
    ordered = sorted(found, key=lambda line: line.at)[-LINES:]
    return [
        {"at": line.at, "pod": line.pod, "container": line.container, "text": line.text[:_LONGEST]} for line in ordered
    ]


def _read_time(event: Object) -> str:
    for key in ("lastTimestamp", "eventTime", "firstTimestamp"):
        if event.get(key):
            return str(event[key])
    return str(event["metadata"].get("creationTimestamp", ""))


def _format_fields(fields: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in fields.items() if key in ("kind", "name")}
