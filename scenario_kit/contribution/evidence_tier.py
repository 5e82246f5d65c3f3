"""The evidence that a changed scenario needs, by differences in parsed values rather than text (docs/contributions.md).

A faster lane relies on older evidence, so that any doubt selects a slower lane, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from scenario_kit.model import Value

#: Texts and metadata without influence on trials.
_TEXT: Final = ("title", "description", "authors", "license", "domain", "tags", "references", "suspend", "suppress")
#: Fields that affect verdicts but not the incident itself.
_JUDGED: Final = ("brief", "expect", "groundTruth", "solutions", "decoys")


class LaneName(StrEnum):
    """The lanes, fastest first."""

    TEXT = "L0"
    VERSION = "L1"
    LABELS = "L2"
    FULL = "L3"


class EvidenceTier(Value, frozen=True, kw_only=True):
    """A lane, and the reasons for it."""

    name: LaneName
    because: tuple[str, ...]

    @property
    def plan(self) -> str:
        """Return the plan that the lane requires; empty for text."""
        return {LaneName.TEXT: "", LaneName.VERSION: "quick"}.get(self.name, "standard")


def choose_lane(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], other_files: Iterable[str] = ()
) -> EvidenceTier:
    """Choose the lane of a change from the document ``before`` (None: it is new) to ``after``.

    ``other_files`` are the other changed files of the scenario's folder, including local fault types.
    """
    if before is None:
        return EvidenceTier(name=LaneName.FULL, because=("it is new",))
    code = tuple(f"{path} changed" for path in other_files if not path.lower().endswith((".md", ".txt")))
    if code:
        return EvidenceTier(name=LaneName.FULL, because=code)
    outside = sorted(k for k in {*before, *after} - {"spec"} if _is_different(before.get(k), after.get(k)))
    if outside:
        return EvidenceTier(name=LaneName.FULL, because=tuple(f"{k} changed" for k in outside))
    old, new = before.get("spec") or {}, after.get("spec") or {}
    changed = sorted(k for k in {*old, *new} if _is_different(old.get(k), new.get(k)))
    causal = [k for k in changed if k not in (*_TEXT, *_JUDGED, "app")]
    if "app" in changed and not _is_version_bump(old.get("app") or {}, new.get("app") or {}):
        causal.append("app")
    if causal:
        return EvidenceTier(name=LaneName.FULL, because=tuple(f"spec.{k} changed" for k in sorted(causal)))
    judged = [k for k in changed if k in _JUDGED]
    if judged:
        return EvidenceTier(name=LaneName.LABELS, because=tuple(f"spec.{k} changed" for k in judged))
    if "app" in changed:
        return EvidenceTier(name=LaneName.VERSION, because=("spec.app.version moved forward",))
    return EvidenceTier(
        name=LaneName.TEXT, because=tuple(f"spec.{k} changed" for k in changed) or ("no parsed value changed",)
    )


def _is_different(old: Any, new: Any) -> bool:
    """Return whether two values differ; unlike in Python, 1 and true are different."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() != new.keys() or any(_is_different(old[k], new[k]) for k in old)
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return len(old) != len(new) or any(map(_is_different, old, new))
    return isinstance(old, bool) is not isinstance(new, bool) or bool(old != new)


def _is_version_bump(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether only the version differs and is newer."""
    if {k for k in {*old, *new} if _is_different(old.get(k), new.get(k))} != {"version"}:
        return False
    before, after = _parse_version(old.get("version")), _parse_version(new.get("version"))
    return before is not None and after is not None and after > before


def _parse_version(version: Any) -> tuple[int, ...] | None:
    parts = str(version).split(".")
    return tuple(map(int, parts)) if all(p.isascii() and p.isdigit() and len(p) < 9 for p in parts) else None
