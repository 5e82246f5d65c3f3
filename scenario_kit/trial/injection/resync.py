"""Rewriting the app's objects as a GitOps controller does, so that no order of writes tells what a fault wrote.

A fault writes a few objects, late: by the time of the last write, by version and by generation they would stand alone.
So all objects of the app are written anew before the first fault and after every fault that took effect, in an order
drawn from the seed. Nothing changes: a mark comes and goes, and of a workload the number of old ReplicaSets
that are kept is raised and lowered, which replaces no pod, until all workloads have the same generation.

Nothing needs a receipt. A round that was cut short is made again from the state of the objects, and what it may leave
(a mark, one ReplicaSet more) goes with the app's objects.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import msgspec

from scenario_kit.errors import NotFound, Rejected
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import WORKLOADS, make_object_reference
from scenario_kit.trial.engine.context import TrialContext

log = logging.getLogger(__name__)
_PARALLEL: Final = 8
#: By which users of a GitOps controller ask for a resync; it is there for a moment only.
_MARK: Final = "argocd.argoproj.io/refresh"
_MARKED: Final = {"metadata": {"annotations": {_MARK: "normal"}}}
_UNMARKED: Final = {"metadata": {"annotations": {_MARK: None}}}
#: Old ReplicaSets (or revisions) that a workload keeps where it does not say how many.
_KEPT: Final = 10


class Bump(NamedTuple):
    """A workload, and the numbers of old revisions to keep that are written one after the other."""

    ref: Reference
    kept: tuple[int, ...]


def resync(context: TrialContext) -> None:
    """Rewrite every object of the app that is there: once before the first fault, and after each that took effect.

    Raises:
        ClusterError: the API server does not answer; called again, it goes on.
    """
    progress = context.progress()
    desired = 1 + progress.proofs
    if progress.resyncs >= desired:
        return
    own = {make_object_reference(o, context.namespace).groupless for o in context.runbook.objects}
    live = [o for o in _list_live(context) if make_object_reference(o, context.namespace).groupless in own]
    order = shuffle_references([make_object_reference(o, context.namespace) for o in live], context.spec.seed, desired)
    workloads = {b.ref: b for b in plan_bumps([o for o in live if o["kind"] in WORKLOADS], context.namespace)}

    def one(ref: Reference) -> None:
        try:
            for patch in _build_patches(ref, workloads.get(ref)):
                context.cluster.patch(ref, patch)
        except NotFound:  # whoever removed it meanwhile had a reason
            return
        except Rejected as refusal:
            log.warning("%s: %s stays as it was written last: %s", context.name, ref, refusal.message)

    with ThreadPoolExecutor(_PARALLEL) as pool:
        list(pool.map(one, order))
    context.settle()
    context.save_progress(msgspec.structs.replace(progress, resyncs=desired))


def _list_live(context: TrialContext) -> Iterable[Object]:
    kinds = sorted({o["kind"] for o in context.runbook.objects if o["metadata"].get("namespace")})
    with ThreadPoolExecutor(_PARALLEL) as pool:
        for found in pool.map(context.contents, kinds):
            yield from found


def _build_patches(ref: Reference, bump: Bump | None) -> Sequence[Object]:
    if bump is not None:
        return [{"spec": {"revisionHistoryLimit": kept}} for kept in bump.kept]
    return [] if ref.kind in WORKLOADS else [_MARKED, _UNMARKED]


def shuffle_references(refs: Iterable[Reference], seed: int, number: int) -> list[Reference]:
    """Return the references in an order that only the seed and the number of the round decide."""
    return sorted(refs, key=lambda ref: hashlib.sha256(f"{seed}/resync/{number}/{ref}".encode()).digest())


def plan_bumps(workloads: Sequence[Object], namespace: str) -> list[Bump]:
    """Plan what brings all workloads to the same generation, and each to a number of revisions that tells nothing.

    Each write of another number raises the generation by one. All end with the number that most of them do not have
    now, so that one write is enough for most.
    """
    if not workloads:
        return []
    now = [
        _Now(make_object_reference(o, namespace), o["metadata"].get("generation", 1), _count_kept(o)) for o in workloads
    ]
    raised = sum(each.kept > _KEPT for each in now) * 2 > len(now)
    goal = _KEPT if raised else _KEPT + 1
    top = max(each.generation + (1 if each.kept != goal else 2) for each in now)
    return [Bump(each.ref, _walk(each.kept, goal, top - each.generation)) for each in now]


class _Now(NamedTuple):
    ref: Reference
    generation: int
    kept: int


def _count_kept(workload: Object) -> int:
    return int((workload.get("spec") or {}).get("revisionHistoryLimit", _KEPT))


def _walk(kept: int, goal: int, steps: int) -> tuple[int, ...]:
    """Draw so many numbers, none the same as the one before it, that end with ``goal``."""
    path = [goal]
    while len(path) < steps:
        path.append(next(n for n in (goal + 2, goal + 3, goal + 4) if n != path[-1] and n != kept))
    return tuple(reversed(path))
