"""Render documents with Jinja2 expressions in a sandbox.

A string that is exactly one ``{{ expression }}`` becomes the expression's value, of any type; in other strings the
results are interpolated. Undefined names are errors. Templates cannot read files or the environment, import, define
macros, or use unbounded resources: contributed faults are rendered on maintainers' machines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from math import isfinite
from typing import Any, Final, NamedTuple

from jinja2 import Template, Undefined, nodes
from jinja2.environment import TemplateExpression

from scenario_kit.errors import AuthoringError
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.render_budget import MAX_OUTPUT, check_room, meter_rendering
from scenario_kit.render.templating.sandbox import FAILURES, MAX_RANGE, Sandbox, create_sandbox
from scenario_kit.render.templating.target import TextValue

__all__ = ["MAX_OUTPUT", "MAX_RANGE", "MAX_SOURCE", "Sandbox", "Variables", "copy_plain", "render", "create_sandbox"]

#: Maximum length of a template.
MAX_SOURCE: Final = 100_000
#: Maximum depth of nested loops.
_MAX_LOOPS: Final = 2
_FORBIDDEN: Final = (nodes.Macro, nodes.CallBlock, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_ONE: Final = re.compile(r"\s*\{\{.*?\}\}\s*", re.DOTALL)

Variables = Mapping[str, Any]


def render(document: Any, variables: Variables, where: str = "") -> Any:
    """Render all expressions of a document into plain JSON types.

    Args:
        document: JSON types; strings, keys included, may contain expressions.
        variables: the variables of the expressions.
        where: name of the document in messages, for example ``changes``.

    Raises:
        AuthoringError: an expression is invalid, uses an undefined name, or fails; the message names its location.
    """
    left = [MAX_OUTPUT]
    with meter_rendering():
        return _walk(document, variables, where, left)


def _walk(value: Any, variables: Variables, where: str, left: list[int]) -> Any:
    if isinstance(value, str):
        result = copy_plain(_render_text(value, variables, where)) if "{" in value else value
        left[0] -= len(value) if result is value else len(str(result))
        if left[0] < 0:
            raise build_error("SK123", f"{where}: the rendered document exceeds {MAX_OUTPUT} characters")
        return result
    if isinstance(value, Mapping):
        return {
            str(_walk(k, variables, where, left)): _walk(v, variables, f"{where}.{k}".lstrip("."), left)
            for k, v in value.items()
        }
    if isinstance(value, list | tuple):
        return [_walk(v, variables, f"{where}[{i}]", left) for i, v in enumerate(value)]
    return value


def _render_text(text: str, variables: Variables, where: str) -> Any:
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return text
    try:
        compiled = _compile(text)
        result = compiled.evaluate({name: variables[name] for name in compiled.names if name in variables})
        if isinstance(result, Undefined):
            result._fail_with_undefined_error()
        return result
    except AuthoringError:
        raise
    except FAILURES as error:
        raise build_error(
            "SK123",
            f"{where}: cannot render the template: {error}",
            observed=text.strip()[:200],
            expected=f"an expression over {', '.join(sorted(variables))}",
        ) from error


def explain_invalid_template(text: str) -> str:
    """Describe why a template is invalid for any variables; empty if it compiles."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return ""
    try:
        with meter_rendering():
            _compile(text)
    except FAILURES as error:
        return str(error) or type(error).__name__
    return ""


def list_names(text: str) -> frozenset[str]:
    """List the names that a template uses; empty if it does not compile."""
    if "{{" not in text and "{%" not in text:
        return frozenset()
    try:
        with meter_rendering():
            return _compile(text).names
    except FAILURES:
        return frozenset()


class _Compiled(NamedTuple):
    """A compiled template and the names that it uses; only these are evaluated for it."""

    evaluate: Callable[[Variables], Any]
    names: frozenset[str]


@lru_cache(maxsize=4096)
def _compile(text: str) -> _Compiled:
    check_room(len(text), MAX_SOURCE)
    environment = _build_sandbox()
    tree = environment.parse(text)
    names = frozenset(node.name for node in tree.find_all(nodes.Name))
    if any(tree.find_all(_FORBIDDEN)):
        raise ValueError("include, import, extends and macro are not available here")
    if _measure_depth(tree) > _MAX_LOOPS:
        raise ValueError(f"loops are nested more than {_MAX_LOOPS} deep")
    if _ONE.fullmatch(text) and len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output):
        inside = [n for n in tree.body[0].nodes if not _is_blank(n)]
        if len(inside) == 1 and not isinstance(inside[0], nodes.TemplateData):
            # As Environment.compile_expression does, but without parsing again.
            assignment = nodes.Assign(nodes.Name("result", "store"), inside[0], lineno=1)
            evaluated = environment.from_string(nodes.Template([assignment], lineno=1))
            expression = TemplateExpression(evaluated, undefined_to_none=False)
            return _Compiled(lambda variables: expression(**variables), names)
    template: Template = environment.from_string(tree)
    return _Compiled(lambda variables: _render_bounded(template, variables), names)


def _render_bounded(template: Template, variables: Variables) -> str:
    pieces, size = [], 0
    for piece in template.generate(**variables):
        size += len(piece)
        if size > MAX_OUTPUT:
            raise ValueError(f"the text exceeds {MAX_OUTPUT} characters")
        pieces.append(piece)
    return "".join(pieces)


@cache
def _build_sandbox() -> Sandbox:
    return create_sandbox()


def _is_blank(node: nodes.Node) -> bool:
    return isinstance(node, nodes.TemplateData) and not node.data.strip()


def _measure_depth(node: nodes.Node) -> int:
    return isinstance(node, nodes.For) + max((_measure_depth(child) for child in node.iter_child_nodes()), default=0)


def _check_encodable(value: Any) -> str:
    """Convert to text and reject unpaired surrogates, which cannot be encoded as UTF-8."""
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        raise build_error(
            "SK123", f"an expression yields an unpaired surrogate, {half}", fix="write the complete character"
        ) from error
    return text


def copy_plain(value: Any) -> Any:
    """Deep-copy a value into plain JSON types, so that results share nothing with variables.

    Raises:
        AuthoringError: a type has no JSON form.
    """
    if isinstance(value, float) and not isfinite(value):
        raise build_error("SK123", f"an expression yields {value}, which has no JSON form", fix="yield a finite number")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _check_encodable(value)
    if isinstance(value, Mapping):
        return {_check_encodable(k): copy_plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [copy_plain(v) for v in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "__iter__") and hasattr(value, "__next__"):
        return [copy_plain(v) for v in value]  # results of filters like `map` and `select`
    if isinstance(value, TextValue):
        return str(value)
    raise build_error("SK123", f"an expression yields a {type(value).__name__}, which has no YAML form")
