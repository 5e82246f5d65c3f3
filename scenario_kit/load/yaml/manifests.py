"""Parse the YAML of Kubernetes manifests as kubectl does: YAML 1.1, several documents, and Lists of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml

from scenario_kit.load.yaml.nodes import BoundedLoader, Composer, mark_undecided
from scenario_kit.load.yaml.scalars import convert_scalar
from scenario_kit.load.yaml.yaml11 import parse_yaml11


def parse_manifests(text: str) -> list[Any]:
    """Parse all documents of a text; empty ones do not count, and the items of a List are documents of their own.

    Raises:
        yaml.YAMLError: not YAML, not JSON in YAML's form, a field written twice, or beyond the limits.
    """
    composer = Composer(BoundedLoader(text), BoundedLoader.bounds, mark_undecided)
    return [item for node in composer.documents() for item in _list_items(_convert(node))]


def _list_items(document: Any) -> Iterator[Any]:
    """Yield the objects of a document: of a List, as `kubectl get -o yaml` prints it, its items."""
    if document is None:
        return
    items = document.get("items") if isinstance(document, dict) else None
    if isinstance(items, list) and str(document.get("kind", "")).endswith("List"):
        for item in items:
            yield from _list_items(item)
    else:
        yield document


def _convert(node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _convert_mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_convert(part) for part in node.value]
    assert isinstance(node, yaml.ScalarNode)  # the only other node type
    return convert_scalar(node, parse_yaml11, _refuse)


def _convert_mapping(node: yaml.MappingNode) -> dict[str, Any]:
    result: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            _refuse(key, "a field name must be text")
        if key.value == "<<" and not key.style:
            _refuse(key, "merge keys are not allowed: write the fields out")
        name = _spell(convert_scalar(key, parse_yaml11, _refuse))
        if name in result:
            _refuse(key, f"`{name}` is written twice; first in line {lines[name]}")
        lines[name], result[name] = key.start_mark.line + 1, _convert(value)
    return result


def _spell(value: Any) -> str:
    """Return a field name as JSON spells it."""
    return value if isinstance(value, str) else json.dumps(value)


def _refuse(node: yaml.Node, problem: str, _: str = "") -> NoReturn:
    raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
