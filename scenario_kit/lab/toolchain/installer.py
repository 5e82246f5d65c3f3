"""Installation of missing components: a verified official release if available, otherwise a build from Go modules."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import assets, cache, golang
from scenario_kit.lab.toolchain.components import (
    ENGINE,
    PARTS,
    PARTS_WITHOUT_ENGINE,
    ToolchainComponent,
    explain_supply,
    format_versions,
    get_part,
)
from scenario_kit.lab.toolchain.lookup import look_up
from scenario_kit.lab.toolchain.progress import Reporter, report_on_stderr
from scenario_kit.lab.toolchain.release import Releases, Unavailable


def install(
    reporter: Reporter | None = None, releases: Releases | None = None, *, engine: bool = True
) -> dict[str, Path]:
    """Return every component by name. Existing ones are used; missing ones are downloaded or built into the cache.

    Without ``engine``, the chaos engine is neither installed nor returned; its CRDs are installed. ``reporter`` reports
    progress, by default on stderr. An interrupted installation leaves nothing incomplete, and the next one continues;
    of two concurrent installations, the second waits.

    Raises:
        ToolchainError: a component is not available; the message has the cause and the variable that provides it.
    """
    parts = PARTS if engine else PARTS_WITHOUT_ENGINE
    found = _find_all(parts)
    if found is not None:
        return found
    with _open_installer(reporter, releases) as installer:
        paths = installer.get(parts)
        installer.get_assets()
    return paths


def install_optional(name: str, reporter: Reporter | None = None, releases: Releases | None = None) -> Path:
    """Return the component ``name`` of ``OPTIONAL``: found, downloaded or built, as by ``install``.

    Raises:
        ToolchainError: as for ``install``.
    """
    desired = get_part(name)
    status = look_up(desired)
    if status.path is not None and not status.problem:
        return status.path
    with _open_installer(reporter, releases) as installer:
        return installer.get([desired])[name]


@contextmanager
def _open_installer(reporter: Reporter | None, releases: Releases | None) -> Iterator[_Installer]:
    with _handle_sigterm(), ExitStack() as stack:
        reporter = reporter or stack.enter_context(report_on_stderr())
        stack.enter_context(cache.lock_cache(reporter.say))
        yield _Installer(reporter, releases or Releases())


def _find_all(parts: Sequence[ToolchainComponent]) -> dict[str, Path] | None:
    """Return the components if none is missing, otherwise None."""
    paths: dict[str, Path] = {}
    for desired in parts:
        status = look_up(desired)
        if status.path is None or status.problem:
            return None
        paths[desired.name] = status.path
    return None if assets.find_problem() else paths


@dataclass(frozen=True)
class _Build:
    """The parts of one module to build, and why their releases are not used."""

    module: str
    reason: str
    parts: list[ToolchainComponent] = field(default_factory=list)


class _Installer:
    def __init__(self, reporter: Reporter, releases: Releases) -> None:
        self._reporter = reporter
        self._releases = releases
        self._go: golang.Go | None = None

    def get(self, desired: Sequence[ToolchainComponent]) -> dict[str, Path]:
        """Return the components by name: existing ones, released ones, and the rest built module by module."""
        found: dict[str, Path] = {}
        left: dict[tuple[str, tuple[str, ...], bool], _Build] = {}
        for part in desired:
            path, reason = self._have(part)
            if path is not None:
                found[part.name] = path
            else:
                build = left.setdefault((part.module, part.tags, part.cgo), _Build(part.module, reason))
                build.parts.append(part)
        if left:
            found |= self._build_all(tuple(left.values()))
        return {part.name: found[part.name] for part in desired}

    def _have(self, desired: ToolchainComponent) -> tuple[Path | None, str]:
        """Return a component that need not be built, or None and why its release is not available."""
        status = look_up(desired)
        if status.problem and status.source == "environment":
            raise ToolchainError(
                f"{desired.name} {desired.version}: {status.problem}", fix=f"correct {desired.variable}"
            )
        if status.path is not None:
            return status.path, ""
        reason = self._releases.known_problem(desired)
        if reason:
            return None, reason
        with cache.open_workspace(desired.name) as work:
            self._reporter.begin(desired.name, f"{desired.version}, official release")
            try:
                binary = self._releases.fetch(desired, work, self._advance(desired.name))
            except Unavailable as unavailable:
                return None, str(unavailable)
            self._reporter.end(desired.name, "official release")
            return cache.publish(desired, binary), ""

    def _build_all(self, builds: Sequence[_Build]) -> dict[str, Path]:
        go = self._golang(builds[0].parts, builds[0].reason)
        try:
            return asyncio.run(self._build_modules(go, builds))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _build_modules(self, go: golang.Go, builds: Sequence[_Build]) -> dict[str, Path]:
        """Build several modules, two at a time if the machine has the memory, as linkers leave cores idle.

        The sources of all are downloaded at once. A build waits until the one before has compiled the standard library,
        which it would compile again otherwise.
        """
        at_once = golang.can_build_two(golang.read_memory(), os.cpu_count() or 1)
        tasks, turn = [], asyncio.Event()
        turn.set()
        async with asyncio.TaskGroup() as group:
            for build in builds:
                following = asyncio.Event()
                tasks.append(group.create_task(self._build(go, build, turn, following, at_once)))
                turn = following
        return {name: path for task in tasks for name, path in task.result().items()}

    async def _build(
        self, go: golang.Go, build: _Build, turn: asyncio.Event, following: asyncio.Event, at_once: bool
    ) -> dict[str, Path]:
        module, parts = build.module, build.parts
        self._reporter.begin(module, f"{format_versions(parts)}, built from Go modules: {build.reason}")
        report = self._advance(module)
        with cache.open_workspace(module) as work:
            golang.copy_module(module, work)
            packages = await golang.list_packages(go, parts, work, report)
            await turn.wait()
            shared = sum(map(golang.is_standard, packages))

            def on_progress(done: int, total: int, note: str) -> None:
                report(done, total, note)
                if at_once and done > shared:
                    following.set()

            built = await golang.build(go, parts, work, packages, on_progress)
            paths = {part.name: cache.publish(part, built[part.name]) for part in parts}
        following.set()
        self._reporter.end(module, "built")
        return paths

    def get_assets(self) -> None:
        reason = assets.find_problem()
        if not reason:
            return
        with cache.open_workspace("chaos-assets") as work:
            assets.extract(self._golang([get_part(ENGINE)], "its source is needed"), work)
        left = assets.find_problem()
        if left:
            raise ToolchainError(f"the files of Chaos Mesh: {left}", fix=f"correct {assets.VARIABLE}")

    def _advance(self, name: str) -> Callable[[int, int, str], None]:
        return lambda done, total, note: self._reporter.advance(name, done, total, note)

    def _golang(self, desired: Sequence[ToolchainComponent], reason: str) -> golang.Go:
        if self._go is None:
            try:
                self._go = golang.ensure(self._reporter.say)
            except ToolchainError as error:
                raise ToolchainError(
                    f"{format_versions(desired)}: {reason}; and there is no Go to build with: {error.message}",
                    fix=f"{error.fix}, or {explain_supply(desired)}",
                ) from error
        return self._go


@contextmanager
def _handle_sigterm() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C, so that the compiler ends and scratch files are removed.

    Ctrl-C cancels what runs in an event loop. An exception in the midst of a loop would leave behind a process that is
    just being started.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    code = 0

    def on_terminate(number: int, frame: FrameType | None) -> None:
        nonlocal code
        if code:  # the first one is being obeyed
            return
        code = 128 + number
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # ignored, as by a shell in the background
            raise SystemExit(code)
        interrupt(signal.SIGINT, frame)

    previous = signal.signal(signal.SIGTERM, on_terminate)
    try:
        yield
    except KeyboardInterrupt:
        if code:
            raise SystemExit(code) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, previous)
