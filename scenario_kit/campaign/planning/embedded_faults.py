"""Fault types that come with an object: judged as files are, and in front of the operator's catalogue."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.campaign.planning.spec import EmbeddedFault
from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_files
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object

#: What may become the name of a folder.
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def list_embedded_faults(spec: Object) -> tuple[EmbeddedFault, ...]:
    """List the fault types that come with the spec of a Validation."""
    embedded: Object = spec.get("embedded") or {}
    return tuple(EmbeddedFault.from_json(each) for each in embedded.get("faults") or ())


def add_faults(catalog: Catalog, faults: Sequence[EmbeddedFault]) -> tuple[Catalog, tuple[Finding, ...]]:
    """Return a catalogue with these fault types before its own, and what ``lint`` finds in them.

    They lie in a folder that goes with the catalogue. Positions are those of the files that they were.
    """
    if not faults:
        return catalog, ()
    if misnamed := tuple(_report_name(each.name) for each in faults if not _NAME.fullmatch(each.name)):
        return catalog, misnamed
    root = Path(tempfile.mkdtemp(prefix="scenario-kit-faults-"))
    extended = catalog.behind(root)
    weakref.finalize(extended, shutil.rmtree, root, ignore_errors=True)
    files = [root / "catalog" / "faults" / each.name / "fault.yaml" for each in faults]
    for file, each in zip(files, faults, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(each.definition, encoding="utf-8")
    return extended, tuple(_relocate(finding, root) for finding in lint_files(files, extended))


def _report_name(name: str) -> Finding:
    return build_finding(
        "SK104",
        message=f"a fault type that comes with the scenario is called '{name[:63]}'",
        expected="lower-case letters, digits and '-'",
        why="",
        fix="embedded.faults[].name: the name of the folder that holds its fault.yaml",
    )


def _relocate(finding: Finding, root: Path) -> Finding:
    position = finding.position
    if position is None or not position.path.startswith(str(root)):
        return finding
    path = str(Path(position.path).relative_to(root / "catalog"))
    return msgspec.structs.replace(finding, position=msgspec.structs.replace(position, path=path))
