"""Readability metrics of code and authored files, for ``ci/shape``."""

from __future__ import annotations

import ast
import json
import re
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("scenario_kit", "operators")
#: Code beside the product, of which only the size of packages is measured.
BESIDE = ("tools", "ci")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class Row:
    """A row of the table: title, past value and goal."""

    key: str
    title: str
    before: float
    goal: float | None = None
    #: Whether ``up`` or ``down`` is better; a row without it is only shown.
    better: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Words:
    """Word lists for judging names."""

    verbs: frozenset[str]
    participles: frozenset[str]
    adjectives: frozenset[str]
    denied: frozenset[str]


@dataclass
class Counts:
    """Counts over all modules."""

    file_lines: list[int] = field(default_factory=list)
    function_lines: list[int] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    #: First words of the docstrings of functions.
    docstrings: list[str] = field(default_factory=list)
    classes: Counter[str] = field(default_factory=Counter)
    identifiers: Counter[str] = field(default_factory=Counter)
    wide: list[str] = field(default_factory=list)
    nested_comprehensions: int = 0
    imports: dict[str, set[str]] = field(default_factory=dict)


def read_settings(root: Path = ROOT) -> tuple[list[Row], Words]:
    """Read the rows of the table and the lists of words."""
    document = tomllib.loads((root / "ci/figures/shape.toml").read_text(encoding="utf-8"))
    words = {name: frozenset(text.split()) for name, text in document["words"].items()}
    return [Row(key=key, **row) for key, row in document["rows"].items()], Words(**words)


def measure(root: Path, words: Words) -> dict[str, float]:
    """Return the value of every row for a checkout."""
    counts = count_modules(root)
    functions = len(counts.functions) or 1
    lines = sum(counts.file_lines)
    jinja = list(find_expressions(root))
    return {
        "file_median": statistics.median(counts.file_lines or [0]),
        "file_max": max(counts.file_lines, default=0),
        "function_median": statistics.median(counts.function_lines or [0]),
        "function_p90": sorted(counts.function_lines or [0])[int(0.9 * (len(counts.function_lines) - 1))],
        "function_max": max(counts.function_lines, default=0),
        "verbs": 100 * sum(begins_with_verb(name, words) for name in counts.functions) / functions,
        "participles": 100 * sum(is_participle(name, words) for name in counts.functions) / functions,
        "imperatives": 100 * sum(word in words.verbs for word in counts.docstrings) / (len(counts.docstrings) or 1),
        "one_word": 100 * sum("_" not in name.strip("_") for name in counts.functions) / functions,
        "denied": sum(n for name, n in counts.identifiers.items() if words.denied & set(split_name(name))),
        "homonyms": sum(n > 1 for n in counts.classes.values()),
        "circles": len(find_circles(counts.imports)),
        "large_packages": sum(n > 15 for n in count_packages(root).values()),
        "wide_functions": len(counts.wide),
        "nested_comprehensions": 1000 * counts.nested_comprehensions / (lines or 1),
        "described": measure_descriptions(root),
        "jinja": sum(len(text.encode()) for text in jinja) / 1000,
        "longest_expression": max(map(len, jinja), default=0),
        "lines": lines,
    }


def list_modules(root: Path, packages: Iterable[str] = PRODUCT) -> list[Path]:
    """List the modules of these packages, by default of the product."""
    return sorted(path for package in packages for path in (root / package).rglob("*.py"))


def count_packages(root: Path) -> Counter[str]:
    """Count the modules of every package of the product and beside it."""
    modules = (path for path in list_modules(root, (*PRODUCT, *BESIDE)) if path.name != "__init__.py")
    return Counter(path.parent.relative_to(root).as_posix() for path in modules)


def count_modules(root: Path) -> Counts:
    """Count over all modules of the product."""
    counts = Counts()
    modules = {".".join(_name_module(path, root)): path for path in list_modules(root)}
    for name, path in modules.items():
        text = path.read_text(encoding="utf-8")
        counts.file_lines.append(sum(1 for line in text.splitlines() if line.strip()))
        counts.imports[name] = _count_tree(ast.parse(text), counts, frozenset(modules))
    return counts


def begins_with_verb(name: str, words: Words) -> bool:
    """Return whether a function's name starts with a listed verb."""
    return name.strip("_").split("_")[0] in words.verbs


def is_participle(name: str, words: Words) -> bool:
    """Return whether a name is a single past participle, except for listed adjectives."""
    word = name.strip("_")
    if "_" in word or word in words.adjectives:
        return False
    return word in words.participles or bool(re.fullmatch(r"[a-z]{2,}[^e\W]ed", word))


def split_name(name: str) -> list[str]:
    """Split an identifier into its words in lower case."""
    return [part.lower() for part in _PARTS.findall(name)]


