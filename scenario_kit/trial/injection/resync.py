"""Rewrite the app's objects as a GitOps controller does, so that write order does not reveal a fault's changes.

A fault writes a few objects, late: their last write time, resourceVersion and generation would give them away. So all
objects of the app are rewritten before the first fault and after every fault that took effect, in an order drawn from
the seed. The rewrite changes nothing of substance: an annotation is added and removed, and a workload's
revisionHistoryLimit is varied, which replaces no pod, until all workloads have the same generation.

The last write of every object comes at the end, kind by kind: in between, a fault's object that is first or last of its
kind would be alone there, since how far it stands from the others would be left to the scheduling of threads.

No receipts are needed. An interrupted round is repeated from the state of the objects, and its remains (an annotation,
one more ReplicaSet) are deleted with the app.
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
#: Annotation by which users of Argo CD request a refresh; removed at once.
_MARK: Final = "argocd.argoproj.io/refresh"
_MARKED: Final = {"metadata": {"annotations": {_MARK: "normal"}}}
_UNMARKED: Final = {"metadata": {"annotations": {_MARK: None}}}
#: Default of revisionHistoryLimit.
_KEPT: Final = 10
_ALL_BUT_LAST: Final = slice(-1)
_LAST: Final = slice(-1, None)


class Bump(NamedTuple):
    """A workload, and the values of revisionHistoryLimit to write in sequence."""

    ref: Reference
    kept: tuple[int, ...]


def resync(context: TrialContext) -> None:
    """Rewrite every existing object of the app: once before the first fault, and after each that took effect.

    Raises:
        ClusterError: the API server does not answer; call again to continue.
    """
    progress = context.progress()
    desired = 1 + progress.proofs
    if progress.resyncs >= desired:
        return
    own = {make_object_reference(o, context.namespace).groupless for o in context.runbook.objects}
    live = [o for o in _list_live(context) if make_object_reference(o, context.namespace).groupless in own]
    order = shuffle_references([make_object_reference(o, context.namespace) for o in live], context.spec.seed, desired)
    workloads = {b.ref: b for b in plan_bumps([o for o in live if o["kind"] in WORKLOADS], context.namespace)}

    patches = {ref: _build_patches(ref, workloads.get(ref)) for ref in order}

    def write(ref: Reference, part: slice) -> None:
        try:
            for patch in patches[ref][part]:
                context.cluster.patch(ref, patch)
        except NotFound:  # removed in the meantime
            return
        except Rejected as refusal:
            log.warning("%s: %s was not rewritten: %s", context.name, ref, refusal.message)

    with ThreadPoolExecutor(_PARALLEL) as pool:
        list(pool.map(lambda ref: write(ref, _ALL_BUT_LAST), order))
        for kind in sorted({ref.kind for ref in order}):
            list(pool.map(lambda ref: write(ref, _LAST), [ref for ref in order if ref.kind == kind]))
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
    """Shuffle the references by seed and round number alone."""
    return sorted(refs, key=lambda ref: hashlib.sha256(f"{seed}/resync/{number}/{ref}".encode()).digest())


def plan_bumps(workloads: Sequence[Object], namespace: str) -> list[Bump]:
    """Plan the writes that bring all workloads to the same generation and the same revisionHistoryLimit.

    Each write of a different value raises the generation by one. All end with the value that most do not have now, so
    that one write is enough for most.
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
    """Return ``steps`` values, each different from the one before, that end with ``goal``."""
    path = [goal]
    while len(path) < steps:
        path.append(next(n for n in (goal + 2, goal + 3, goal + 4) if n != path[-1] and n != kept))
    return tuple(reversed(path))
