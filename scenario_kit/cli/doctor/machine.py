"""``doctor`` without a context: check that this machine can run a lab."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.cli.doctor.check import DoctorCheck
from scenario_kit.errors import LabError, ScenarioKitError
from scenario_kit.lab import toolchain
from scenario_kit.lab.capabilities import describe_offers
from scenario_kit.lab.host import disk_space
from scenario_kit.lab.host.addresses import find_host_address
from scenario_kit.lab.host.state import LabState, find_home, list_lab_names
from scenario_kit.lab.toolchain import assets, cache, go_package, golang

_GIBIBYTE = 1 << 30
#: Disk space for building the toolchain: sources, compiled packages and binaries. README also states it.
BUILD_GIBIBYTES = 12
#: Supported Python versions; CI tests the oldest and the newest.
PYTHON = tuple((3, minor) for minor in range(11, 15))
_LAB_BYTES = 2 * _GIBIBYTE
_INSTALL = "scenario-kit lab install"


def examine() -> list[DoctorCheck]:
    """Check everything that a lab needs on this machine."""
    parts = [*_check_parts(), _check_assets()]
    tools: list[DoctorCheck] = []
    if not all(part.fine for part in parts):
        tools = [_check_go(), _check_disk()]
        if not tools[0].fine:  # its fix comes first, in the same command
            parts = [part._replace(fix=tools[0].fix) if part.fix == _INSTALL else part for part in parts]
    return [
        _check_system(),
        _check_python(),
        _check_memory(),
        _check_room(),
        _run_check("address", find_host_address),
        *tools,
        *parts,
        *_check_labs(),
        _check_capabilities(),
    ]


def _check_system() -> DoctorCheck:
    observed = f"{platform.system()} {platform.machine()}"
    fine = platform.system() == "Linux" and Path("/proc/self/environ").exists()
    return DoctorCheck("system", fine, observed, "" if fine else "run it on Linux, for example in a virtual machine")


def _check_python() -> DoctorCheck:
    """Check the version of this interpreter, and that all dependencies are installed."""
    oldest, newest = (".".join(map(str, version)) for version in (PYTHON[0], PYTHON[-1]))
    observed = platform.python_version()
    if sys.version_info[:2] not in PYTHON:
        fix = f"PYTHON=python{newest} ci/demo, or any Python from {oldest} to {newest}"
        return DoctorCheck("python", False, f"{observed} is not supported; supported are {oldest} to {newest}", fix)
    missing = _find_missing()
    if missing:
        fix = f"{sys.executable} -m pip install {' '.join(shlex.quote(each) for each in missing)}"
        return DoctorCheck("python", False, f"{observed} lacks {', '.join(missing)}", fix)
    return DoctorCheck("python", True, observed)


def _find_missing() -> list[str]:
    """Find dependencies that are not installed in this environment."""
    lacking = []
    for line in importlib.metadata.requires("scenario-kit") or ():
        requirement, _, marker = line.partition(";")
        name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]
        if "extra" not in marker and not any(importlib.metadata.distributions(name=name)):
            lacking.append(requirement.strip())
    return lacking


def _check_parts() -> list[DoctorCheck]:
    return [
        DoctorCheck(
            status.name,
            not status.problem,
            f"{status.version}: {status.problem}" if status.problem else f"{status.version} from {status.source}",
            "" if not status.problem else _format_part_fix(status.source, status.variable),
        )
        for status in toolchain.inspect()
    ]


def _format_part_fix(source: str, variable: str) -> str:
    return f"correct or unset {variable}" if source == "environment" else _INSTALL


def _check_assets() -> DoctorCheck:
    problem = assets.find_problem()
    fix = _INSTALL if problem else ""
    return DoctorCheck("chaos-mesh files", not problem, problem or str(assets.locate_folder()), fix)


def _check_go() -> DoctorCheck:
    """Check Go, which is only needed to build missing parts without access to releases."""
    go = golang.find()
    if go is not None:
        return DoctorCheck("go (to build)", True, f"{go.version} from {go.found}")
    need = ".".join(map(str, golang.MINIMUM))
    if go_package.can_install():
        then = f"pip installs {go_package.PACKAGE} {go_package.read_version()} when needed"
        return DoctorCheck("go (to build)", True, f"no Go {need} or newer on PATH; {then}")
    fix = f"{sys.executable} -m ensurepip && {_INSTALL}"
    return DoctorCheck("go (to build)", False, f"no Go {need} or newer on PATH, and no pip to install it with", fix)


def _check_disk() -> DoctorCheck:
    place = next(folder for folder in (cache.locate_root(), *cache.locate_root().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    fine = free > BUILD_GIBIBYTES * _GIBIBYTE
    observed = f"{free // _GIBIBYTE} GiB free at {place}; building takes {BUILD_GIBIBYTES}"
    return DoctorCheck("disk (to build)", fine, observed, "" if fine else "free space there, or set SCENARIO_KIT_CACHE")


def _check_room() -> DoctorCheck:
    """Check disk space for running a lab; it is less than for building, but possibly on another disk."""
    found = disk_space.find_problem(find_home(), disk_space.TO_START)
    return DoctorCheck(
        "disk (to run)", not found, found or f"enough space in {find_home()}", disk_space.FIX if found else ""
    )


def _check_memory() -> DoctorCheck:
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines() if ":" in line)
    available = int(fields["MemAvailable"].split()[0]) * 1024
    fine = available > _LAB_BYTES
    observed = f"{available / _GIBIBYTE:.1f} GiB available; a lab takes up to {_LAB_BYTES // _GIBIBYTE}"
    return DoctorCheck("memory", fine, observed, "" if fine else "stop other programs, or labs: scenario-kit lab down")


def _run_check(name: str, question: Callable[[], str]) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, question())
    except ScenarioKitError as error:
        return DoctorCheck(name, False, error.message, error.fix)


def _check_labs() -> list[DoctorCheck]:
    def look_up(name: str) -> str:
        state = LabState.load(name)
        if not state.complete:
            raise LabError("interrupted during start", fix=f"scenario-kit lab up --name {name}")
        state.require_alive()
        return "all parts are alive"

    return [_run_check(f"lab {name}", lambda name=name: look_up(name)) for name in list_lab_names()]  # type: ignore[misc]


def _check_capabilities() -> DoctorCheck:
    """List the capabilities of a lab; those that it lacks are not a defect of this machine."""
    shown = describe_offers(list_capabilities(Catalog()))
    have = ", ".join(name for name, because in shown.items() if not because)
    lack = ", ".join(name for name, because in shown.items() if because)
    return DoctorCheck("a lab offers", True, f"{have}; it lacks {lack}")
