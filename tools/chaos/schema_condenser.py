"""Condenses the CRDs of the installed Chaos Mesh into the schemas that lint ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from scenario_kit.lab.toolchain.assets import CRDS
from scenario_kit.lab.toolchain.components import CHAOS_MESH
from scenario_kit.schema.chaos import condense_definitions

#: Their schemas repeat those of all experiments, and lint does not use them.
_REPEATING = ("workflows", "workflownodes")


def condense_schemas(folder: Path) -> str:
    """Return the text of ``chaos_mesh.json``: one line per kind, which keeps diffs between versions readable.

    Args:
        folder: the Chaos Mesh assets, with ``crds/``.
    """
    files = sorted(p for p in (folder / CRDS).glob("*.yaml") if not p.stem.endswith(_REPEATING))
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    definitions = [yaml.load(path.read_text(encoding="utf-8"), Loader=loader) for path in files]
    document = condense_definitions(definitions, CHAOS_MESH)
    lines = [f"{_condense(kind)}: {_condense(spec)}" for kind, spec in sorted(document["experiments"].items())]
    parts = [
        f'"version": {_condense(document["version"])}',
        '"experiments": {\n' + ",\n".join(lines) + "\n}",
        f'"schedule": {_condense(document["schedule"])}',
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _condense(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
