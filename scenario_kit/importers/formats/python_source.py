"""Problems of a benchmark that are written as Python classes: read as a syntax tree, never executed.

Of a class, what its constructor assigns, and what its ``inject_fault`` calls, is understood where it is a literal, an
argument of the constructor, or another attribute. Anything that would have to be computed is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.importers.decisions import ImportDecision, Treatment
from scenario_kit.importers.inputs import InputFile
from scenario_kit.importers.ledger import ImportLedger, quote_value
from scenario_kit.load.yaml.document import build_syntax_error, shorten_text
from scenario_kit.model import Position

#: Nodes that one file may have.
_MOST_NODES: Final = 200_000
#: What a value is that only running the code would tell.
COMPUTED: Final = object()


@dataclass(slots=True)
class SourceStatement:
    """A statement, or a part of one, of which something has to be decided."""

    ledger: ImportLedger
    path: str
    node: ast.AST
    place: str

    @property
    def position(self) -> Position:
        """Where it stands."""
        return Position(
            path=self.path, line=getattr(self.node, "lineno", 1), column=getattr(self.node, "col_offset", 0) + 1
        )

    def note(self, treatment: Treatment, result: str = "", reason: str = "", fix: str = "") -> None:
        """Note what became of it."""
        self.ledger.note(
            ImportDecision(
                treatment=treatment, position=self.position, place=self.place, value=self._quote(), result=result,
                reason=reason, fix=fix,
            )
        )  # fmt: skip

    def refuse(self, reason: str, fix: str = "if it matters, write it into the draft by hand") -> None:
        """Note that it is in no draft."""
        self.note("Refused", "", reason, fix)

    def _quote(self) -> str:
        return "" if isinstance(self.node, ast.ClassDef | ast.FunctionDef) else quote_value(ast.unparse(self.node))


@dataclass(slots=True)
class ProblemClass:
    """A class as it is written: its bases by name, and its methods."""

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
    """A problem as a registry makes it: its id, its class, and the arguments that are literals."""

    id: str
    class_name: str
    arguments: dict[str, Any]
    node: ast.AST
    path: str


def parse_module(file: InputFile) -> ast.Module:
    """Parse a file.

    Raises:
        AuthoringError: it is not Python, or nests too deep; with the place.
    """
    try:
        module = ast.parse(file.text)
    except SyntaxError as error:
        line, column = max((error.lineno or 1) - 1, 0), max((error.offset or 1) - 1, 0)
        raise _refuse(file, (line, column), f"the file is not Python: {shorten_text(error.msg)}") from error
    except (RecursionError, MemoryError, ValueError) as error:
        raise _refuse(
            file, (0, 0), f"the file cannot be read as Python: {shorten_text(str(error)) or 'it nests too deep'}"
        ) from error
    if sum(1 for _ in ast.walk(module)) > _MOST_NODES:
        raise _refuse(file, (0, 0), f"the file holds more than {_MOST_NODES} expressions")
    return module


def list_classes(path: str, module: ast.Module) -> Iterator[ProblemClass]:
    """List the classes of a module."""
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            bases = tuple(name for base in node.bases if (name := spell_name(base)))
            methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
            yield ProblemClass(path, node, bases, methods)


def list_instances(path: str, module: ast.Module) -> Iterator[Instance]:
    """List what registries make: entries of dictionaries, from a text to a class or to ``lambda: Class(…)``."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                continue
            made = value.body if isinstance(value, ast.Lambda) else value
            if isinstance(made, ast.Call) and (name := spell_name(made.func)):
                arguments = {each.arg: evaluate(each.value, {}) for each in made.keywords if each.arg}
                arguments |= {f"#{i}": evaluate(each, {}) for i, each in enumerate(made.args)}
                yield Instance(key.value, name.rpartition(".")[2], arguments, value, path)
            elif isinstance(made, ast.Name) and made.id[:1].isupper():
                yield Instance(key.value, made.id, {}, value, path)


def read_parameters(function: ast.FunctionDef | None) -> dict[str, Any]:
    """Read the defaults of a function's parameters; those without one are ``COMPUTED``."""
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
    """Evaluate a literal, or a name or attribute that is known; anything else is ``COMPUTED``."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        parts = [evaluate(each, known) for each in node.elts]
        return COMPUTED if any(part is COMPUTED for part in parts) else parts
    if isinstance(node, ast.JoinedStr):
        return _join(node, known)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = evaluate(node.operand, known)
        return -value if isinstance(value, int | float) else COMPUTED
    return known.get(spell_name(node), COMPUTED)


def spell_name(node: ast.AST) -> str:
    """Spell a name or a chain of attributes, ``self.faulty_service``; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""


def is_idle(node: ast.stmt) -> bool:
    """Return whether a statement says nothing about the problem: a docstring, a print, an import, ``pass``."""
    if isinstance(node, ast.Pass | ast.Import | ast.ImportFrom):
        return True
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    return isinstance(call, ast.Constant) or (
        isinstance(call, ast.Call) and spell_name(call.func) in ("print", "logger.info")
    )


def _join(node: ast.JoinedStr, known: Mapping[str, Any]) -> Any:
    parts = [evaluate(each.value if isinstance(each, ast.FormattedValue) else each, known) for each in node.values]
    return COMPUTED if any(part is COMPUTED for part in parts) else "".join(map(str, parts))


def _refuse(file: InputFile, mark: tuple[int, int], message: str) -> AuthoringError:
    finding = build_syntax_error(file.path, mark, message, "correct the file, or leave it out")
    return AuthoringError(f"{finding.position}: {message}", (finding,), fix=finding.fix)
