"""Namespaces of a run: the first process collects orphans, and stressors run in the namespace of a container."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import golang
from tools.realnode.node import isolation
from tools.realnode.programs import STRESSORS, build_program

ORPHAN = """
import os, sys, time
reader, writer = os.pipe()
if (parent := os.fork()) == 0:
    if (orphan := os.fork()) == 0:
        os._exit(0)
    os.write(writer, str(orphan).encode())
    os._exit(0)
os.waitpid(parent, 0)
place, end = "/proc/" + os.read(reader, 20).decode(), time.monotonic() + 10
while os.path.exists(place) and time.monotonic() < end:
    time.sleep(0.01)
sys.exit(7 if os.getpid() != 1 and not os.path.exists(place) else 1)
"""


@pytest.fixture(autouse=True)
def namespaces() -> None:
    """Skip where no namespaces can be created."""
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "true"]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("creating namespaces needs root, and a kernel that allows it")


@pytest.fixture
def nsexec(tmp_path: Path) -> Path:
    """The program by which the daemon of Chaos Mesh enters a container's processes."""
    if golang.find() is None:
        pytest.skip("there is no Go to build it with")
    try:
        program = build_program(STRESSORS, tmp_path, lambda _: None)
    except ToolchainError as error:
        pytest.skip(f"{error.message}; {error.fix}")
    (tmp_path / "nsexec").symlink_to(program)
    return tmp_path / "nsexec"


def await_value(read: Callable[[], Any]) -> Any:
    end = time.monotonic() + 20
    while not (value := read()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return value


def list_children(pid: int) -> list[int]:
    return [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_first_process_collects_orphans(tmp_path: Path) -> None:
    assert isolation.run_isolated([sys.executable, "-c", ORPHAN], tmp_path) == 7


def test_stressor_enters_the_process_namespace_and_ends_with_its_parent(nsexec: Path) -> None:
    with subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "cat"], stdin=subprocess.PIPE) as container:
        try:
            (first,) = await_value(lambda: list_children(container.pid))
            namespace = Path(f"/proc/{first}/ns/pid")
            enter = [nsexec, "-p", namespace, "--"]
            assert subprocess.run([*enter, "sh", "-c", "exit 3"], timeout=20, check=False).returncode == 3
            with subprocess.Popen([*enter, "sleep", "600"]) as running:
                (sleeping,) = await_value(lambda: list_children(running.pid))
                await_value(lambda: Path(f"/proc/{sleeping}/comm").read_text() == "sleep\n")
                assert Path(f"/proc/{sleeping}/ns/pid").readlink() == namespace.readlink()
                running.kill()
            await_value(lambda: not is_running(sleeping))
        finally:
            container.kill()