def find_circles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Find the sets of modules that import each other directly or indirectly (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in imports.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                circles.append(sorted(stack[at:]))
            del stack[at:]

    for node in imports:
        if node not in index:
            visit(node)
    return circles


def find_expressions(root: Path) -> Iterator[str]:
    """Yield the template expressions and statements in the catalogue's faults."""
    for path in sorted((root / "catalog/faults").rglob("*.yaml")):
        yield from _EXPRESSION.findall(path.read_text(encoding="utf-8"))


def measure_descriptions(root: Path) -> float:
    """Return the percentage of fields of authored formats with a description."""
    found: list[bool] = []
    for kind in ("scenario", "fault", "app", "plan", "pack", "twin"):
        path = root / f"schema/{kind}.schema.json"
        if path.exists():
            found += _list_descriptions(json.loads(path.read_text(encoding="utf-8")))
    return 100 * sum(found) / (len(found) or 1)


def is_worse(row: Row, value: float, allowed: float) -> bool:
    """Return whether a value is worse than the best so far; percentages and sizes may vary by half a unit."""
    slack = 0.5 if row.unit in {"%", "kB"} else 0
    return value < allowed - slack if row.better == "up" else value > allowed + slack


def ratchet(rows: Iterable[Row], values: Mapping[str, float], allowed: Mapping[str, float]) -> dict[str, float]:
    """Return the values to hold from now on: the better of old and new."""
    held = {}
    for row in rows:
        if row.better:
            value = round(values[row.key], 1)
            best = max if row.better == "up" else min
            held[row.key] = best(value, allowed.get(row.key, value))
    return held


def render_table(rows: Iterable[Row], values: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'':56} {'2026-11-25':>10} {'now':>10} {'goal':>10}"
    for row in rows:
        sign = {"up": ">=", "down": "<="}.get(row.better, "")
        goal = "" if row.goal is None else f"{sign} {row.goal:g}"
        title = f"{row.title}{', ' + row.unit if row.unit else ''}"
        yield f"{title:56} {row.before:>10g} {round(values[row.key], 1):>10g} {goal:>10}"


def _name_module(path: Path, root: Path) -> tuple[str, ...]:
    parts = path.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _count_tree(tree: ast.Module, counts: Counts, modules: frozenset[str]) -> set[str]:
    """Count one module; returns the modules of the product that it imports."""
    imported: set[str] = set()
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, typing_only = todo.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            todo += [(child, True) for child in node.body]
            continue
        if isinstance(node, _FUNCTIONS):
            _count_function(node, counts)
        elif isinstance(node, ast.ClassDef):
            counts.classes[node.name] += 1
            counts.identifiers[node.name] += 1
        elif isinstance(node, ast.Name):
            counts.identifiers[node.id] += 1
        elif isinstance(node, ast.Attribute):
            counts.identifiers[node.attr] += 1
        elif isinstance(node, (ast.arg, ast.keyword)) and node.arg:
            counts.identifiers[node.arg] += 1
        elif isinstance(node, _COMPREHENSIONS):
            counts.nested_comprehensions += len(node.generators) > 1
        elif isinstance(node, ast.ImportFrom) and not typing_only:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                imported |= {full if full in modules else node.module or ""} & modules
        todo += [(child, typing_only) for child in ast.iter_child_nodes(node)]
    return imported


def _count_function(node: ast.FunctionDef | ast.AsyncFunctionDef, counts: Counts) -> None:
    counts.function_lines.append((node.end_lineno or node.lineno) - node.lineno + 1)
    counts.identifiers[node.name] += 1
    arguments = node.args
    if len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]) > 7 and not _is_command(node):
        counts.wide.append(node.name)
    decorators = {_name_of(decorator) for decorator in node.decorator_list}
    if decorators & {"property", "cached_property"}:
        return
    if not node.name.startswith("__"):
        counts.functions.append(node.name)
    docstring = ast.get_docstring(node)
    # the docstring of a rule is its title, not an imperative
    if docstring and not decorators & {"register_rule", "register_check"}:
        counts.docstrings.append(docstring.split()[0].strip(".,:;").lower())


def _is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether this is a CLI command, whose parameters are options."""
    return "Annotated" in {_name_of(a.annotation) for a in node.args.args + node.args.kwonlyargs if a.annotation}


def _name_of(node: ast.AST) -> str:
    if isinstance(node, (ast.Call, ast.Subscript)):
        return _name_of(node.func if isinstance(node, ast.Call) else node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _list_descriptions(schema: Any) -> list[bool]:
    """Return for each field of a schema whether it has a description, ignoring ``if``, ``then`` and the like."""
    found: list[bool] = []
    if isinstance(schema, dict):
        for part in (schema.get("properties") or {}).values():
            if isinstance(part, dict):
                found.append("description" in part or "$ref" in part)
        for key, value in schema.items():
            if key not in {"if", "then", "else", "not", "allOf"}:
                found += _list_descriptions(value)
    elif isinstance(schema, list):
        for value in schema:
            found += _list_descriptions(value)
    return found
