"""The published JSON Schema of ``report.json``, derived from the values that are written."""

from __future__ import annotations

from typing import Any

import msgspec

from scenario_kit.report.document import SCHEMA_VERSION, Report


def report_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of ``report.json``; its version is ``schemaVersion`` in every report."""
    schema = msgspec.json.schema(Report)
    definitions = schema["$defs"]
    body = definitions.pop("Report")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **body,
        "title": f"scenario-kit report, version {SCHEMA_VERSION}",
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }
