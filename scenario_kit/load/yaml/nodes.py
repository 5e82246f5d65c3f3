"""Compose YAML nodes within limits that apply while reading.

PyYAML composes recursively, which crashes on some ten thousand levels, and expands aliases without limits. Here nodes
are composed from events without recursion. A text that nests too deep, or is too large with its aliases expanded, is
rejected at the event that exceeds a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import yaml

_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG: Final = "tag:yaml.org,2002:"
#: The tag of an unresolved plain scalar (YAML 1.2, 3.3.2).
UNDECIDED: Final = "?"


class TextLimits(NamedTuple):
    """Limits of a text with aliases expanded: levels, values, and characters of all scalars."""

    depth: int
    values: int
    characters: int


class Unbounded(yaml.MarkedYAMLError):
    """The text exceeds a limit; ``problem`` says which."""

    def __init__(self, problem: str, mark: Any, fix: str) -> None:
        super().__init__(None, None, problem, mark)
        self.fix = fix


class _Extent(NamedTuple):
    """The size of an alias's node: levels, values and characters."""

    node: yaml.Node
    levels: int
    values: int
    characters: int


class _Open:
    """A collection that is being composed."""

    def __init__(self, node: yaml.Node, anchor: str | None, values: int, characters: int) -> None:
        self.node, self.anchor = node, anchor
        self.values, self.characters = values, characters  # counted before it
        self.levels = 1
        self.key: yaml.Node | None = None

    def take(self, node: yaml.Node, levels: int) -> None:
        self.levels = max(self.levels, levels + 1)
        if isinstance(self.node, yaml.SequenceNode):
            self.node.value.append(node)
        elif self.key is None:
            self.key = node
        else:
            self.node.value.append((self.key, node))
            self.key = None


class Composer:
    """Composes the documents of a text.

    Args:
        loader: a PyYAML loader of the text; only its events are used.
        bounds: limits of all documents together.
        tag: returns the tag of an untagged scalar, from its text and whether it is plain.
    """

    def __init__(self, loader: Any, bounds: TextLimits, tag: Callable[[str, bool], str]) -> None:
        self._loader, self._bounds, self._tag = loader, bounds, tag
        self._values = self._characters = 0
        self._anchors: dict[str, _Extent | None] = {}
        self._stack: list[_Open] = []

    def documents(self) -> Iterator[yaml.Node]:
        """Yield the root nodes.

        Raises:
            yaml.YAMLError: not YAML; ``Unbounded`` if it exceeds a limit.
        """
        while True:
            event = self._loader.get_event()
            if event is None or isinstance(event, yaml.StreamEndEvent):
                return
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
            elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                root = self._root(event)
                if root is not None:
                    yield root

    def _root(self, event: Any) -> yaml.Node | None:
        """Return the root node if the event completes the document."""
        if isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
            return None
        if isinstance(event, yaml.ScalarEvent):
            node, levels = self._scalar(event), 0
        elif isinstance(event, yaml.AliasEvent):
            node, levels = self._alias(event)
        else:
            node, levels = self._close(event)
        if not self._stack:
            return node
        self._stack[-1].take(node, levels)
        return None

    def _open(self, event: Any) -> None:
        self._anchor(event, None)
        sequence = isinstance(event, yaml.SequenceStartEvent)
        kind = yaml.SequenceNode if sequence else yaml.MappingNode
        tag = event.tag if event.tag not in (None, "!") else TAG + ("seq" if sequence else "map")
        node = kind(tag, [], event.start_mark, None, flow_style=event.flow_style)
        self._stack.append(_Open(node, event.anchor, self._values, self._characters))
        self._add(event, 1, 0, 0)

    def _close(self, event: Any) -> tuple[yaml.Node, int]:
        done = self._stack.pop()
        done.node.end_mark = event.end_mark
        if done.anchor is not None:
            self._anchors[done.anchor] = _Extent(
                done.node, done.levels, self._values - done.values, self._characters - done.characters
            )
        return done.node, done.levels

    def _scalar(self, event: Any) -> yaml.Node:
        plain, text = event.implicit[0], event.value
        tag = event.tag if event.tag not in (None, "!") else self._tag(text, plain)
        node = yaml.ScalarNode(tag, text, event.start_mark, event.end_mark, style=event.style or None)
        if event.anchor is not None:
            self._anchor(event, _Extent(node, 0, 1, len(text)))
        self._add(event, 1, len(text), 0)
        return node

    def _alias(self, event: Any) -> tuple[yaml.Node, int]:
        name = event.anchor
        if name not in self._anchors:
            raise yaml.composer.ComposerError(None, None, f"found undefined alias '{name}'", event.start_mark)
        extent = self._anchors[name]
        if extent is None:
            raise Unbounded(f"the alias '*{name}' is part of what it repeats", event.start_mark, "remove it")
        self._add(event, extent.values, extent.characters, extent.levels)
        return extent.node, extent.levels

    def _anchor(self, event: Any, extent: _Extent | None) -> None:
        """Record an anchor, without an extent until its node is complete."""
        if event.anchor is None:
            return
        if event.anchor in self._anchors:
            raise yaml.composer.ComposerError(None, None, f"found duplicate anchor '{event.anchor}'", event.start_mark)
        self._anchors[event.anchor] = extent

    def _add(self, event: Any, values: int, characters: int, levels: int) -> None:
        most, alias = self._bounds, isinstance(event, yaml.AliasEvent)
        if len(self._stack) + levels > most.depth:
            raise Unbounded(f"the file nests deeper than {most.depth} levels", event.start_mark, "flatten it")
        self._values += values
        self._characters += characters
        verb = "aliases expand the file to" if alias else "the file contains"
        fix = "write the values out" if alias else "split it"
        if self._values > most.values:
            raise Unbounded(f"{verb} more than {most.values} values", event.start_mark, fix)
        if self._characters > most.characters:
            raise Unbounded(f"{verb} more than {most.characters} characters", event.start_mark, fix)


def mark_undecided(text: str, plain: bool) -> str:  # noqa: ARG001 - scalars are resolved by the reader of the nodes
    """Return tags for ``Composer`` that only distinguish plain from quoted scalars."""
    return UNDECIDED if plain else TAG + "str"


class BoundedLoader(_SAFE):  # type: ignore[misc]
    """PyYAML's safe loader within limits. Merge keys are rejected: a few short ones expand to many fields."""

    bounds = TextLimits(depth=60, values=200_000, characters=4_000_000)

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        composer = Composer(self, self.bounds, lambda text, plain: self.resolve(yaml.ScalarNode, text, (plain, False)))
        self._roots = composer.documents()
        self._ahead: list[yaml.Node] = []

    def check_node(self) -> bool:
        """Return whether there is another document."""
        self._ahead = self._ahead or [node for node in (next(self._roots, None),) if node is not None]
        return bool(self._ahead)

    def get_node(self) -> yaml.Node | None:
        """Return the root of the next document."""
        return self._ahead.pop() if self.check_node() else None

    def get_single_node(self) -> yaml.Node | None:
        """Return the root of the only document."""
        node = self.get_node()
        if self.check_node():
            second = self._ahead[0].start_mark
            raise yaml.composer.ComposerError(None, None, "expected a single document, but found another", second)
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Reject merge keys."""
        for key, _ in node.value:
            if key.tag == TAG + "merge":
                raise yaml.constructor.ConstructorError(None, None, "merge keys are not allowed", key.start_mark)
