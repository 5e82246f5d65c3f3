"""The committed evidence of scenarios: ``evidence.json`` beside ``scenario.yaml``. Only `ci/evidence` writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.model.results.evidence import EVIDENCE_VERSION, Evidence, Fingerprint

FILE: Final = "evidence.json"
#: One summary is a few kilobytes; whatever is bigger is none.
_MOST_BYTES: Final = 200_000


def read_evidence(scenario: Path) -> Evidence | None:
    """Read the evidence beside a scenario's file, or None where there is none.

    Raises:
        AuthoringError: there is a file, but it is no evidence.
    """
    path = scenario.with_name(FILE)
    if not path.is_file():
        return None
    fix = "take the file back to what it is on the base, or run ci/evidence"
    if path.stat().st_size > _MOST_BYTES:
        raise AuthoringError(f"{path} has more than {_MOST_BYTES} bytes", fix=fix)
    try:
        return Evidence.from_json(json.loads(path.read_bytes()))
    except (ValueError, RecursionError, msgspec.ValidationError) as problem:
        raise AuthoringError(f"{path} is no evidence: {problem}", fix=fix) from problem


def read_fingerprints(scenarios: Iterable[Path]) -> dict[str, Fingerprint]:
    """Read what these incidents look like to a solver, by name; those without readable evidence are left out."""
    found = {}
    for path in scenarios:
        try:
            evidence = read_evidence(path)
        except AuthoringError:  # `lint` tells of it (SK607); it is no reason not to judge another scenario
            continue
        if evidence is not None and evidence.fingerprint is not None:
            found[evidence.scenario] = evidence.fingerprint
    return found


def write_evidence(scenario: Path, evidence: Evidence) -> Path:
    """Write the evidence beside a scenario's file, all of it or nothing; answers where."""
    path = scenario.with_name(FILE)
    document = {"schemaVersion": EVIDENCE_VERSION} | evidence.to_json() | {"failures": evidence.failures}
    temporary = path.with_name(f".{FILE}.new")
    temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)
    return path
