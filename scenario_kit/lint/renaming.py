"""Rename fields that have former names: the one fix that needs neither the catalogue nor a check of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.discovery import TWIN, classify_file
from scenario_kit.load import get_schema
from scenario_kit.load.schema.former_names import FormerName, find_former_names, list_renames
from scenario_kit.load.schema.validation import report_former_names
from scenario_kit.load.twin import list_former_names
from scenario_kit.load.yaml.document import parse
from scenario_kit.load.yaml.edit import Unfit, apply_renames
from scenario_kit.model import Finding


class Renamed(NamedTuple):
    """A text with current names, and the findings on the former ones."""

    text: str
    corrected: tuple[Finding, ...] = ()


def rename_former(text: str, path: Path) -> Renamed:
    """Rename all former fields; if one cannot be renamed, none is.

    Args:
        text: content of the file.
        path: the file; its name determines its kind.
    """
    try:
        document = parse(text, str(path))
        found = _list_former_names(document.data, path)
        renames = list_renames(found)
        renamed = apply_renames(text, renames) if renames else text
    except (AuthoringError, Unfit):  # lint reports it
        return Renamed(text)
    if renamed == text:
        return Renamed(text)
    code = "SK138" if path.name == TWIN else "SK102"
    corrected = report_former_names(found, document.positions, code)
    return Renamed(renamed, tuple(mistake.finding for mistake in corrected))


def _list_former_names(data: Any, path: Path) -> tuple[FormerName, ...]:
    if path.name == TWIN:
        return list_former_names(data)
    return tuple(find_former_names(data, get_schema(classify_file(path))))
