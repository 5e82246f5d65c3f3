"""Judge changes as a fault type writes them, where they cannot be rendered: what a template gives fits everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenario_kit.lint.object_fields.changes import WrongField, find_target_type
from scenario_kit.lint.object_fields.json_patches import find_step_mistakes
from scenario_kit.lint.object_fields.kinds import KnownType, find_type
from scenario_kit.lint.object_fields.mistake import FieldMistake
from scenario_kit.lint.object_fields.objects import Judging, find_mistakes
from scenario_kit.lint.simulation.place import Place
from scenario_kit.model import Reference


def is_template(value: Any) -> bool:
    """Return whether a value is, or contains, what a template will replace."""
    return isinstance(value, str) and ("{{" in value or "{%" in value)


def find_written_mistakes(written: Mapping[str, Any], kinds: Sequence[str]) -> Iterator[WrongField]:
    """Yield the wrong fields of a change as written; ``kinds`` are those of possible targets."""
    for keyword in ("create", "apply"):
        manifest = written.get(keyword)
        if isinstance(manifest, Mapping) and (known := find_type(manifest)) is not None:
            judging = Judging("Whole", is_open=is_template)
            for mistake in find_mistakes(manifest, known.type, judging):
                yield _place(str(manifest.get("kind")), known, (keyword,), mistake)
    patch = written.get("patch")
    if isinstance(patch, Mapping):
        yield from _judge_patch(patch, kinds)


def _judge_patch(patch: Mapping[str, Any], kinds: Sequence[str]) -> Iterator[WrongField]:
    """Judge a patch by each kind that its target may have; what is wrong for all of them counts."""
    target = patch.get("target", "{{ target }}")
    known = [found for ref in _list_targets(target, kinds) if (found := find_target_type(ref, ())) is not None]
    if not known:
        return
    others = [{m.place for m in _judge_document(patch, each)} for each in known[1:]]
    for mistake in _judge_document(patch, known[0]):
        if all(mistake.place in places for places in others):
            yield _place(str(target), known[0], ("patch", "patch"), mistake)


def _judge_document(patch: Mapping[str, Any], known: KnownType) -> Iterator[FieldMistake]:
    document, form = patch.get("patch"), patch.get("type")
    if isinstance(document, list):
        yield from find_step_mistakes(document, known.type, Judging(is_open=is_template))
    elif isinstance(document, Mapping) and form in ("Merge", "Strategic"):
        judging = Judging("Merge" if form == "Merge" else "Strategic", is_open=is_template)
        yield from find_mistakes(document, known.type, judging)


def _list_targets(target: Any, kinds: Sequence[str]) -> Iterator[Reference]:
    if is_template(target):
        for each in kinds:
            kind, _, group = each.partition(".")
            yield Reference(kind, "any", group=group)
    elif isinstance(target, str):
        try:
            yield Reference.parse(target)
        except ValueError:
            return


def _place(subject: str, known: KnownType, root: Place, mistake: FieldMistake) -> WrongField:
    return WrongField(subject, known.server, (*root, *mistake.place), mistake)
