"""The first line of a scenario file, which names its schema for editors.

In a checkout of this project it is the generated schema. Elsewhere it is a copy beside the scenarios, so that
completion works offline, in every clone, and with the matching version of the format.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scenario_kit.catalog import Catalog
from scenario_kit.draft.completion import build_scenario_schema
from scenario_kit.load.yaml.modeline import COPIES, IN_CHECKOUT, make_schema_path
from scenario_kit.model.json_document import format_json

_NAME: Final = "scenario.schema.json"


def build_schema_header(file: Path) -> tuple[str, Path | None]:
    """Return the line, and the path where a copy of the schema must be written; None if a schema exists."""
    folder = file.absolute().parent
    for parent in folder.parents:
        if (parent / IN_CHECKOUT / _NAME).is_file():
            return _format_line(make_schema_path(file, parent / IN_CHECKOUT / _NAME)), None
    copy = folder.parent / COPIES / _NAME
    return _format_line(make_schema_path(file, copy)), copy


def dump_schema(catalog: Catalog) -> str:
    """Return the schema with completions from the catalogue."""
    return format_json(build_scenario_schema(catalog))


def _format_line(path: str) -> str:
    return f"# yaml-language-server: $schema={path}\n"
