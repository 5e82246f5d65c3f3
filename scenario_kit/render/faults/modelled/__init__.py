"""What the lab reads of objects, and so which changes of them it cannot show.

The register is a projection (``registered``): of every object, what a part of the lab acts on. A real control plane
acts on most kinds as a whole; of pod templates, ConfigMaps, Secrets and Services only what the simulated kubelet, the
twin and the app's own twin.yaml read counts. A change that leaves every projection as it was is not modelled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Object
from scenario_kit.model.chaos.fields import find_blind_fields, is_external, list_targets
from scenario_kit.model.chaos.reach import is_chaos
from scenario_kit.model.kubernetes.difference import find_paths
from scenario_kit.model.kubernetes.reference import resolve_namespace
from scenario_kit.render.faults.modelled.registry import UNKNOWN, register, select_differing
from scenario_kit.render.objects.lookup import find_position, format_reference

#: The capability that such a change needs.
REAL_DATA_PLANE: Final = "real-data-plane"


def find_unmodelled(changes: Iterable[Change], app: App, objects: Sequence[Object], namespace: str) -> tuple[str, ...]:
    """Find the fields that the changes write, where no part of the lab reads any of them; empty where one is read.

    Of chaos, which is carried out field by field, one that the simulated daemon or the twin does not know is enough.
    Nothing is said of an app without a twin, of objects that are not the app's, and of changes that cannot be made.
    """
    made = [change for change in changes if not change.operation.restarts]
    if app.twin is not None and (found := tuple(_find_unknown_chaos(made, app, namespace))):
        return found
    if app.twin is None or not made or any(not change.operation.only_fields for change in made):
        return ()
    new: Sequence[Object] = objects
    for change in made:
        if _is_elsewhere(change, new, namespace):
            return ()
        try:
            new = change.operation.simulate(new, app, namespace)
        except AuthoringError:
            return ()
    before, after = select_differing(objects, new)
    if not _is_alike(register(objects, app, namespace, before), register(new, app, namespace, after)):
        return ()
    return tuple(_list_written(objects, new, namespace))


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
                yield f"externalTargets of NetworkChaos (where '{target}' is in the world outside)"


def _is_alike(one: Any, other: Any) -> bool:
    """Return whether two projections are the same, as far as that is known: what is UNKNOWN in one may be as in the
    other.
    """
    if UNKNOWN in (one, other):
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_alike, one, other))
    return bool(one == other)


def _is_elsewhere(change: Change, objects: Sequence[Object], namespace: str) -> bool:
    ref = change.operation.ref
    return ref is not None and find_position(objects, ref, namespace) is None


def _list_written(old: Sequence[Object], new: Sequence[Object], namespace: str) -> Iterable[str]:
    before = {_make_key(obj): obj for obj in old}
    for obj in new:
        was = before.pop(_make_key(obj), None)
        name = format_reference(obj, namespace)
        if was is None:
            yield name
        elif was is not obj:
            yield from (f"{'.'.join(path)} of {name}" for path in find_paths(was, obj))
    yield from (format_reference(obj, namespace) for obj in before.values())


def _make_key(obj: Object) -> tuple[str, str, str]:
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


__all__ = ["REAL_DATA_PLANE", "find_unmodelled"]
