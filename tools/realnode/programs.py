"""Our own programs, built from the sources beside this file."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scenario_kit.lab.toolchain import golang
from scenario_kit.lab.toolchain.components import ToolchainComponent

#: Those that the daemon of Chaos Mesh calls.
STRESSORS: Final = "stressors"
#: Program, and the folder of its source.
_SOURCES: Final = {"parcels": "program", STRESSORS: STRESSORS}


def build_program(name: str, folder: Path, say: Callable[[str], None]) -> Path:
    """Build a program below a folder, and return the binary.

    Raises:
        ToolchainError: there is no Go, or it does not compile.
    """
    source = folder / name
    shutil.copytree(Path(__file__).parent / _SOURCES[name], source)
    part = ToolchainComponent(name=name, version="1.0.0", module=name, package=f"scenariokit.io/{name}")
    return asyncio.run(golang.build(golang.ensure(say), [part], source, (), lambda *_: None))[name]
