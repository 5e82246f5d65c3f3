"""Reproducible byte code: compiled by the image's own interpreter, independent of timestamps.

Byte code marked as unchecked (PEP 552) is used without reading its source, so nothing is compiled or written when a
container starts.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scenario_kit.errors import ToolchainError
from tools.image.recipes import LIBRARY, PYTHON

_TAG: Final = f"cpython-{PYTHON.replace('.', '')}"
_TOGETHER: Final = 2
#: Runs in the image's interpreter: compiles a list of (source, target, path shown in tracebacks).
_PROGRAM: Final = """
import json, py_compile, sys
for source, target, shown in json.load(sys.stdin):
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(source, target, shown, doraise=True, invalidation_mode=mode)
"""


@dataclass(frozen=True)
class Compilation:
    """A file to compile: its source, the path of its byte code, and its path in the image."""

    source: Path
    target: Path
    shown: str


def plan_compilations(root: Path, *, replaces: bool) -> list[Compilation]:
    """Plan the compilation of all modules below a folder, replacing their sources or next to them."""
    plan = []
    for source in sorted(root.rglob("*.py")):
        beside = source.parent / "__pycache__" / f"{source.stem}.{_TAG}.pyc"
        target = source.with_suffix(".pyc") if replaces else beside
        plan.append(Compilation(source, target, f"/{source.relative_to(root).as_posix()}"))
    return plan


def compile_files(base: Path, plan: Sequence[Compilation]) -> None:
    """Compile with the interpreter below ``base``, using its own libraries.

    Raises:
        ToolchainError: the interpreter does not start, or a file is not valid Python.
    """
    for folder in {each.target.parent for each in plan}:
        folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(_TOGETHER) as pool:
        for _ in pool.map(lambda part: _compile(base, part), (plan[i::_TOGETHER] for i in range(_TOGETHER))):
            pass


def remove_sources(plan: Iterable[Compilation]) -> None:
    """Remove the sources that were replaced by byte code."""
    for each in plan:
        each.source.unlink()


def _compile(base: Path, plan: Sequence[Compilation]) -> None:
    loaders = sorted((base / "usr").glob("lib*/ld-linux-*.so.*")) or sorted(
        (base / "usr").glob("lib/*/ld-linux-*.so.*")
    )
    if not loaders:
        raise ToolchainError(f"{base} has no program loader: the packages of libc6 are incomplete")
    folders = ":".join(str(folder) for folder in sorted((base / "usr/lib").glob("*-linux-gnu*")))
    command = [str(loaders[0]), "--library-path", folders, str(base / f"usr/bin/python{PYTHON}"), "-S", "-c", _PROGRAM]
    done = subprocess.run(
        command, input=json.dumps([[str(e.source), str(e.target), e.shown] for e in plan]),
        env={"PYTHONHOME": str(base / "usr"), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
             "PYTHONPATH": f"{base / LIBRARY}:{base / LIBRARY / 'lib-dynload'}", "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise ToolchainError(f"the compilation exited with code {done.returncode}: {done.stderr.strip()[-800:]}")
