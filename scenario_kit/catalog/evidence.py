"""The committed evidence of scenarios, ``evidence.json`` next to ``scenario.yaml``, written only by `ci/evidence`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.load.atomic_file import replace_file
from scenario_kit.model.json_document import format_json
from scenario_kit.model.results.evidence import EVIDENCE_VERSION, Evidence, Fingerprint

FILE: Final = "evidence.json"
#: Maximum size; evidence takes a few kilobytes.
_MAX_BYTES: Final = 200_000


def read_evidence(scenario: Path) -> Evidence | None:
    """Read the evidence of a scenario; None if there is none.

    Raises:
        AuthoringError: the file is invalid.
    """
    path = scenario.with_name(FILE)
    if not path.is_file():
        return None
    fix = "restore the file from the base, or run ci/evidence"
    if path.stat().st_size > _MAX_BYTES:
        raise AuthoringError(f"{path} has more than {_MAX_BYTES} bytes", fix=fix)
    try:
        return Evidence.from_json(json.loads(path.read_bytes()))
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise AuthoringError(f"{path} is not valid evidence: {error}", fix=fix) from error


def read_fingerprints(scenarios: Iterable[Path]) -> dict[str, Fingerprint]:
    """Read the fingerprints of scenarios by name; those without valid evidence are omitted."""
    found = {}
    for path in scenarios:
        try:
            evidence = read_evidence(path)
        except AuthoringError:  # lint reports it (SK607); other scenarios are unaffected
            continue
        if evidence is not None and evidence.fingerprint is not None:
            found[evidence.scenario] = evidence.fingerprint
    return found


def write_evidence(scenario: Path, evidence: Evidence) -> Path:
    """Write the evidence of a scenario atomically and return its path."""
    path = scenario.with_name(FILE)
    document = {"schemaVersion": EVIDENCE_VERSION} | evidence.to_json() | {"failures": evidence.failures}
    replace_file(path, format_json(document).encode())
    return path
