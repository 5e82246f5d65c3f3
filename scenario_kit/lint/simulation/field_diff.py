"""Which fields a change writes: what differs between the rendered objects before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.simulation.place import make_reference
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.chaos.kinds import SCHEDULE, schedule_key
from scenario_kit.model.kubernetes.difference import Path, find_paths, get_at, meets
from scenario_kit.render import simulate_change
from scenario_kit.render.objects.lookup import read_pod_labels

#: What an experiment is about, beside the pods; two that differ in one of them do not touch the same thing.
_SCOPE = (
    "action", "direction", "target", "externalTargets", "device", "containerNames", "volumePath", "path", "methods",
    "port", "method", "class", "name", "patterns", "target", "abort", "stressors",
)  # fmt: skip


class WrittenField(NamedTuple):
    """A field of an object; an empty path is the whole object."""

    of: Reference
    path: Path = ()

    def meets(self, other: WrittenField) -> bool:
        """Check whether writing one of them writes the other, or a part of it."""
        return self.of == other.of and meets(self.path, other.path)

    def __str__(self) -> str:
        return f"{'.'.join(self.path)} of {self.of}" if self.path else str(self.of)


def list_written(changes: Sequence[Change], objects: Sequence[Object], app: App) -> set[WrittenField]:
    """List the fields that the changes write, one after the other. What they create is theirs alone and does
    not count.
    """
    found: set[WrittenField] = set()
    for change in changes:
        found |= set(_list_named_fields(change, objects, app))
        try:
            new = simulate_change(objects, change, app, app.namespace)
        except AuthoringError:
            continue  # another rule says so
        if not change.set_flag:
            found |= set(_list_differences(objects, new, app.namespace))
        objects = new
    return found


def _list_named_fields(change: Change, objects: Sequence[Object], app: App) -> Iterator[WrittenField]:
    """List fields that can be told from the change alone: of nodes, of flags, of pods, of objects that no
    app brings.
    """
    if change.set_flag and app.flags:
        store = Reference("ConfigMap", app.flags.config_map)
        yield WrittenField(store, ("data", app.flags.key, "flags", change.set_flag.flag))
    elif change.chaos:
        yield from _list_chaos_fields(change.chaos, objects, app)
    elif change.run:  # what it writes, only its store knows; but the same command twice writes the same
        yield WrittenField(Reference("Job", change.run.client), (" ".join(change.run.command),))
    if change.target is None:
        return
    ref = _strip_group(Reference.parse(change.target), app.namespace)
    if change.cordon or change.uncordon or change.drain:
        yield WrittenField(ref, ("spec", "unschedulable"))
    elif taint := change.taint or change.untaint:
        yield WrittenField(ref, ("spec", "taints", taint.key, taint.effect))
    elif is_elsewhere(change, objects, app):
        if change.delete:
            yield WrittenField(ref)
        elif change.scale:
            yield WrittenField(ref, ("spec", "replicas"))
        elif change.patch and isinstance(change.patch.patch, Mapping):
            yield from (WrittenField(ref, path) for path in leaves(change.patch.patch))
        elif change.patch:
            yield from (WrittenField(ref, tuple(op["path"].strip("/").split("/"))) for op in change.patch.patch)


def is_elsewhere(change: Change, objects: Sequence[Object], app: App) -> bool:
    """Check whether a change is of an object that is not among these: what it was before is not known here."""
    if change.target is None or change.restart or change.undo_rollout:
        return False
    ref = _strip_group(Reference.parse(change.target), app.namespace)
    return ref not in {_strip_group(make_reference(obj, app.namespace), app.namespace) for obj in objects}


def _strip_group(ref: Reference, namespace: str) -> Reference:
    """Return a reference without the group, which may be left out; the app's namespace always spelled the same way."""
    return Reference(ref.kind, ref.name, "app" if ref.namespace == namespace else ref.namespace)


def leaves(document: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Return the paths of all values of a document that hold no others by name."""
    for key, value in document.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def _list_chaos_fields(manifest: Object, objects: Sequence[Object], app: App) -> Iterator[WrittenField]:
    """List what an experiment does to the pods of each workload, as a field of it: the same thing twice is
    a conflict.
    """
    kind, spec = manifest["kind"], manifest.get("spec") or {}
    if kind == SCHEDULE:
        kind = str(spec.get("type"))
        spec = spec.get(schedule_key(kind)) or {}
    labels = (spec.get("selector") or {}).get("labelSelectors") or {}
    scope = msgspec.json.encode({key: spec[key] for key in _SCOPE if key in spec}, order="sorted").decode()
    for obj in objects:
        template = (obj.get("spec") or {}).get("template")
        if labels and isinstance(template, dict) and labels.items() <= read_pod_labels(obj).items():
            yield WrittenField(
                _strip_group(make_reference(obj, app.namespace), app.namespace), (f"pods under {kind}", scope)
            )


def _list_differences(old: Sequence[Object], new: Sequence[Object], namespace: str) -> Iterator[WrittenField]:
    before = {make_reference(obj, namespace): obj for obj in old}
    after_ = {make_reference(obj, namespace): obj for obj in new}
    for ref, obj in before.items():
        if ref not in after_:
            yield WrittenField(_strip_group(ref, namespace))
        elif after_[ref] is not obj:
            yield from (WrittenField(_strip_group(ref, namespace), path) for path in find_paths(obj, after_[ref]))


def find_changed(old: Object, new: Object) -> Iterator[tuple[Path, Any]]:
    """Find the paths of the smallest parts that differ, each with what stands there now; None where nothing does."""
    for path in find_paths(old, new):
        yield path, get_at(new, path)
