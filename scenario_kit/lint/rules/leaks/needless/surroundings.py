"""The context of an object: selectors, names and texts of the app, and everything that the faults created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.lint.rules.leaks.needless.words import NEUTRAL
from scenario_kit.lint.simulation.stages import list_containers, walk_leaves
from scenario_kit.model import App, Object
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import Place, get_part, list_mappings, list_texts
from scenario_kit.render.faults.template_context import GENERATED_SUFFIX

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DRAWN: Final = re.compile(rf"-{GENERATED_SUFFIX}(?![a-z0-9])")
#: Fields that contain label selectors.
_SELECTING: Final = frozenset(
    {"matchLabels", "selector", "nodeSelector", "labelSelectors", "podSelector", "labelSelector"}
)
#: Paths of the metadata of an object and of its templates.
METADATA: Final[tuple[Place, ...]] = (
    ("metadata",),
    ("spec", "template", "metadata"),
    ("spec", "jobTemplate", "metadata"),
    ("spec", "jobTemplate", "spec", "template", "metadata"),
)


class Needless(NamedTuple):
    """A field that no symptom needs, its value, and the reason."""

    keys: Place
    value: Any
    reason: str


class AppVocabulary:
    """Names, labels and texts of an app and its objects before any fault."""

    def __init__(self, app: App, objects: Sequence[Object]) -> None:
        self._app = app
        self._objects = objects

    @cached_property
    def selected(self) -> frozenset[tuple[str, str]]:
        """The label requirements of selectors."""
        return frozenset(each for obj in self._objects for each in _list_selected(obj))

    @cached_property
    def selected_keys(self) -> frozenset[str]:
        """Label keys in selectors."""
        return frozenset(key for key, _ in self.selected)

    @cached_property
    def words(self) -> frozenset[str]:
        """Words in the app's names, labels, keys and variables."""
        app = self._app
        found = {word for obj in self._objects for name in _names(obj) for word in split_words(name)}
        found |= {word for c in app.components for name in (c.name, c.workload) for word in split_words(name)}
        return frozenset(found | set(split_words(app.name)) | set(split_words(app.namespace)))

    @cached_property
    def labels(self) -> frozenset[tuple[str, str]]:
        """The labels of the app's own objects and pods."""
        return self._marks("labels")

    @cached_property
    def annotations(self) -> frozenset[tuple[str, str]]:
        """The annotations of the app's own objects and pods."""
        return self._marks("annotations")

    def _marks(self, field: str) -> frozenset[tuple[str, str]]:
        found = ((get_part(obj, keys) or {}).get(field) or {} for obj in self._objects for keys in METADATA)
        return frozenset((str(key), str(value)) for marks in found for key, value in marks.items())

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of variables that the app sets."""
        found = (
            v.get("name", "")
            for obj in self._objects
            for _, c in list_containers(obj)
            for _, v in list_mappings(c.get("env"))
        )
        return frozenset(map(str, found))

    @cached_property
    def definition(self) -> str:
        """The definition of the app as text."""
        return msgspec.json.encode(self._app.to_json()).decode()

    @cached_property
    def texts(self) -> frozenset[str]:
        """All texts of the objects."""
        return frozenset(text for obj in self._objects for text in list_texts(obj))


@cache_by_identity(maxsize=16)
def _collect_vocabulary(app: App, objects: tuple[Object, ...]) -> AppVocabulary:
    return AppVocabulary(app, objects)


class ObjectSurroundings:
    """The app's vocabulary before any fault, and all objects while it is active."""

    def __init__(self, app: App, before: Sequence[Object], now: Sequence[Object]) -> None:
        self.before = tuple(before)
        self.now = tuple(now)
        self.known: AppVocabulary = _collect_vocabulary(app, self.before)

    @cached_property
    def selected(self) -> Mapping[str, frozenset[str]]:
        """Label keys in selectors, with their values; ``*`` stands for any value."""
        untouched = {id(obj) for obj in self.before}
        written = (each for obj in self.now if id(obj) not in untouched for each in _list_selected(obj))
        found: dict[str, set[str]] = {}
        for key, value in (*self.known.selected, *written):
            found.setdefault(key, set()).add(value)
        return {key: frozenset(values) for key, values in found.items()}

    def list_new_texts(self, obj: Object, was: Object | None) -> list[tuple[Place, str]]:
        """List the texts of an object, with their places, that neither it nor the app contained before."""
        texts = self.known.texts
        new = [(k, text) for k, text in walk_leaves(obj) if isinstance(text, str) and text not in texts]
        before = {text for _, text in walk_leaves(was)} if new and was is not None else set()
        return [(keys, text) for keys, text in new if text not in before]

    def strange(self, name: str) -> list[str]:
        """Return the words of a name that are neither neutral nor used by the app."""
        plain = _DRAWN.sub("", name)
        return [w for w in split_words(plain) if not w.isdigit() and w not in NEUTRAL and w not in self.known.words]

    def neutral(self, name: str) -> bool:
        """Return whether a name reveals nothing."""
        return not self.strange(name)

    def reads(self, name: str) -> bool:
        """Return whether the app sets a variable or key of this name, or its definition contains it."""
        return name in self.known.variables or mentions(self.known.definition, name)

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


def _is_marked(keys: Place) -> bool:
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
