"""The context of an object: selectors, names and texts of the app and of everything that the faults created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.lint.rules.leaks.needless.words import NEUTRAL
from scenario_kit.lint.simulation.stages import Keys, get_part, list_containers, walk_leaves
from scenario_kit.model import App, Object
from scenario_kit.model.json_document import list_mappings, list_texts
from scenario_kit.render.faults.template_context import GENERATED_SUFFIX

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DRAWN: Final = re.compile(rf"-{GENERATED_SUFFIX}(?![a-z0-9])")
#: Fields that contain label selectors.
_SELECTING: Final = frozenset(
    {"matchLabels", "selector", "nodeSelector", "labelSelectors", "podSelector", "labelSelector"}
)
#: Paths of the metadata of an object and of its templates.
METADATA: Final[tuple[Keys, ...]] = (
    ("metadata",),
    ("spec", "template", "metadata"),
    ("spec", "jobTemplate", "metadata"),
    ("spec", "jobTemplate", "spec", "template", "metadata"),
)


class Needless(NamedTuple):
    """A field that no symptom needs, its value, and the reason."""

    keys: Keys
    value: Any
    reason: str


class ObjectSurroundings:
    """The app's objects before any fault, and all objects while it is active."""

    def __init__(self, app: App, before: Sequence[Object], now: Sequence[Object]) -> None:
        self.app = app
        self.before = tuple(before)
        self.now = tuple(now)

    @cached_property
    def selected(self) -> Mapping[str, frozenset[str]]:
        """Label keys in selectors, with their values; ``*`` stands for any value."""
        found: dict[str, set[str]] = {}
        for obj in (*self.before, *self.now):
            for key, value in _list_selected(obj):
                found.setdefault(key, set()).add(value)
        return {key: frozenset(values) for key, values in found.items()}

    @cached_property
    def selected_before(self) -> frozenset[str]:
        """Label keys in selectors of the app."""
        return frozenset(key for obj in self.before for key, _ in _list_selected(obj))

    @cached_property
    def known_words(self) -> frozenset[str]:
        """Words in the app's names, labels, keys and variables."""
        found = {word for obj in self.before for name in _names(obj) for word in split_words(name)}
        found |= {word for c in self.app.components for name in (c.name, c.workload) for word in split_words(name)}
        return frozenset(found | set(split_words(self.app.name)) | set(split_words(self.app.namespace)))

    @cached_property
    def labels(self) -> frozenset[tuple[str, str]]:
        """The labels of the app's own objects and pods."""
        return self._marks("labels")

    @cached_property
    def annotations(self) -> frozenset[tuple[str, str]]:
        """The annotations of the app's own objects and pods."""
        return self._marks("annotations")

    def _marks(self, field: str) -> frozenset[tuple[str, str]]:
        found = ((get_part(obj, keys) or {}).get(field) or {} for obj in self.before for keys in METADATA)
        return frozenset((str(key), str(value)) for marks in found for key, value in marks.items())

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of variables that the app sets."""
        found = (
            v.get("name", "")
            for obj in self.before
            for _, c in list_containers(obj)
            for _, v in list_mappings(c.get("env"))
        )
        return frozenset(map(str, found))

    @cached_property
    def definition(self) -> str:
        """The definition of the app as text."""
        return msgspec.json.encode(self.app.to_json()).decode()

    @cached_property
    def original_texts(self) -> frozenset[str]:
        """All texts of the app before any fault."""
        return frozenset(text for obj in self.before for text in list_texts(obj))

    def strange(self, name: str) -> list[str]:
        """Return the words of a name that are neither neutral nor used by the app."""
        plain = _DRAWN.sub("", name)
        return [w for w in split_words(plain) if not w.isdigit() and w not in NEUTRAL and w not in self.known_words]

    def neutral(self, name: str) -> bool:
        """Return whether a name reveals nothing."""
        return not self.strange(name)

    def reads(self, name: str) -> bool:
        """Return whether the app sets a variable or key of this name, or its definition contains it."""
        return name in self.variables or mentions(self.definition, name)

    def is_mentioned(self, obj: Object) -> bool:
        """Return whether another object names this one outside of labels and annotations."""
        name = str(obj["metadata"]["name"])
        own = (obj["kind"], name, obj["metadata"].get("namespace"))
        return any(
            mentions(value, name)
            for other in self.now
            if (other["kind"], other["metadata"]["name"], other["metadata"].get("namespace")) != own
            for keys, value in walk_leaves(other)
            if isinstance(value, str) and name in value and not _is_marked(keys) and keys != ("metadata", "name")
        )


def split_words(name: str) -> list[str]:
    """Split a name into words in lower case; generated suffixes are dropped."""
    return [word.lower() for word in _WORD.findall(name)]


def mentions(text: str, name: str) -> bool:
    """Return whether a text contains a name as a whole word."""
    return name in text and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _is_marked(keys: Keys) -> bool:
    return any(one == "metadata" and other in ("labels", "annotations") for one, other in pairwise(keys))


def _names(obj: Object) -> Iterator[str]:
    yield str(obj["metadata"]["name"])
    yield from map(str, obj.get("data") or ())
    for keys in METADATA:
        for key, value in ((get_part(obj, keys) or {}).get("labels") or {}).items():
            yield from (str(key), str(value))
    for _, container in list_containers(obj):
        yield str(container.get("name", ""))
        yield from (str(v.get("name", "")) for _, v in list_mappings(container.get("env")))
        yield from (str(p.get("name", "")) for _, p in list_mappings(container.get("ports")))
        yield from (str(m.get("name", "")) for _, m in list_mappings(container.get("volumeMounts")))


def _list_selected(value: Any, selecting: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the label requirements of all selectors in a value."""
    if isinstance(value, Mapping):
        if "key" in value and "operator" in value:
            values = [str(v) for v in value.get("values") or ("*",)]
            yield from ((str(value["key"]), v) for v in values)
        for key, item in value.items():
            if key in _SELECTING:
                yield from _list_selected(item, True)
            elif selecting and isinstance(item, str):
                yield str(key), item
            else:
                yield from _list_selected(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _list_selected(item)
