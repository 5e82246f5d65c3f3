"""The mutants of a package: mutmut's, without those that only change messages."""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.mutation.prose import differs_in_prose
from tools.mutation.workspace import locate_package


@dataclass(frozen=True)
class Mutant:
    """One change to one function. ``name`` is mutmut's; ``digest`` does not depend on other functions."""

    name: str
    path: str
    line: int
    diff: str

    @property
    def function(self) -> str:
        """Module and function, such as ``judge.repair.invariants.ready``."""
        module, _, mangled = self.name.removeprefix("scenario_kit.").partition("__mutmut_")[0].rpartition(".")
        plain = mangled.removeprefix("x_") if mangled.startswith("x_") else mangled.removeprefix("xǁ").replace("ǁ", ".")
        return f"{module}.{plain}"

    @property
    def digest(self) -> str:
        """A digest of the change and its context."""
        lines = [line for line in self.diff.splitlines() if not line.startswith("@@")]
        return hashlib.sha256("\n".join([self.function, *lines]).encode()).hexdigest()[:12]

    @property
    def key(self) -> str:
        """Identifies the mutant independently of mutmut's numbering."""
        return f"{self.function} {self.digest}"


def list_package_mutants(root: Path, package: str) -> list[Mutant]:
    """List the distinct mutants of ``scenario_kit/<package>`` that change more than messages.

    Call it in a folder with a mutmut configuration, see ``workspace``.
    """
    found: dict[str, Mutant] = {}
    for path in sorted((root / "scenario_kit" / locate_package(package)).rglob("*.py")):
        name = str(path.relative_to(root))
        for mutant in find_mutants(name, path.read_text(), generate_mutated(path, root / "mutants" / name)):
            found.setdefault(mutant.key, mutant)
    return list(found.values())


def generate_mutated(path: Path, before: Path) -> str:
    """Return the module with all mutants, generating it unless it is up to date."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    if before.is_file() and before.stat().st_mtime > path.stat().st_mtime:
        return before.read_text()
    return mutate_file_contents(str(path), path.read_text()).code


def find_mutants(path: str, source: str, mutated: str) -> Iterator[Mutant]:
    """Yield the mutants of a generated module, each compared with its original function."""
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    starts = {name: function.lineno for name, function in _list_functions(ast.parse(source))}
    lines = mutated.splitlines()
    functions = dict(_list_functions(ast.parse(mutated)))
    for qualified, mutant in functions.items():
        stem, marked, number = qualified.rpartition("__mutmut_")
        if not marked or not number.isdigit():
            continue
        original = functions[f"{stem}__mutmut_orig"]
        if differs_in_prose(original, mutant):
            continue
        owner, _, mangled = qualified.rpartition(".")
        plain = stem.rpartition(".")[2].removeprefix("x_").rpartition("ǁ")[2]
        start = starts[f"{owner}.{plain}" if owner else plain]
        before, after = _extract_text(lines, original, plain), _extract_text(lines, mutant, plain)
        diff = list(difflib.unified_diff(before, after, lineterm=""))[2:]
        first = next(i for i, (old, new) in enumerate(zip([*before, ""], [*after, ""], strict=False)) if old != new)
        yield Mutant(f"{module}.{mangled}", path, start + first, "\n".join(diff))


def _list_functions(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{f.name}", f) for f in node.body if isinstance(f, ast.FunctionDef))


def _extract_text(lines: Sequence[str], function: ast.FunctionDef, name: str) -> list[str]:
    text = lines[function.lineno - 1 : function.end_lineno]
    return [text[0].replace(function.name, name, 1), *text[1:]]


def sample(every: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """Draw a sample that is stable: the same seed prefers the same mutants whatever else is added or removed."""
    return sorted(every, key=lambda m: hashlib.sha256(f"{seed} {m.key}".encode()).digest())[:number]
