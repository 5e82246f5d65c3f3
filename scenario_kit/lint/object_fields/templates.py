"""Judge changes as a fault type writes them, where they cannot be rendered: what a template gives fits everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenario_kit.lint.object_fields.changes import (
    WrongField,
    find_patch_mistakes,
    find_target_type,
    place_mistakes,
)
from scenario_kit.lint.object_fields.kinds import KnownType, find_type
from scenario_kit.lint.object_fields.mistake import FieldMistake
from scenario_kit.lint.object_fields.objects import Judging, find_mistakes
from scenario_kit.model import Reference


def is_template(value: Any) -> bool:
    """Return whether a value is, or contains, what a template will replace."""
    return isinstance(value, str) and ("{{" in value or "{%" in value)


def find_written_mistakes(written: Mapping[str, Any], kinds: Sequence[str]) -> Iterator[WrongField]:
    """Yield the wrong fields of a change as written; ``kinds`` are those of possible targets."""
    for keyword in ("create", "apply"):
        manifest = written.get(keyword)
        if isinstance(manifest, Mapping) and (known := find_type(manifest)) is not None:
            mistakes = find_mistakes(manifest, known.type, Judging("Whole", is_open=is_template))
            yield from place_mistakes(str(manifest.get("kind")), known, (keyword,), mistakes)
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
    mistakes = (m for m in _judge_document(patch, known[0]) if all(m.place in places for places in others))
    yield from place_mistakes(str(target), known[0], ("patch", "patch"), mistakes)


def _judge_document(patch: Mapping[str, Any], known: KnownType) -> Iterator[FieldMistake]:
    document, form = patch.get("patch"), patch.get("type")
    if isinstance(document, list) or form in ("Merge", "Strategic"):
        judging = Judging("Strategic" if form == "Strategic" else "Merge", is_open=is_template)
        yield from find_patch_mistakes(document, known.type, judging)


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
