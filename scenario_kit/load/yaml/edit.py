"""Edit a YAML file in place, without touching comments, order or white space elsewhere.

A round-trip serializer would still change quotes, indentation and line breaks. Here only the text of the changed value
is replaced, at the position given by the parser. The result is verified: it is parsed again and compared with the same
edit of the plain values.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from scenario_kit.errors import AuthoringError
from scenario_kit.load.yaml.document import LOADER, parse
from scenario_kit.load.yaml.modeline import replace_schema
from scenario_kit.load.yaml.scalars import parse_scalar
from scenario_kit.load.yaml.yaml11 import explain_yaml11
from scenario_kit.model.json_document import Place

_PLAIN = re.compile(r"[A-Za-z/][-A-Za-z0-9_./]*(:[0-9][-A-Za-z0-9_.]*)?$")


class Put(NamedTuple):
    """Set the value at ``place``; add the field or entry if it does not exist."""

    place: Place
    value: Any


class Drop(NamedTuple):
    """Remove the field or the entry at ``place``."""

    place: Place


class Rename(NamedTuple):
    """Rename the field at ``place``."""

    place: Place
    name: str


class Schema(NamedTuple):
    """Set the path in the comment that names the schema for editors."""

    path: str


Edit = Put | Drop | Rename | Schema


class Unfit(Exception):
    """The edit cannot be made, or would change something else; the message gives the reason."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits one after the other.

    Raises:
        Unfit: one of them cannot be made without touching something else.
    """
    for edit in edits:
        desired = _apply_to_values(_load_values(text), edit)
        text = _apply_edit(text, edit)
        if _load_values(text) != desired:
            raise Unfit(f"the file would not contain the result of {edit}")
    return text


def apply_renames(text: str, renames: Sequence[Rename]) -> str:
    """Rename all fields at once, which is faster than one after the other; all or none.

    Raises:
        Unfit: one of them cannot be renamed without touching something else.
    """
    names = {edit.place: edit.name for edit in renames}
    desired = rename_fields(_load_values(text), names)
    spans: dict[int, tuple[int, str]] = {}
    for start, end, name in _locate_keys(yaml.compose(text, Loader=LOADER), names, ()):
        spans[start] = (end, name)
    result = text
    for start in sorted(spans, reverse=True):
        end, name = spans[start]
        quote = text[start] if text[start] in "\"'" and not text[end + 1 : end + 2].isspace() else ""
        result = f"{result[:start]}{quote}{_format_key(name)}{quote}{result[end:]}"
    if _load_values(result) != desired:
        raise Unfit("the file would not contain the renamed fields")
    return result


def _locate_keys(node: Any, names: Mapping[Place, str], place: Place) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and new name of the keys at these places."""
    if isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            yield from _locate_keys(item, names, (*place, i))
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            inner = (*place, key.value)
            if inner in names:
                yield key.start_mark.index, key.end_mark.index, names[inner]
            yield from _locate_keys(value, names, inner)


def rename_fields(data: Any, names: Mapping[Place, str], place: Place = ()) -> Any:
    """Copy ``data`` with renamed fields; existing fields are not overwritten."""
    if isinstance(data, list):
        return [rename_fields(item, names, (*place, i)) for i, item in enumerate(data)]
    if not isinstance(data, dict):
        return data
    result: dict[str, Any] = {}
    for key, value in data.items():
        inner = (*place, key)
        name = names.get(inner, key)
        if name == key or name not in data:
            result[name] = rename_fields(value, names, inner)
    return result


def _load_values(text: str) -> Any:
    try:
        return parse(text, "").data
    except AuthoringError as error:
        raise Unfit(error.message) from error


def _apply_to_values(data: Any, edit: Edit) -> Any:
    """Apply an edit to plain values."""
    if isinstance(edit, Schema):
        return data
    data = copy.deepcopy(data)
    around, last = data, edit.place[-1]
    try:
        for part in edit.place[:-1]:
            around = around[part]
        if isinstance(edit, Drop):
            del around[last]
        elif isinstance(edit, Rename):
            renamed = {(edit.name if key == last else key): value for key, value in around.items()}
            if len(renamed) != len(around):
                raise Unfit(f"`{edit.name}` already exists")
            around.clear()
            around.update(renamed)
        elif isinstance(around, list) and last == len(around):
            around.append(edit.value)
        else:
            around[last] = edit.value
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise Unfit(f"there is nothing at {edit.place}") from error
    return data


def _apply_edit(text: str, edit: Edit) -> str:
    if isinstance(edit, Schema):
        return replace_schema(text, edit.path)
    root = yaml.compose(text, Loader=LOADER)
    parents = [root]
    for part in edit.place[:-1]:
        parents.append(_find_child(parents[-1], part)[1])
    parent, last = parents[-1], edit.place[-1]
    if isinstance(edit, Put):
        try:
            key, node = _find_child(parent, last)
        except Unfit:
            return _append(text, parent, last, edit.value)
        return _replace(text, key, node, edit.value)
    key, node = _find_child(parent, last)
    if isinstance(edit, Rename):
        return text[: key.start_mark.index] + _format_flow(edit.name) + text[key.end_mark.index :]
    return _drop(text, parent, key, node)


