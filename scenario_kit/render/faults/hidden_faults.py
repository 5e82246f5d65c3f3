"""A fault whose chaos object lies where no solver can read it: the labelled cause is then the target workload."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Entity, Fault, Object, Reference, Solution
from scenario_kit.model.chaos.kinds import GROUP, describe_marks, get_experiment
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE, WORKLOADS
from scenario_kit.render.templating.authoring_error import build_error

#: The admission policy that keeps Chaos Mesh's events about single pods out of namespaces.
QUIET_EVENTS: Final = "quiet-events"
#: Kinds for which the manager keeps an object for each pod, and tells events about it in the pod's namespace.
_PER_POD: Final = ("HTTPChaos", "IOChaos", "NetworkChaos")


def hide_fault(fault: Fault, namespace: str, others: Iterable[str] = ()) -> Fault:
    """Return the fault with its chaos objects in the management namespace.

    Wherever the fault speaks of its chaos object (effect, undone, decoys) it speaks of the moved one. That object
    becomes an artefact: no solver could name it, and none is scored by it. The target becomes the cause. Ways to end it
    that delete the object fall away, as nobody on call can; where none is left, it is for diagnosis only.

    Args:
        fault: as rendered for everybody's eyes.
        others: the real names of its further namespaces.
        namespace: the app's real namespace; trials side by side share the management namespace, so names differ by it.

    Raises:
        AuthoringError: the fault changes objects that a solver can read, or marks them, or its target is no workload.
    """
    _demand(fault)
    refs: dict[str, str] = {}
    for experiment in fault.experiments:
        refs |= _build_moved_reference(experiment, namespace)

    def move(experiment: Object) -> Object:
        return _move_experiment(experiment, namespace, [namespace, *others])

    moved = Fault.from_json(_rename_references(_drop_changes(fault).to_json(), refs))
    kept = tuple(s for s in moved.solutions if not _touches(s, refs.values()))
    return msgspec.structs.replace(
        moved,
        changes=tuple(c.edit_manifest(move) for c in fault.changes),
        entities=_list_entities(moved, set(refs.values())),
        solutions=kept,
        mitigation="Workaround" if kept else "None",
        requires=(*moved.requires, *_needs(fault)),
    )


def _demand(fault: Fault) -> None:
    for change in fault.changes:
        if change.operation.experiment is None:
            raise _build_refusal(
                fault, f"it changes an object of the app ({change.operation.keyword}), which a solver reads as it is"
            )
        if mark := describe_marks(change.operation.experiment):
            raise _build_refusal(fault, mark)
    if Reference.parse(fault.target).kind not in WORKLOADS:
        raise _build_refusal(fault, f"the cause is then its target, and {fault.target} is no workload")


def _build_refusal(fault: Fault, because: str) -> AuthoringError:
    return build_error(
        "SK135",
        f"fault '{fault.name}': {fault.type} cannot be hidden: {because}",
        observed="visibility: Hidden",
        expected="a fault of Chaos Mesh that leaves no mark on the objects of the app",
        fix=f"visibility: Visible for fault '{fault.name}', or another fault",
    )


def _build_moved_reference(obj: Object, namespace: str) -> dict[str, str]:
    old = Reference(obj["kind"], obj["metadata"]["name"], group=GROUP)
    new = Reference(old.kind, _name(old.name, namespace), MANAGEMENT_NAMESPACE, GROUP)
    return {str(old): str(new)}


def _name(name: str, namespace: str) -> str:
    """Build a name unique among trials, whose namespaces differ; as short as Chaos Mesh wants names to be."""
    tail = hashlib.sha256(f"{namespace}/{name}".encode()).hexdigest()[:6]
    return f"{name[:13].rstrip('-')}-{tail}"


def _move_experiment(experiment: Object, namespace: str, everywhere: list[str]) -> Object:
    obj = copy.deepcopy(experiment)
    metadata = obj["metadata"]
    obj["metadata"] = {**metadata, "name": _name(metadata["name"], namespace), "namespace": MANAGEMENT_NAMESPACE}
    _, spec = get_experiment(obj)
    for selector in _list_selectors(spec):
        # Without a namespace Chaos Mesh would take that of the object, where there is nothing to break.
        selector.setdefault("namespaces", everywhere)
    return obj


def _list_selectors(spec: Object) -> Iterator[Object]:
    yield spec.setdefault("selector", {})
    if isinstance(other := spec.get("target"), dict):  # of HTTPChaos it is a word: Request or Response
        yield other.setdefault("selector", {})


def _drop_changes(fault: Fault) -> Fault:
    return msgspec.structs.replace(fault, changes=())


def _rename_references(document: Any, refs: dict[str, str]) -> Any:
    if isinstance(document, dict):
        return {k: _rename_references(v, refs) for k, v in document.items()}
    if isinstance(document, list | tuple):
        return [_rename_references(v, refs) for v in document]
    return refs.get(document, document) if isinstance(document, str) else document


def _needs(fault: Fault) -> tuple[str, ...]:
    kinds = {get_experiment(e)[0] for e in fault.experiments}
    return (QUIET_EVENTS,) if kinds & set(_PER_POD) else ()


def _touches(solution: Solution, refs: Iterable[str]) -> bool:
    return bool({c.target for c in solution.changes} & set(refs))


def _list_entities(fault: Fault, moved: set[str]) -> tuple[Entity, ...]:
    cause = Entity(ref=fault.target, role="Cause")
    others = [e for e in fault.entities if e.ref != fault.target]
    artefacts = [Entity(ref=e.ref, role="Artefact", generated=True) if e.ref in moved else e for e in others]
    return (cause, *artefacts)
