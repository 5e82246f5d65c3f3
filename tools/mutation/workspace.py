"""A working copy of the project for mutmut, and mutmut's results."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[2]
#: *killed*: a test failed or timed out. *survived*: all passed. *uncovered*: no test executes the function.
Answer = Literal["killed", "survived", "uncovered"]
#: The tests to run for each package (dotted, below `scenario_kit`): its own, and those of its users if it has few.
TESTS = {
    "judge": ("judge",),
    "campaign": ("campaign",),
    "changes": ("changes", "trial", "operator"),
    "trial": ("trial", "campaign"),
    "contribution": ("contribution",),
    "render.templating": ("render",),
}
_SEEN: tuple[str, ...] = (
    "scenario_kit", "tests", "tools", "catalog", "templates", "schema", "operators", "docs",
    "ci", ".github", "README.md", "CONTRIBUTING.md", "LICENSE", ".pre-commit-hooks.yaml", ".gitignore",
)  # fmt: skip
_SECONDS_BETWEEN_LOOKS = 3.0


def locate_package(package: str) -> str:
    """Return the folder of a package below ``scenario_kit``."""
    return package.replace(".", "/")


@contextlib.contextmanager
def prepare_workspace(package: str, folder: Path | None = None) -> Iterator[Path]:
    """Prepare a folder with a mutmut configuration for one package, and change into it.

    Generated mutants of unchanged files are kept, since generating them is slow.
    """
    folder = folder or ROOT / "runs" / "mutate" / package
    clear(folder / "mutants", Path("scenario_kit", locate_package(package)))
    # A separate repository, because tests locate the root of their repository.
    subprocess.run(["git", "init", "--quiet", folder / "mutants"], check=True)
    for seen in _SEEN:
        if (ROOT / seen).exists() and not (folder / seen).exists():
            (folder / seen).symlink_to(ROOT / seen)
    folder.joinpath("pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + build_configuration(package))
    with contextlib.chdir(folder):
        yield folder


def clear(mutants: Path, package: Path) -> None:
    """Remove mutmut's copies, statistics and results, but keep the package's generated mutants."""
    for path in sorted(mutants.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            with contextlib.suppress(OSError):
                path.rmdir()
        elif package not in path.relative_to(mutants).parents:
            path.unlink()
    for path in (mutants / package).rglob("*.meta"):
        meta = json.loads(path.read_text())
        path.write_text(json.dumps(meta | {"exit_code_by_key": dict.fromkeys(meta["exit_code_by_key"])}))


def build_configuration(package: str) -> str:
    """Return mutmut's section of ``pyproject.toml``."""
    settings: dict[str, Any] = {
        "source_paths": ["scenario_kit"],
        "only_mutate": [f"scenario_kit/{locate_package(package)}/*"],
        "also_copy": [seen for seen in _SEEN if seen not in ("scenario_kit", "tests")],
        "pytest_add_cli_args": ["-m", "not lab and not e2e", "--timeout=60", "-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": [
            f"tests/{folder}" for folder in TESTS[package] if (ROOT / "tests" / folder).is_dir()
        ],
        "use_git_change_detection": False,
        "track_dependencies": False,
        "on_dependency_change": "ignore",
    }
    return "\n[tool.mutmut]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())


def run(folder: Path, names: Sequence[str], children: int, seconds: float) -> Iterator[tuple[str, Answer]]:
    """Run mutmut on these mutants, yielding each result; stops when the time is over."""
    end, given = time.monotonic() + seconds, set[str]()
    log = folder / "mutmut.log"
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(children), *names]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, start_new_session=True)
        try:
            while process.poll() is None and time.monotonic() < end:
                time.sleep(_SECONDS_BETWEEN_LOOKS)
                yield from _list_new_answers(folder, names, given)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
    yield from _list_new_answers(folder, names, given)
    if not given and process.returncode > 0:
        last = log.read_text().replace("\r", "\n").strip().splitlines()[-30:]
        raise RuntimeError("mutmut failed:\n" + "\n".join(last))


def _list_new_answers(folder: Path, names: Sequence[str], given: set[str]) -> Iterator[tuple[str, Answer]]:
    codes = read_exit_codes(folder)
    for name in names:
        if name not in given and (code := codes.get(name)) is not None:
            given.add(name)
            yield name, answer(code)


def read_exit_codes(folder: Path) -> dict[str, int | None]:
    """Read mutmut's exit codes, skipping files that are being written."""
    found: dict[str, int | None] = {}
    for path in folder.glob("mutants/scenario_kit/**/*.meta"):
        with contextlib.suppress(json.JSONDecodeError):
            found |= json.loads(path.read_text())["exit_code_by_key"]
    return found


def answer(code: int) -> Answer:
    """Convert an exit code of mutmut."""
    return "survived" if code == 0 else "uncovered" if code in (5, 33) else "killed"
