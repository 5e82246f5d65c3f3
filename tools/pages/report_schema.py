"""The published JSON Schemas of ``report.json`` and ``evidence.json``, derived from their types."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from scenario_kit.model import Value
from scenario_kit.model.results.evidence import EVIDENCE_VERSION, Evidence
from scenario_kit.report.document import SCHEMA_VERSION, Report


def build_report_schema() -> dict[str, Any]:
    """Build the JSON Schema (draft 2020-12) of ``report.json``; its version is ``schemaVersion`` in every report."""
    return _build_schema(Report, f"scenario-kit report, version {SCHEMA_VERSION}")


def build_evidence_schema() -> dict[str, Any]:
    """Build the JSON Schema (draft 2020-12) of ``evidence.json``, versioned in the same way."""
    return _build_schema(Evidence, f"scenario-kit evidence, version {EVIDENCE_VERSION}")


def _build_schema(of: type[Value], title: str) -> dict[str, Any]:
    schema = msgspec.json.schema(of, schema_hook=_describe_text)
    definitions = schema["$defs"]
    for definition in definitions.values():
        # Python before 3.13 keeps the indentation of docstrings; the schema must not depend on the version.
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    body = definitions.pop(of.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **body,
        "title": title,
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _describe_text(_of: type) -> dict[str, Any]:
    """Describe a value with a text form, such as a reference."""
    return {"type": "string"}
