"""Read benchmark problems that are Python classes from the syntax tree, without executing them.

Assignments of the constructor and calls of ``inject_fault`` are evaluated if they use literals, arguments of the
constructor and known attributes. Other expressions are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.importers.decisions import ImportDecision, Treatment
from scenario_kit.importers.inputs import InputFile
from scenario_kit.importers.ledger import ImportLedger, format_value
from scenario_kit.load.yaml.document import build_syntax_error
from scenario_kit.model import Position
from scenario_kit.model.shortening import shorten_text

#: Maximum number of syntax nodes in a file.
_MAX_NODES: Final = 200_000
#: A value that is only known at run time.
COMPUTED: Final = object()


@dataclass(slots=True)
class SourceStatement:
    """A statement, or a part of one, that needs a decision."""

    ledger: ImportLedger
    path: str
    node: ast.AST
    place: str

    @property
    def position(self) -> Position:
        """Its position in the file."""
        return Position(
            path=self.path, line=getattr(self.node, "lineno", 1), column=getattr(self.node, "col_offset", 0) + 1
        )

    def record(self, treatment: Treatment, result: str = "", reason: str = "", fix: str = "") -> None:
        """Record a decision about it."""
        self.ledger.record(
            ImportDecision(
                treatment=treatment, position=self.position, place=self.place, value=self._quote(), result=result,
                reason=reason, fix=fix,
            )
        )  # fmt: skip

    def refuse(self, reason: str, fix: str = "if it matters, write it into the draft by hand") -> None:
        """Record that it is in no draft."""
        self.record("Refused", "", reason, fix)

    def _quote(self) -> str:
        return "" if isinstance(self.node, ast.ClassDef | ast.FunctionDef) else format_value(ast.unparse(self.node))


@dataclass(slots=True)
class ProblemClass:
    """A class definition: the names of its bases, and its methods."""

    path: str
    node: ast.ClassDef
    bases: tuple[str, ...]
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name


@dataclass(slots=True)
class Instance:
    """A problem that a registry instantiates: its ID, its class, and its literal arguments."""

    id: str
    class_name: str
    arguments: dict[str, Any]
    node: ast.AST
    path: str


def parse_module(file: InputFile) -> ast.Module:
    """Parse a file.

    Raises:
        AuthoringError: it is not Python, or nested too deeply; with the position.
    """
    if file.error is not None:
        raise file.error
    try:
        module = ast.parse(file.text)
    except SyntaxError as error:
        line, column = max((error.lineno or 1) - 1, 0), max((error.offset or 1) - 1, 0)
        raise _refuse(file, (line, column), f"the file is not Python: {shorten_text(error.msg)}") from error
    except (RecursionError, MemoryError, ValueError) as error:
        raise _refuse(
            file, (0, 0), f"the file cannot be read as Python: {shorten_text(str(error)) or 'it is nested too deeply'}"
        ) from error
    if sum(1 for _ in ast.walk(module)) > _MAX_NODES:
        raise _refuse(file, (0, 0), f"the file holds more than {_MAX_NODES} expressions")
    return module


def list_classes(path: str, module: ast.Module) -> Iterator[ProblemClass]:
    """List the classes of a module."""
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            bases = tuple(name for base in node.bases if (name := format_name(base)))
            methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
            yield ProblemClass(path, node, bases, methods)


def list_instances(path: str, module: ast.Module) -> Iterator[Instance]:
    """List the instances of registries: entries of dictionaries that map strings to classes or ``lambda: Class(…)``.

    A registry is a class with ``Registry`` in its name, or a dictionary whose name contains ``problem``.
    """
    for node in _list_registries(module):
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                continue
            made = value.body if isinstance(value, ast.Lambda) else value
            if isinstance(made, ast.Call) and (name := format_name(made.func)).rpartition(".")[2][:1].isupper():
                arguments = {each.arg: evaluate(each.value, {}) for each in made.keywords if each.arg}
                arguments |= {f"#{i}": evaluate(each, {}) for i, each in enumerate(made.args)}
                yield Instance(key.value, name.rpartition(".")[2], arguments, value, path)
            elif isinstance(made, ast.Name) and made.id[:1].isupper():
                yield Instance(key.value, made.id, {}, value, path)


def _list_registries(module: ast.Module) -> Iterator[ast.Dict]:
    """List the dictionaries that are registries of problems."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef) and "Registry" in node.name:
            yield from (each for each in ast.walk(node) if isinstance(each, ast.Dict))
    for node in module.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        named = any("problem" in format_name(target).lower() for target in targets)
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if named and isinstance(value, ast.Dict):
            yield value