def _find_child(parent: Any, part: str | int) -> tuple[Any, Any]:
    """Return key and value; for a list, the item twice."""
    if isinstance(parent, yaml.MappingNode):
        for key, value in parent.value:
            if key.value == part:
                return key, value
    elif isinstance(parent, yaml.SequenceNode) and isinstance(part, int) and part < len(parent.value):
        return parent.value[part], parent.value[part]
    raise Unfit(f"there is no {part}")


def _replace(text: str, key: Any, node: Any, value: Any) -> str:
    start, end = node.start_mark.index, _end(text, node)
    new = _format_flow(value)
    if start == end and key is not node:  # `name:` without a value
        start = end = key.end_mark.index + 1
        new = " " + new
    return text[:start] + new + text[end:]


def _end(text: str, node: Any) -> int:
    """Return the end of a node's text; end marks of blocks are after trailing white space and comments."""
    if not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    end = node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        while end > node.start_mark.index and text[end - 1] in " \n":
            end -= 1
        # The end mark of a block scalar may be after trailing comments.
        lines = text[node.start_mark.index : end].split("\n")
        indent = min((len(x) - len(x.lstrip()) for x in lines[1:] if x.strip()), default=0)
        while (
            len(lines) > 1 and lines[-1].lstrip().startswith("#") and len(lines[-1]) - len(lines[-1].lstrip()) < indent
        ):
            lines.pop()
        end = node.start_mark.index + len("\n".join(lines))
    return int(end)


def _append(text: str, parent: Any, last: str | int, value: Any) -> str:
    entry = (
        _format_flow(value)
        if isinstance(parent, yaml.SequenceNode)
        else f"{_format_key(str(last))}: {_format_flow(value)}"
    )
    if not isinstance(parent, yaml.MappingNode | yaml.SequenceNode):
        raise Unfit("only lists and mappings can be extended")
    if isinstance(parent, yaml.SequenceNode) and last != len(parent.value):
        raise Unfit("lists can only be extended at the end")
    if parent.flow_style:
        end = parent.end_mark.index - 1
        if not parent.value:
            return text[:end] + entry + text[end:]
        end = _find_last_end(text, parent)
        return text[:end] + ", " + entry + text[end:]
    if not parent.value:
        raise Unfit("an empty block cannot be extended")
    first = parent.value[0]
    column: int = (first[0] if isinstance(first, tuple) else first).start_mark.column
    if isinstance(parent, yaml.SequenceNode):
        start = text.rfind("-", 0, first.start_mark.index)
        column = start - (text.rfind("\n", 0, start) + 1)
        entry = f"- {entry}"
    else:
        entry = _format_lines(str(last), value, column)
    end = _find_last_end(text, parent)
    line = text.find("\n", end)  # after a comment on the same line
    end = len(text) if line < 0 else line
    return text[:end] + "\n" + " " * column + entry + text[end:]


def _find_last_end(text: str, parent: Any) -> int:
    last = parent.value[-1]
    return _end(text, last[1] if isinstance(last, tuple) else last)


def _drop(text: str, parent: Any, key: Any, node: Any) -> str:
    siblings = [(entry if isinstance(entry, tuple) else (entry, entry)) for entry in parent.value]
    index = next(i for i, pair in enumerate(siblings) if pair[1] is node and pair[0] is key)
    start: int = key.start_mark.index
    end = _end(text, node)
    if parent.flow_style:
        if index + 1 < len(siblings):
            return text[:start] + text[siblings[index + 1][0].start_mark.index :]
        if index:
            start = _end(text, siblings[index - 1][1])
        return text[:start] + text[end:]
    if isinstance(parent, yaml.SequenceNode):
        start = text.rfind("-", 0, start)
    if len(siblings) == 1:
        raise Unfit("the only entry of a block cannot be removed")
    begin = text.rfind("\n", 0, start) + 1
    if text[begin:start].strip():  # the first field of a list entry: `- name: x`
        return text[:start] + text[siblings[index + 1][0].start_mark.index :]
    line = text.find("\n", end)
    return text[:begin] + (text[line + 1 :] if line >= 0 else "")


def _format_key(name: str) -> str:
    """Format a field name, quoted only if needed."""
    return name if _PLAIN.match(name) and parse_scalar(name) == name else _format_flow(name)


def _format_lines(name: str, value: Any, column: int) -> str:
    """Format a field of a block; lists of objects, and what contains them, span several lines."""
    if not _is_long(value):
        return f"{_format_key(name)}: {_format_flow(value)}"
    if isinstance(value, dict):
        parts = [" " * (column + 2) + _format_lines(k, v, column + 2) for k, v in value.items()]
    else:
        parts = [f"{' ' * column}- {_format_flow(part)}" for part in value]
    return "\n".join([f"{_format_key(name)}:", *parts])


def _is_long(value: Any) -> bool:
    """Return whether a value is or contains a list of objects."""
    if isinstance(value, dict):
        return any(map(_is_long, value.values()))
    return isinstance(value, list | tuple) and any(isinstance(part, dict) for part in value)


def _format_flow(value: Any) -> str:
    """Format a value on one line, quoted only if needed."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_format_key(k)}: {_format_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_format_flow(v) for v in value) + "]"
    if (
        isinstance(value, str)
        and _PLAIN.match(value)
        and parse_scalar(value) == value
        and not explain_yaml11(value, value)
    ):
        return value
    return json.dumps(value, ensure_ascii=False)
