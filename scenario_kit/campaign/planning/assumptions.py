"""Assumptions of the twin: varied from repeat to repeat, and blamed where a scenario rests on one. Pure.

What nothing upstream settles is an assumption in an app's ``twin.yaml``, with a range. The first repeat takes each as
it is, every later one takes each at the lower or the upper end of its range. Within four repeats every assumption is
twice low and twice high, in one of six patterns; the patterns move on after that, so that not all that went together
goes on to do so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from scenario_kit.campaign.planning.plans import join_names
from scenario_kit.load.rules import build_finding
from scenario_kit.model import App, Finding, Runbook
from scenario_kit.model.twin import Assumption

#: Which of four repeats take the upper end: every way to choose two.
_PATTERNS: Final = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))
_BLOCK: Final = 4
#: Assumptions that a finding names; repeats may not tell more of them apart.
_NAMED: Final = 3


class Ran(Protocol):
    """A repeat that ended: how, and under which values."""

    @property
    def outcome(self) -> str:
        """Held, Broken or Infra."""

    @property
    def assumed(self) -> Mapping[str, float]:
        """The values that assumptions had; empty for those of the app's definition."""


def draw_assumptions(app: App, variation: int) -> dict[str, float]:
    """Draw the values that a variation gives to the assumptions of an app; number 0 changes none of them."""
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
    """Read the assumptions of an app by name; none where it has no twin."""
    return app.twin.assumptions if app.twin is not None else {}


def vary_runbook(runbook: Runbook, variation: int) -> Runbook:
    """Return the runbook with the twin's assumptions as that variation has them."""
    values, twin = draw_assumptions(runbook.app, variation), runbook.app.twin
    if not values or twin is None:
        return runbook
    app = msgspec.structs.replace(runbook.app, twin=twin.with_assumptions(values))
    return msgspec.structs.replace(runbook, app=app)


def find_decisive_assumptions(repeats: Iterable[Ran], app: App) -> list[Finding]:
    """Find what every broken repeat had and no other: assumptions at one end of their range."""
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
            message=f"the scenario rests on an assumption of the simulated app: {join_names(blamed[:_NAMED], 'or')}",
            observed=f"every repeat that broke, and no other, had {' or '.join(reported)}{more}",
            expected="repeats that hold wherever in its range an assumption lies",
        )
    ]


def _explains(name: str, broken: Sequence[Ran], held: Sequence[Ran]) -> bool:
    values = {r.assumed.get(name) for r in broken}
    return len(values) == 1 and all(r.assumed.get(name) not in values for r in held)


def _describe_assumption(name: str, assumption: Assumption, value: float) -> str:
    said = f"{name} = {value:g} ({assumption.low:g} to {assumption.high:g}, {assumption.why})"
    return said.replace(", )", ")")
