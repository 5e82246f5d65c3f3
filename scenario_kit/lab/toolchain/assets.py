"""What the lab needs of Chaos Mesh beside its manager: the 23 CRDs, and the contract of the daemon.

Both are taken from the verified source of the very module that the manager is built from, at install time, and kept
beside it, so that a lab starts without Go.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import cache, golang
from scenario_kit.lab.toolchain.parts import CHAOS_MODULE, part

VARIABLE = "SCENARIO_KIT_CHAOS_ASSETS"
CRDS = "crds"
PROTO = "chaosdaemon.proto"
_CRD_COUNT = 23


def folder() -> Path:
    """Where the files are, or would be: ``SCENARIO_KIT_CHAOS_ASSETS``, else beside the manager in the cache."""
    explicit = os.environ.get(VARIABLE)
    return Path(explicit).expanduser() if explicit else cache.binary(part("chaos-controller-manager")).parent


def problem() -> str:
    """Why the files cannot be used; empty when they can."""
    place = folder()
    found = len(list((place / CRDS).glob("*.yaml")))
    if found < _CRD_COUNT:
        return f"{place / CRDS} has {found} CRDs of {_CRD_COUNT}"
    return "" if (place / PROTO).is_file() else f"{place / PROTO} is missing"


def resolve() -> Path:
    """The folder with ``crds/`` and ``chaosdaemon.proto``; raises ``ToolchainError`` when they are not there."""
    reason = problem()
    if reason:
        raise ToolchainError(f"the files of Chaos Mesh: {reason}", fix=f"scenario-kit lab install, or set {VARIABLE}")
    return folder()


def extract(go: golang.Go, work: Path) -> None:
    """Copy the files from the module into the cache. ``work`` is an empty scratch folder."""
    manager = part("chaos-controller-manager")
    golang.copy_module(manager.module, work)
    source = golang.module_source(go, manager, CHAOS_MODULE, work)
    crds = work / CRDS
    crds.mkdir()
    for file in sorted((source / "config" / "crd" / "bases").glob("*.yaml")):
        shutil.copyfile(file, crds / file.name)
    shutil.copyfile(source / "pkg" / "chaosdaemon" / "pb" / PROTO, work / PROTO)
    target = cache.binary(manager).parent
    target.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target / CRDS, ignore_errors=True)
    crds.rename(target / CRDS)
    (work / PROTO).replace(target / PROTO)
