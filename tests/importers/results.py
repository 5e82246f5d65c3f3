"""Import an example or a text, and read its draft and its decisions."""

from __future__ import annotations

from pathlib import Path

import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.importers import FORMATS, ImportResult, InputFile, read_inputs, run_import

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "import"
INPUTS = {
    "itbench": EXAMPLES / "itbench",
    "sregym": EXAMPLES / "sregym.py",
    "aiopslab": EXAMPLES / "aiopslab.py",
    "litmus": EXAMPLES / "litmus.yaml",
    "chaos-mesh": EXAMPLES / "chaos-mesh.yaml",
    "krkn": EXAMPLES / "krkn.yaml",
    "promrules": EXAMPLES / "rules.yaml",
}


def import_text(format: str, catalog: Catalog, text: str = "", path: str = "input.yaml", **more: str) -> ImportResult:
    files = [InputFile(path, text)] if text else read_inputs(INPUTS[format], FORMATS[format].endings)
    return run_import(format, files, catalog, **more)


def spec(result: ImportResult, number: int = 0) -> dict:
    return yaml.safe_load(result.drafts[number].text)["spec"]


def decision(result: ImportResult, place: str):
    (found,) = [each for each in result.decisions if each.place == place]
    return found
