"""Series identities, and samples of one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_kit.model import Object
from scenario_kit.model.runtime.process import SeriesId

Labels = tuple[tuple[str, str], ...]
Sample = tuple[SeriesId, float]


def label_set(labels: Mapping[str, str]) -> Labels:
    """Return sorted labels, without empty ones: to Prometheus an empty label is an absent one."""
    return tuple(sorted((key, value) for key, value in labels.items() if value))


def make_series_id(name: str, labels: Mapping[str, str]) -> SeriesId:
    """Make the identity of a series."""
    return name, label_set(labels)


class Family:
    """Build samples of one object, each with the object's own labels."""

    def __init__(self, prefix: str, labels: Mapping[str, str]) -> None:
        self._prefix = prefix
        self._labels = dict(labels)

    def sample(self, name: str, value: object, /, **labels: str) -> Sample:
        """Build one sample; a missing value counts as 0, as in a decoded Go struct."""
        return make_series_id(f"{self._prefix}_{name}", {**self._labels, **labels}), float(value or 0)  # type: ignore[arg-type]

    def condition(self, name: str, status: str, label: str, /, **labels: str) -> Iterator[Sample]:
        """Yield the three samples of a condition: 1 for its status, 0 for the others."""
        for known in ("True", "False", "Unknown"):
            yield self.sample(name, status == known, **{label: known.lower()}, **labels)

    def choice(self, name: str, chosen: str, known: tuple[str, ...], label: str) -> Iterator[Sample]:
        """Yield one sample per known value, 1 for the chosen one; nothing if none is chosen."""
        if chosen:
            for value in known:
                yield self.sample(name, value == chosen, **{label: value})


def list_owners(obj: Object) -> list[dict[str, str]]:
    """List the owner labels of an object; one empty set if it has no owner."""
    references = obj["metadata"].get("ownerReferences") or []
    return [
        {"owner_kind": r["kind"], "owner_name": r["name"], "owner_is_controller": flag(r.get("controller"))}
        for r in references
    ] or [{}]


def flag(value: Any) -> str:
    """Return a truth value as a label value."""
    return "true" if value else "false"


def block(obj: Object, name: str) -> Object:
    """Return a section of an object (``spec``, ``status``); empty if absent."""
    return obj.get(name) or {}
