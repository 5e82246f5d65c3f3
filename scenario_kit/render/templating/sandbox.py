"""Jinja environment for untrusted templates, with restricted attributes and metered work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import BuiltinMethodType
from typing import Any, Final

from jinja2 import BaseLoader, StrictUndefined, TemplateError, nodes, pass_context
from jinja2.compiler import CodeGenerator
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from scenario_kit.render.templating.filters import add_values, build_filters, build_tests, concatenate, convert_to_text
from scenario_kit.render.templating.render_budget import spend, spend_size, weigh

#: Maximum length of a range.
MAX_RANGE: Final = 1_000
#: Exceptions that an invalid or hostile template may raise.
FAILURES: Final = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RuntimeError, SyntaxError,
    AssertionError, MemoryError,
    NameError,  # a constant that is infinite, which Jinja writes into its code as `inf`
)  # fmt: skip
#: Allowed attributes of built-in types; others create values of any size or escape the sandbox.
_OF_TEXT: Final = frozenset(
    {
        "capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "islower",
        "isspace", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex",
        "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper",
    }
)  # fmt: skip
_OF_MAPPINGS: Final = frozenset({"copy", "get", "items", "keys", "values"})
_OF_LISTS: Final = frozenset({"count", "index", "grouper", "list"})  # the last two: entries of `groupby`
#: Costs of calling one of our functions, of calling a built-in, and of compiling a node.
_CALL, _BUILTIN, _COMPILE = 50, 10, 5
#: Maximum magnitude of operands.
_LARGEST: Final = 10**12
#: Internal filters, with names that templates cannot spell.
_ITERATION, _JOINED, _MADE, _COMPARED = "(turn)", "(joined)", "(made)", "(compared)"


class Sandbox(ImmutableSandboxedEnvironment):
    """A strict environment that charges every operation that can loop or grow a value (see ``render_budget``)."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Evaluate operators on bounded numbers, and ``+`` on bounded strings and lists; reject the rest."""
        if operator == "+" and not (_is_number(left) and _is_number(right)):
            return add_values(left, right)
        if operator == "**" or not all(_is_number(v) and abs(v) <= _LARGEST**2 for v in (left, right)):
            raise ValueError(f"'{operator}' requires numbers of ordinary size")
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Charge for a call and run it; built-ins are also charged for the sizes of arguments and results."""
        owner = getattr(__obj, "__self__", None) if isinstance(__obj, BuiltinMethodType) else None
        if owner is None and __obj is not dict:
            spend(_CALL)
            return super().call(__context, __obj, *args, **kwargs)
        spend(_BUILTIN)
        for value in (owner, *args):
            weigh(value) if isinstance(owner, list | tuple) else spend_size(value)
        result = super().call(__context, __obj, *args, **kwargs)
        return weigh(result) if __obj is dict or isinstance(owner, str) else result

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether an attribute is allowed: listed for built-in types, public for others."""
        if isinstance(obj, str):
            return attr in _OF_TEXT
        if isinstance(obj, Mapping):
            return attr in _OF_MAPPINGS
        if isinstance(obj, list | tuple | set | frozenset):
            return attr in _OF_LISTS
        if isinstance(obj, int | float | complex | bytes | range | type):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Reject ``format``, which can produce strings of any width."""
        wrapped = super().wrap_str_format(value)
        return None if wrapped is None else _refuse_format

    def concat(self, pieces: Iterable[str]) -> str:
        """Join pieces of output as one text."""
        return concatenate(pieces)


def create_sandbox(loader: BaseLoader | None = None) -> Sandbox:
    """Create an environment; with a loader, templates may include each other."""
    environment = Sandbox(
        loader=loader, undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, finalize=_show
    )
    environment.code_generator_class = _Metering
    environment.globals = {"range": _limit_range, "dict": dict}
    environment.filters = {
        **build_filters(),
        _ITERATION: _charge_iteration,
        _JOINED: _join,
        _MADE: _convert,
        _COMPARED: _compare_charged,
    }
    environment.tests = build_tests()
    return environment


class _Metering(CodeGenerator):
    """Generates template code that charges for loops, values and comparisons."""

    def visit_Template(self, node: nodes.Template, frame: Any = None) -> None:  # noqa: N802
        spend(_COMPILE * _count(node))
        super().visit_Template(_ChargeInserter().visit(node), frame)


class _ChargeInserter(NodeTransformer):
    """Inserts charges into loops, literals and comparisons, as filters that templates cannot name."""

    def generic_visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        size = _count(node) if isinstance(node, _REPEATED) else 0
        node = super().generic_visit(node, *args, **kwargs)
        if isinstance(node, _REPEATED):
            node.body = [nodes.ExprStmt(_build_iteration_charge(node, size), lineno=node.lineno), *node.body]
        if isinstance(node, nodes.For) and node.test is not None:
            node.test = nodes.And(_build_iteration_charge(node, size), node.test, lineno=node.lineno)
        if isinstance(node, nodes.Concat):
            return _filter(nodes.List(node.nodes, lineno=node.lineno), _JOINED)
        if isinstance(node, nodes.List | nodes.Tuple | nodes.Dict) and getattr(node, "ctx", "load") == "load":
            return _filter(node, _MADE)
        if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
            return _filter(node, _MADE)
        if isinstance(node, nodes.Compare):
            node.expr = _filter(node.expr, _COMPARED)
        if isinstance(node, nodes.Operand):
            node.expr = _filter(node.expr, _COMPARED)
        return node


_REPEATED: Final = (nodes.Template, nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)


def _filter(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _build_iteration_charge(node: nodes.Node, size: int) -> nodes.Filter:
    return _filter(nodes.Const(size, lineno=node.lineno), _ITERATION)


def _count(node: nodes.Node) -> int:
    return 1 + sum(_count(child) for child in node.iter_child_nodes())


@pass_context  # prevents constant folding, which would charge only at compile time
def _charge_iteration(_: Any, size: int) -> bool:
    spend(size)
    return True


@pass_context
def _join(_: Any, values: list[Any]) -> str:
    return concatenate([convert_to_text(value) for value in values])


@pass_context
def _convert(_: Any, value: Any) -> Any:
    return weigh(value)


@pass_context
def _compare_charged(_: Any, value: Any) -> Any:
    return weigh(value)


def _show(value: Any) -> Any:
    return convert_to_text(value) if isinstance(value, dict | list | tuple | set | frozenset) else _charge(value)


def _charge(value: Any) -> Any:
    spend_size(value)
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _refuse_format(*_: Any, **__: Any) -> str:
    raise SecurityError("`format` is not available here: write `~` between the parts")


def _limit_range(*args: int) -> range:
    result = range(*args)
    if len(result) > MAX_RANGE:
        raise ValueError(f"a range has {len(result)} items; the maximum is {MAX_RANGE}")
    return result
