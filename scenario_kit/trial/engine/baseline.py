"""The cluster and the app before anything was broken, as a trial remembers them."""

from __future__ import annotations

from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.judge.repair.resolved import EntryTraffic
from scenario_kit.model import Finding, Value
from scenario_kit.model.runtime.observation import Passage


class Baseline(Value, frozen=True, kw_only=True):
    """What the cluster and the app were like before anything was broken.

    ``undone`` is what was found once every change was taken back, and before the app was removed; None until then.
    ``signs`` are what a solver found then, ``placement`` the nodes of each workload, ``found`` what was new at the end
    of hold; only where somebody holds.
    ``passages`` are what went through the silent components of the propagation, up to the end of hold.
    ``ready_at`` is when noise began: the app was ready then. None before, and from the teardown on.
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
