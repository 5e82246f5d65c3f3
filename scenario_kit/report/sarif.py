"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from msgspec import structs

from scenario_kit import __version__
from scenario_kit.lint import RULES
from scenario_kit.model import Finding, Position
from scenario_kit.report.document import Report


def render(report: Report) -> str:
    """Render all findings of a validation; those without a position point to the start of the file."""
    file_start = Position(path=report.validation.path, line=1, column=1)
    placed = [f if f.position else structs.replace(f, position=file_start) for f in report.validation.findings]
    return json.dumps(build_log(placed), indent=2, ensure_ascii=False)


def build_log(findings: Sequence[Finding], folder: Path | None = None) -> dict[str, object]:
    """Build a SARIF log; paths are relative to the repository, else to ``folder`` (default: the working directory)."""
    root = find_root(folder or Path.cwd())
    codes = sorted({f.code for f in findings})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": RULES[code].title},
            "fullDescription": {"text": RULES[code].why},
            "help": {"text": f"{RULES[code].fix}. See `scenario-kit explain {code}`."},
            "defaultConfiguration": {"level": _map_severity(RULES[code].severity)},
        }
        for code in codes
    ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "scenario-kit", "version": __version__, "rules": rules}},
                "results": [_build_result(finding, codes.index(finding.code), root) for finding in findings],
            }
        ],
    }


def _map_severity(severity: str) -> str:
    return {"Error": "error", "Warning": "warning"}.get(severity, "note")


def find_root(folder: Path) -> Path:
    """Return the root of the checkout that contains the folder, else the folder itself."""
    resolved = folder.resolve()
    return next((parent for parent in (resolved, *resolved.parents) if (parent / ".git").exists()), resolved)


def _relativise(path: str, root: Path) -> str:
    """Make a path relative to the repository root; paths outside are returned as is."""
    absolute = Path(path).resolve()
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else Path(path).as_posix()


def _build_result(finding: Finding, rule: int, root: Path) -> dict[str, object]:
    text = finding.message + (f". Fix: {finding.fix}" if finding.fix else "")
    result: dict[str, object] = {
        "ruleId": finding.code, "ruleIndex": rule, "level": _map_severity(finding.severity), "message": {"text": text}
    }  # fmt: skip
    if finding.position:
        result["locations"] = [_build_location(finding.position, root)]
    if finding.related:
        result["relatedLocations"] = [_build_location(at, root) for at in finding.related]
    return result


def _build_location(at: Position, root: Path) -> dict[str, object]:
    region = {"startLine": max(at.line, 1), "startColumn": max(at.column, 1)}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(_relativise(at.path, root))}, "region": region}}
