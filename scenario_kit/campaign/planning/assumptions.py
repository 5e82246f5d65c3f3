"""Vary the twin's assumptions between repeats, and detect scenarios that depend on one. Pure.

Numbers that no upstream source settles are assumptions with a range in ``twin.yaml``. The first repeat uses the
declared values, later ones the lower or upper end of each range. In each block of four repeats every assumption is low
twice and high twice, in one of six patterns; the patterns shift between blocks, so that assumptions that varied
together no longer do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from scenario_kit.campaign.planning.plans import join_names
from scenario_kit.load.rules import build_finding
from scenario_kit.model import App, Finding, Runbook
from scenario_kit.model.twin import Assumption

#: Which of four repeats use the upper end: all choices of two.
_PATTERNS: Final = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))
_BLOCK: Final = 4
#: Maximum number of assumptions in a finding; repeats may not distinguish more.
_NAMED: Final = 3


class Ran(Protocol):
    """The outcome of a repeat, and its assumptions."""

    @property
    def outcome(self) -> str:
        """Held, Broken or Infra."""

    @property
    def assumed(self) -> Mapping[str, float]:
        """The values of assumptions; empty for the declared ones."""


def draw_assumptions(app: App, variation: int) -> dict[str, float]:
    """Return an app's assumptions in a variation; variation 0 changes none."""
    known = read_ranges(app)
    if not variation:
        return {}
    block, turn = divmod(variation - 1, _BLOCK)
    return {
        name: known[name].high if turn in _PATTERNS[(place + block * (1 + place // len(_PATTERNS))) % len(_PATTERNS)]
        else known[name].low
        for place, name in enumerate(sorted(known))
    }  # fmt: skip


def read_ranges(app: App) -> Mapping[str, Assumption]:
    """Return the assumptions of an app by name; empty without a twin."""
    return app.twin.assumptions if app.twin is not None else {}


def vary_runbook(runbook: Runbook, variation: int) -> Runbook:
    """Return the runbook with the twin's assumptions of a variation."""
    values, twin = draw_assumptions(runbook.app, variation), runbook.app.twin
    if not values or twin is None:
        return runbook
    app = msgspec.structs.replace(runbook.app, twin=twin.with_assumptions(values))
    return msgspec.structs.replace(runbook, app=app)


def find_decisive_assumptions(repeats: Iterable[Ran], app: App) -> list[Finding]:
    """Report assumptions with a value that every broken repeat had, and no other."""
    ran = [r for r in repeats if r.outcome in ("Held", "Broken")]
    broken = [r for r in ran if r.outcome == "Broken"]
    if not broken or len(broken) == len(ran) or not all(r.assumed for r in broken):
        return []
    blamed = [name for name in read_ranges(app) if _explains(name, broken, [r for r in ran if r.outcome == "Held"])]
    if not blamed:
        return []
    reported = [_describe_assumption(name, read_ranges(app)[name], broken[0].assumed[name]) for name in blamed[:_NAMED]]
    more = f"; or on {len(blamed) - _NAMED} more that went with them" if len(blamed) > _NAMED else ""
    return [
        build_finding(
            "SK512",
            message=f"the scenario depends on an assumption of the simulated app: {join_names(blamed[:_NAMED], 'or')}",
            observed=f"every broken repeat, and no other, had {' or '.join(reported)}{more}",
            expected="repeats that hold for all values in the range of an assumption",
        )
    ]


def _explains(name: str, broken: Sequence[Ran], held: Sequence[Ran]) -> bool:
    values = {r.assumed.get(name) for r in broken}
    return len(values) == 1 and all(r.assumed.get(name) not in values for r in held)


def _describe_assumption(name: str, assumption: Assumption, value: float) -> str:
    text = f"{name} = {value:g} ({assumption.low:g} to {assumption.high:g}, {assumption.why})"
    return text.replace(", )", ")")
