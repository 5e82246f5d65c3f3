"""Apply changes to rendered objects: policies check the resulting objects, not the text that produces them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scenario_kit.lint.simulation.applied_changes import apply_changes
from scenario_kit.model import APP_NAMESPACE, App, Change, Object
from scenario_kit.model.json_document import Place, get_part, list_mappings
from scenario_kit.model.kubernetes.pod_template import locate_pod_spec
from scenario_kit.model.kubernetes.reference import find_named, identify_object


class Simulation(NamedTuple):
    """Objects before and after some changes; ``place`` is where the changes are in the file."""

    place: Place
    app: App
    before: tuple[Object, ...]
    after: tuple[Object, ...]
    changes: tuple[Change, ...] = ()
    #: Whether the changes break the app, rather than repair it.
    breaks: bool = True


class WrittenObject(NamedTuple):
    """An object that a simulation creates or changes, and its former state."""

    stage: Simulation
    object: Object
    was: Object | None


def build_stage(
    place: Place,
    app: App,
    before: tuple[Object, ...],
    changes: Sequence[Change],
    *,
    breaks: bool = True,
    namespace: str = "",
) -> Simulation:
    """Apply changes one after the other, skipping those that fail, which another rule reports.

    ``namespace`` is the app's actual namespace, if not its conventional one.
    """
    objects: tuple[Object, ...] = before
    for change in changes:
        (applied,) = apply_changes(objects, (change,), app, namespace)
        if applied.error is None:
            objects = (*applied.after, *list_outside_app(change, applied.after))
    return Simulation(place, app, before, objects, tuple(changes), breaks)


def split_steps(stage: Simulation, *, namespace: str = "") -> Iterator[tuple[int, Simulation]]:
    """Yield the changes of a simulation as single steps, so that intermediate writes count too."""
    objects = stage.before
    for i, change in enumerate(stage.changes):
        step = build_stage(stage.place, stage.app, objects, (change,), breaks=stage.breaks, namespace=namespace)
        yield i, step
        objects = step.after


def list_outside_app(change: Change, objects: tuple[Object, ...]) -> Iterator[Object]:
    """Yield an object outside of the app with the fields that a merge patch gives it: nothing else is known of it."""
    merged, ref = change.operation.merged, change.operation.ref
    if merged is None or ref is None:
        return
    if find_named(objects, *ref.bare) is not None:
        return
    reported = dict(merged)
    metadata = dict(reported.pop("metadata", None) or {}) | {"name": ref.name}
    metadata |= {} if ref.namespace == APP_NAMESPACE else {"namespace": ref.namespace}
    yield {**reported, "apiVersion": "v1", "kind": ref.kind, "metadata": metadata}


def list_written_objects(stage: Simulation) -> Iterator[WrittenObject]:
    """Yield every object that the simulation creates or changes."""
    kept = {id(obj) for obj in stage.before}
    known = {identify_object(obj): obj for obj in stage.before}
    for obj in stage.after:
        was = known.get(identify_object(obj))
        if id(obj) not in kept and obj != was:
            yield WrittenObject(stage, obj, was)


def list_pod_specs(obj: Object) -> Iterator[tuple[Place, Object]]:
    """Yield the pod specs of an object with their places."""
    keys = locate_pod_spec(obj["kind"])
    found = get_part(obj, keys)
    if isinstance(found, Mapping):
        yield keys, dict(found)


def list_containers(obj: Object) -> Iterator[tuple[Place, Object]]:
    """Yield all containers of an object's pods, including init and ephemeral ones, with their places."""
    for keys, spec in list_pod_specs(obj):
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for i, container in list_mappings(spec.get(kind)):
                yield (*keys, kind, i), dict(container)


def walk_leaves(value: Any, keys: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every scalar of a document with its place."""
    if isinstance(value, str):  # the most frequent type first
        yield keys, value
    elif isinstance(value, dict | Mapping):
        for name, item in value.items():
            yield from walk_leaves(item, (*keys, name))
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from walk_leaves(item, (*keys, i))
    else:
        yield keys, value
