"""The recorded state of cluster and app before the first fault."""

from __future__ import annotations

from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.judge.repair.resolution import EntryTraffic
from scenario_kit.model import Finding, Value
from scenario_kit.model.runtime.observation import Passage


class Baseline(Value, frozen=True, kw_only=True):
    """State of cluster and app before the first fault.

    ``undone`` are the findings after undo and before the app is removed; None until then. ``signs`` are the symptoms
    visible to a solver, ``placement`` the nodes of each workload, ``found`` the new symptoms at the end of *hold*; only
    in programs with that step. ``passages`` is the work of the silent components of the propagation up to the end of
    *hold*. ``ready_at`` is when the app became ready and noise began. None before, and from teardown on.
    """

    namespace_uid: str = ""
    snapshot: dict[str, str] = {}
    guards: tuple[Guarded, ...] = ()
    served: EntryTraffic | None = None
    undone: tuple[Finding, ...] | None = None
    ready_at: float | None = None
    signs: tuple[str, ...] = ()
    placement: dict[str, tuple[str, ...]] = {}
    found: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
