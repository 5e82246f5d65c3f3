"""Files of Chaos Mesh that a lab needs besides the manager: the 23 CRDs, and the daemon's protocol.

They are copied at install time from the verified source of the module that the manager is built from, and kept next to
it, so that a lab starts without Go: ``crds/`` unchanged, ``definitions/`` as a lab applies them, the proto file.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import yaml

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import cache, golang
from scenario_kit.lab.toolchain.components import CHAOS_MODULE, ENGINE, get_part

VARIABLE = "SCENARIO_KIT_CHAOS_ASSETS"
CRDS = "crds"
DEFINITIONS = "definitions"
PROTO = "chaosdaemon.proto"
_CRD_COUNT = 23
#: Kinds that only start others, which the operator does itself. Their schemas repeat those of all other kinds several
#: times: nine tenths of the text, half of the API server's memory, and most of a lab's start-up time.
_ORCHESTRATION = ("Schedule", "Workflow", "WorkflowNode")


def locate_folder() -> Path:
    """Return the directory of the files: ``SCENARIO_KIT_CHAOS_ASSETS``, or next to the manager in the cache."""
    explicit = os.environ.get(VARIABLE)
    return Path(explicit).expanduser() if explicit else cache.locate_binary(get_part(ENGINE)).parent


def find_problem() -> str:
    """Return why the files cannot be used; empty if they can."""
    place = locate_folder()
    for part_of, suffix in ((CRDS, "yaml"), (DEFINITIONS, "json")):
        found = len(list((place / part_of).glob(f"*.{suffix}")))
        if found < _CRD_COUNT:
            return f"{place / part_of} has {found} CRDs of {_CRD_COUNT}"
    return "" if (place / PROTO).is_file() else f"{place / PROTO} is missing"


def resolve() -> Path:
    """Return the directory with ``crds/``, ``definitions/`` and ``chaosdaemon.proto``.

    Raises:
        ToolchainError: a file is missing.
    """
    reason = find_problem()
    if reason:
        raise ToolchainError(f"the files of Chaos Mesh: {reason}", fix=f"scenario-kit lab install, or set {VARIABLE}")
    return locate_folder()


def extract(go: golang.Go, work: Path) -> None:
    """Copy the files from the module into the cache. ``work`` is an empty scratch directory."""
    manager = get_part(ENGINE)
    golang.copy_module(manager.module, work)
    source = golang.fetch_module_source(go, manager, CHAOS_MODULE, work)
    for name in (CRDS, DEFINITIONS):
        (work / name).mkdir()
    for file in sorted((source / "config" / "crd" / "bases").glob("*.yaml")):
        shutil.copyfile(file, work / CRDS / file.name)
        text = json.dumps(parse_definition(file.read_text()), separators=(",", ":"))
        (work / DEFINITIONS / file.with_suffix(".json").name).write_text(text)
    shutil.copyfile(source / "pkg" / "chaosdaemon" / "pb" / PROTO, work / PROTO)
    target = cache.locate_binary(manager).parent
    target.mkdir(parents=True, exist_ok=True)
    for name in (CRDS, DEFINITIONS):
        shutil.rmtree(target / name, ignore_errors=True)
        (work / name).rename(target / name)
    (work / PROTO).replace(target / PROTO)


def parse_definition(text: str) -> dict[str, Any]:
    """Parse a CRD as a lab applies it: kinds that only start others keep names and subresources, without schemas."""
    document: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if document["spec"]["names"]["kind"] in _ORCHESTRATION:
        for version in document["spec"]["versions"]:
            version["schema"] = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return document
