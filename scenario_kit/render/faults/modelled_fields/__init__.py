"""Detect changes to fields that the lab does not model.

``registry`` projects each object onto the fields that some part of the lab reads. The real control plane reads most
kinds completely; of pod templates, ConfigMaps, Secrets and Services, only the fields that the simulated kubelet and the
twin read count. A change that alters no projection has no effect in the lab.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Object
from scenario_kit.model.chaos.fields import find_blind_fields, is_external, list_targets
from scenario_kit.model.chaos.reach import is_chaos
from scenario_kit.model.kubernetes.difference import find_paths
from scenario_kit.model.kubernetes.reference import identify_object, resolve_namespace
from scenario_kit.render.faults.modelled_fields.registry import UNKNOWN, project_objects, select_differing
from scenario_kit.render.objects.lookup import format_reference, look_up

#: Capability that an unmodelled change requires.
REAL_DATA_PLANE: Final = "real-data-plane"


def find_unmodelled(changes: Iterable[Change], app: App, objects: Sequence[Object], namespace: str) -> tuple[str, ...]:
    """Return the fields that the changes write if the lab reads none of them; empty if it reads any.

    For chaos objects, a single field unknown to the simulated daemon or the twin counts. Returns nothing for apps
    without a twin, for objects outside the app and for invalid changes.
    """
    made = [change for change in changes if not change.operation.restarts]
    if app.twin is not None and (found := tuple(_find_unknown_chaos(made, app, namespace))):
        return found
    if app.twin is None or not made or any(not change.operation.only_fields for change in made):
        return ()
    new: Sequence[Object] = objects
    for change in made:
        if _is_outside_app(change, new, namespace):
            return ()
        try:
            new = change.operation.simulate(new, app, namespace)
        except AuthoringError:
            return ()
    before, after = select_differing(objects, new)
    if not _is_alike(project_objects(objects, app, namespace, before), project_objects(new, app, namespace, after)):
        return ()
    return tuple(_list_written_fields(objects, new, namespace))


def _find_unknown_chaos(changes: Iterable[Change], app: App, namespace: str) -> Iterator[str]:
    homes = {
        resolve_namespace(home, symbol) for home in (namespace, app.namespace) for symbol in ("app", *app.namespaces)
    }
    for change in changes:
        manifest = change.operation.manifest
        if not manifest or not is_chaos(manifest):
            continue
        for each in find_blind_fields(manifest):
            yield f"{each.field} of {each.kind} ({each.what})"
        for target in list_targets(manifest):
            if is_external(target.partition(":")[0], homes):
                yield f"externalTargets of NetworkChaos ('{target}' is outside the cluster)"


def _is_alike(one: Any, other: Any) -> bool:
    """Return whether two projections are equal, treating UNKNOWN as equal to anything."""
    if UNKNOWN in (one, other):
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_alike, one, other))
    return bool(one == other)


def _is_outside_app(change: Change, objects: Sequence[Object], namespace: str) -> bool:
    ref = change.operation.ref
    return ref is not None and look_up(objects, ref, namespace) is None


def _list_written_fields(old: Sequence[Object], new: Sequence[Object], namespace: str) -> Iterable[str]:
    before = {identify_object(obj): obj for obj in old}
    for obj in new:
        was = before.pop(identify_object(obj), None)
        name = format_reference(obj, namespace)
        if was is None:
            yield name
        elif was is not obj:
            yield from (f"{'.'.join(path)} of {name}" for path in find_paths(was, obj))
    yield from (format_reference(obj, namespace) for obj in before.values())


__all__ = ["REAL_DATA_PLANE", "find_unmodelled"]
