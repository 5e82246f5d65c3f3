"""Judge the fields that a change writes: of the object that it creates or applies, and of the patch that it sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scenario_kit.changes.node_placeholders import is_placeholder
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.object_fields.forbidden_updates import find_forbidden_updates
from scenario_kit.lint.object_fields.invalid_values import find_invalid_values
from scenario_kit.lint.object_fields.json_patches import find_step_mistakes
from scenario_kit.lint.object_fields.kinds import KnownType, find_kind_mistake, find_type, name_server
from scenario_kit.lint.object_fields.mistake import FieldMistake
from scenario_kit.lint.object_fields.objects import Judging, Sending, find_field_mistakes, find_mistakes
from scenario_kit.lint.simulation.applied_changes import find_result
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.chaos.kinds import SCHEDULE
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import read_group
from scenario_kit.schema.object_types.field_type import ObjectType
from scenario_kit.schema.object_types.kubernetes import list_versions

_CHAOS_VERSION = f"{CHAOS_GROUP}/v1alpha1"


class WrongField(NamedTuple):
    """A mistake in what is written: the object, the API server that refuses it, and the place in the change."""

    subject: str
    server: str
    place: Place
    mistake: FieldMistake


def find_wrong_fields(change: Change, objects: Sequence[Object], app: App | None = None) -> Iterator[WrongField]:
    """Yield the wrong fields of a change, and of the object that it leaves; ``objects`` exist before it in ``app``."""
    operation, keyword = change.operation, change.operation.keyword
    if operation.injects_chaos and operation.manifest is not None:
        yield from _judge_metadata(operation.manifest, keyword)  # the rest is judged by the whole schema of its kind
    elif (manifest := operation.manifest) is not None:
        known = find_type(manifest)
        old = None if operation.creates else _find_object(objects, _name_manifest(manifest))
        exists = old is not None
        if known is not None:
            judging = Judging("Apply" if exists else "Whole", is_open=is_placeholder)
            mistakes = list(find_mistakes(manifest, known.type, judging))
            if not mistakes and old is None:
                mistakes = list(find_invalid_values(manifest, is_placeholder))
            elif not mistakes and old is not None and app is not None:
                mistakes = list(_judge_applied(change, old, app))
            yield from place_mistakes(describe_object(manifest), known, (keyword,), mistakes)
    elif (document := operation.document) is not None and operation.ref is not None:
        known = find_target_type(operation.ref, objects)
        if known is not None:
            sending: Sending = "Merge" if operation.merged_strategically is None else "Strategic"
            found = list(find_patch_mistakes(document, known.type, Judging(sending, is_open=is_placeholder)))
            if not found and app is not None:
                found = [mistake._replace(place=()) for mistake in _judge_result(change, operation.ref, objects, app)]
            yield from place_mistakes(str(operation.ref), known, (keyword, "patch"), found)


def find_wrong_steps(
    changes: Sequence[Change], states: Sequence[Sequence[Object]], app: App | None
) -> Iterator[tuple[int, WrongField]]:
    """Yield the wrong fields of changes that are made one after the other, with the index of the change.

    ``states`` are those in which they may begin: what is only wrong in some of them is not reported.
    """
    now = [tuple(state) for state in states]
    for i, change in enumerate(changes):
        found = [list(find_wrong_fields(change, state, app)) for state in now]
        also = [{wrong.mistake.message for wrong in other} for other in found[1:]]
        yield from ((i, w) for w in found[0] if all(w.mistake.message in messages for messages in also))
        now = [find_result(state, (change,), app) for state in now] if app is not None else now


def find_wrong_kinds(change: Change) -> Iterator[FieldMistake]:
    """Yield why the API server does not serve what a change creates or applies."""
    manifest = change.operation.manifest
    if manifest is not None and not change.operation.injects_chaos and (mistake := find_kind_mistake(manifest)):
        yield mistake._replace(place=(change.operation.keyword, *mistake.place))


def _judge_metadata(manifest: Object, keyword: str) -> Iterator[WrongField]:
    metadata = manifest.get("metadata")
    if (known := find_type(manifest)) is not None and isinstance(metadata, Mapping):
        mistakes = find_field_mistakes(metadata, known.type.fields["metadata"], Judging(), ("metadata",))
        server = known._replace(server=name_server())
        yield from place_mistakes(describe_object(manifest), server, (keyword,), mistakes)


def find_patch_mistakes(document: Any, type_: ObjectType, judging: Judging) -> Iterator[FieldMistake]:
    """Yield what is wrong with a patch: a list of steps, or a document that is merged as ``judging`` says."""
    if isinstance(document, list | tuple):
        yield from find_step_mistakes(document, type_, judging)
    elif isinstance(document, Mapping):
        yield from find_mistakes(document, type_, judging)


def _judge_result(change: Change, ref: Reference, objects: Sequence[Object], app: App) -> Iterator[FieldMistake]:
    """Yield what a patch makes wrong in an object: each of its fields may be right, and another one be missing."""
    old = _find_object(objects, ref)
    if old is None:
        return
    try:
        (new,) = change.operation.simulate((old,), app, app.namespace)
    except AuthoringError:
        return  # another rule reports that it cannot be made
    before, after = find_type(old), find_type(new)
    if before is None or after is None:
        return
    found = list(find_mistakes(new, after.type, Judging(is_open=is_placeholder)))
    found = found or [*find_invalid_values(new, is_placeholder), *find_forbidden_updates(old, new)]
    if found:
        former = (*find_mistakes(old, before.type, Judging()), *find_invalid_values(old))
        had = {mistake.message for mistake in former}
        yield from (mistake for mistake in found if mistake.message not in had)


def _judge_applied(change: Change, old: Object, app: App) -> Iterator[FieldMistake]:
    """Yield what an object that exists does not let a manifest change. Fields that others own stay as they are."""
    try:
        (new,) = change.operation.simulate((old,), app, app.namespace)
    except (AuthoringError, ValueError):
        return  # another rule reports that it cannot be made
    yield from find_forbidden_updates(old, new)


def place_mistakes(
    subject: str, known: KnownType, root: Place, mistakes: Iterable[FieldMistake]
) -> Iterator[WrongField]:
    """Yield mistakes in an object with its name, and their places in the change that has it at ``root``."""
    for mistake in mistakes:
        yield WrongField(subject, known.server, (*root, *mistake.place), mistake)


def find_target_type(ref: Reference, objects: Sequence[Object]) -> KnownType | None:
    """Return the type of the object that a reference names: as it is rendered, or else of the preferred version."""
    if (obj := _find_object(objects, ref)) is not None:
        return find_type(obj)
    if ref.group == CHAOS_GROUP:
        return None if ref.kind == SCHEDULE else find_type({"apiVersion": _CHAOS_VERSION, "kind": ref.kind})
    served = [v for v in list_versions(ref.kind) if not ref.group or v.rpartition("/")[0] == ref.group]
    return find_type({"apiVersion": served[0], "kind": ref.kind}) if served else None


def _find_object(objects: Sequence[Object], ref: Reference) -> Object | None:
    """Return the object of that kind and name; those of one kind have names of their own within an app."""
    for obj in objects:
        if (obj.get("kind"), (obj.get("metadata") or {}).get("name")) == (ref.kind, ref.name):
            group = read_group(obj)
            if not ref.group or ref.group == group:
                return obj
    return None


def _name_manifest(manifest: Object) -> Reference:
    group = read_group(manifest)
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else ""
    return Reference(str(manifest.get("kind")), str(name), group=group)


def describe_object(manifest: Object) -> str:
    """Return kind and name of an object, which may lack either."""
    metadata = manifest.get("metadata")
    return f"{manifest.get('kind')}/{metadata.get('name') if isinstance(metadata, Mapping) else ''}"