def read_parameters(function: ast.FunctionDef | None) -> dict[str, Any]:
    """Read the defaults of a function's parameters; ``COMPUTED`` if there is none."""
    if function is None:
        return {}
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    defaults = [COMPUTED] * (len(names) - len(function.args.defaults)) + [
        evaluate(each, {}) for each in function.args.defaults
    ]
    found = dict(zip(names, defaults, strict=True))
    for name, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        found[name.arg] = COMPUTED if default is None else evaluate(default, {})
    found.pop("self", None)
    return found


def evaluate(node: ast.AST, known: Mapping[str, Any]) -> Any:
    """Evaluate a literal, or a known name or attribute; anything else is ``COMPUTED``."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        parts = [evaluate(each, known) for each in node.elts]
        return COMPUTED if any(part is COMPUTED for part in parts) else parts
    if isinstance(node, ast.JoinedStr):
        return _evaluate_fstring(node, known)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = evaluate(node.operand, known)
        return -value if isinstance(value, int | float) else COMPUTED
    return known.get(format_name(node), COMPUTED)


def evaluate_condition(node: ast.AST, known: dict[str, Any]) -> Any:
    """Evaluate a condition on known values to a boolean; anything else is ``COMPUTED``.

    A name that the condition assigns (``:=``) becomes known.
    """
    if isinstance(node, ast.NamedExpr):
        value = _look_up(node.value, known)
        if value is not COMPUTED:
            known[node.target.id] = value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = evaluate_condition(node.operand, known)
        return COMPUTED if value is COMPUTED else not value
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        left, right = evaluate(node.left, known), evaluate(node.comparators[0], known)
        return COMPUTED if COMPUTED in (left, right) else (left == right) == isinstance(node.ops[0], ast.Eq)
    else:
        value = _look_up(node, known)
    return COMPUTED if value is COMPUTED else bool(value)


def _look_up(node: ast.AST, known: Mapping[str, Any]) -> Any:
    """Evaluate a name, also in ``kwargs.get("name", default)`` and ``getattr(self, "name", default)``."""
    if not (isinstance(node, ast.Call) and not node.keywords):
        return evaluate(node, known)
    called, given = format_name(node.func), [evaluate(each, known) for each in node.args]
    if called == "kwargs.get" and len(given) in (1, 2) and isinstance(given[0], str):
        return known.get(given[0], given[1] if len(given) == 2 else None)
    if called == "getattr" and len(given) == 3 and format_name(node.args[0]) == "self" and isinstance(given[1], str):
        return known.get(f"self.{given[1]}", given[2])
    return COMPUTED


def format_name(node: ast.AST) -> str:
    """Format a name or an attribute chain such as ``self.faulty_service``; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""


def has_no_effect(node: ast.stmt) -> bool:
    """Return whether a statement is irrelevant to the problem: a docstring, print, import or ``pass``."""
    if isinstance(node, ast.Pass | ast.Import | ast.ImportFrom):
        return True
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    return isinstance(call, ast.Constant) or (
        isinstance(call, ast.Call) and format_name(call.func) in ("print", "logger.info")
    )


def _evaluate_fstring(node: ast.JoinedStr, known: Mapping[str, Any]) -> Any:
    parts = [evaluate(each.value if isinstance(each, ast.FormattedValue) else each, known) for each in node.values]
    return COMPUTED if any(part is COMPUTED for part in parts) else "".join(map(str, parts))


def _refuse(file: InputFile, mark: tuple[int, int], message: str) -> AuthoringError:
    finding = build_syntax_error(file.path, mark, message, "correct the file, or leave it out")
    return AuthoringError(f"{finding.position}: {message}", (finding,), fix=finding.fix)
