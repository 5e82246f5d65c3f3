"""Hidden faults: the chaos object is invisible to solvers, and the target workload is labelled as the cause."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Entity, Fault, Object, Reference, Solution
from scenario_kit.model.chaos.kinds import GROUP, describe_marks, get_experiment
from scenario_kit.model.json_document import replace_texts
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE, WORKLOADS
from scenario_kit.render.templating.authoring_error import build_error

#: Capability: an admission policy blocks Chaos Mesh events about single pods.
QUIET_EVENTS: Final = "quiet-events"
#: Kinds for which the manager creates an object per pod and emits events in the pod's namespace.
_PER_POD: Final = ("HTTPChaos", "IOChaos", "NetworkChaos")


def hide_fault(fault: Fault, namespace: str, others: Iterable[str] = ()) -> Fault:
    """Move the chaos objects of a fault to the management namespace.

    References to the chaos object (effect, undone, decoys) follow. The object becomes an artefact, which is not scored,
    and the target becomes the cause. Solutions that delete the object are dropped because a solver cannot; without any
    solution the fault is for diagnosis only.

    Args:
        fault: the visible rendering.
        others: real names of the app's additional namespaces.
        namespace: the app's real namespace; object names derive from it because trials share the management namespace.

    Raises:
        AuthoringError: the fault changes or marks objects that a solver can read, or its target is not a workload.
    """
    _check_hideable(fault)
    refs: dict[str, str] = {}
    for experiment in fault.experiments:
        refs |= _build_moved_reference(experiment, namespace)

    def move(experiment: Object) -> Object:
        return _move_experiment(experiment, namespace, [namespace, *others])

    moved = Fault.from_json(replace_texts(_drop_changes(fault).to_json(), lambda text: refs.get(text, text)))
    solutions = tuple(s for s in moved.solutions if not _touches(s, refs.values()))
    return msgspec.structs.replace(
        moved,
        changes=tuple(c.edit_manifest(move) for c in fault.changes),
        entities=_list_entities(moved, set(refs.values())),
        solutions=solutions,
        mitigation="Workaround" if solutions else "None",
        requires=(*moved.requires, *_needs(fault)),
    )


def _check_hideable(fault: Fault) -> None:
    for change in fault.changes:
        if change.operation.experiment is None:
            raise _build_refusal(
                fault, f"it changes an object of the app ({change.operation.keyword}) that solvers can read"
            )
        if mark := describe_marks(change.operation.experiment):
            raise _build_refusal(fault, mark)
    if fault.target.kind not in WORKLOADS:
        raise _build_refusal(fault, f"its target would be the cause, but {fault.target} is not a workload")


def _build_refusal(fault: Fault, because: str) -> AuthoringError:
    return build_error(
        "SK135",
        f"fault '{fault.name}': {fault.type} cannot be hidden: {because}",
        observed="visibility: Hidden",
        expected="a Chaos Mesh fault that leaves no trace in the app's objects",
        fix=f"set visibility: Visible for fault '{fault.name}', or choose another fault",
    )


def _build_moved_reference(obj: Object, namespace: str) -> dict[str, str]:
    old = Reference(obj["kind"], obj["metadata"]["name"], group=GROUP)
    new = Reference(old.kind, _build_name(old.name, namespace), MANAGEMENT_NAMESPACE, GROUP)
    return {str(old): str(new)}


def _build_name(name: str, namespace: str) -> str:
    """Build a name that is unique across trials and short enough for Chaos Mesh."""
    tail = hashlib.sha256(f"{namespace}/{name}".encode()).hexdigest()[:6]
    return f"{name[:13].rstrip('-')}-{tail}"


def _move_experiment(experiment: Object, namespace: str, everywhere: list[str]) -> Object:
    obj = copy.deepcopy(experiment)
    metadata = obj["metadata"]
    obj["metadata"] = {**metadata, "name": _build_name(metadata["name"], namespace), "namespace": MANAGEMENT_NAMESPACE}
    for selector in _list_selectors(get_experiment(obj).spec):
        # Chaos Mesh defaults to the namespace of the object, which has no pods of the app.
        selector.setdefault("namespaces", everywhere)
    return obj


def _list_selectors(spec: Object) -> Iterator[Object]:
    yield spec.setdefault("selector", {})
    if isinstance(other := spec.get("target"), dict):  # a string in HTTPChaos: Request or Response
        yield other.setdefault("selector", {})


def _drop_changes(fault: Fault) -> Fault:
    return msgspec.structs.replace(fault, changes=())


def _needs(fault: Fault) -> tuple[str, ...]:
    kinds = {get_experiment(e).kind for e in fault.experiments}
    return (QUIET_EVENTS,) if kinds & set(_PER_POD) else ()


def _touches(solution: Solution, refs: Iterable[str]) -> bool:
    return bool({c.target for c in solution.changes} & set(refs))


def _list_entities(fault: Fault, moved: set[str]) -> tuple[Entity, ...]:
    cause = Entity(ref=fault.target, role="Cause")
    others = [e for e in fault.entities if e.ref != fault.target]
    artefacts = [Entity(ref=e.ref, role="Artefact", generated=True) if e.ref in moved else e for e in others]
    return (cause, *artefacts)
