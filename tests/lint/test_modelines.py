"""SK170: the comment that names the schema for editors still names it after the file was moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import lint_file
from scenario_kit.lint.fix import fix_file
from scenario_kit.load.yaml.modeline import find_modeline, replace_schema

CATALOG = Catalog()
SCENARIO = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
FAULT = find_data_root() / "catalog" / "faults" / "service-target-port-wrong" / "fault.yaml"
APP = find_data_root() / "catalog" / "apps" / "otel-demo" / "app.yaml"
PACK = find_data_root() / "catalog" / "alerts" / "default.yaml"
HEAD = "# yaml-language-server: $schema="
LOST = "../lost/scenario.schema.json"


def write_copy(folder: Path, schema: str, source: Path = SCENARIO, *, place: str = "a/b") -> Path:
    """Write a copy of a catalogue file whose modeline names this schema."""
    path = folder / place / source.parent.name / source.name
    path.parent.mkdir(parents=True)
    text = source.read_text()
    path.write_text(replace_schema(text, schema) if find_modeline(text) else f"{HEAD}{schema}\n{text}")
    return path


def put_schema(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


@pytest.mark.parametrize(
    ("source", "schema", "path"),
    [
        (SCENARIO, "schema/scenario.schema.json", "../../../schema/scenario.schema.json"),
        (SCENARIO, ".schema/scenario.schema.json", "../../../.schema/scenario.schema.json"),
        (SCENARIO, "a/b/.schema/scenario.schema.json", "../.schema/scenario.schema.json"),
        (FAULT, "schema/fault.schema.json", "../../../schema/fault.schema.json"),
        (APP, "schema/app.schema.json", "../../../schema/app.schema.json"),
        (PACK, "schema/pack.schema.json", "../../../schema/pack.schema.json"),
    ],
)
def test_missing_schema_is_replaced_by_the_nearest(source: Path, schema: str, path: str, tmp_path: Path) -> None:
    put_schema(tmp_path, schema)
    file = write_copy(tmp_path, LOST, source)
    before = file.read_text()
    found = [f for f in lint_file(file, CATALOG) if f.code == "SK170"]

    assert [(f.severity.value.lower(), f.observed, f.expected, f.fixable) for f in found] == [
        ("warning", LOST, path, False)
    ]
    position = found[0].position
    assert position is not None
    assert before.splitlines()[position.line - 1][position.column - 1 :] == LOST
    fixed = fix_file(file, CATALOG)
    assert [f.code for f in fixed.corrected] == ["SK170"]
    assert fixed.new.decode() == before.replace(LOST, path)


def test_twin_file_next_to_an_app_is_checked(tmp_path: Path) -> None:
    put_schema(tmp_path, "schema/twin.schema.json")
    app = write_copy(tmp_path, "https://example.org/app.schema.json", APP)
    twin = app.with_name("twin.yaml")
    twin.write_text(f"# yaml-language-server: $schema={LOST}\n")
    (found,) = [f for f in lint_file(app, CATALOG) if f.code == "SK170"]

    assert (found.observed, found.expected, found.fixable) == (LOST, "../../../schema/twin.schema.json", False)
    assert found.position is not None
    assert (found.position.path, found.position.line) == (str(twin), 1)
    twin.write_text("# yaml-language-server: $schema=../../../schema/twin.schema.json\n")
    assert not [f for f in lint_file(app, CATALOG) if f.code == "SK170"]


@pytest.mark.parametrize("schema", ["https://example.org/scenario.schema.json", "../../../schema/scenario.schema.json"])
def test_url_and_existing_schema_give_no_finding(schema: str, tmp_path: Path) -> None:
    put_schema(tmp_path, "schema/scenario.schema.json")
    assert lint_file(write_copy(tmp_path, schema), CATALOG) == []


def test_no_finding_without_schema_in_parent_folders(tmp_path: Path) -> None:
    put_schema(tmp_path, "schema/fault.schema.json")
    assert lint_file(write_copy(tmp_path, LOST), CATALOG) == []


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        (f"{HEAD}a.json\nx: 1\n", "a.json"),
        (f"# licence\n\n{HEAD}a.json # ours\nx: 1\n", "a.json"),
        ("---\n#yaml-language-server: $schema=a.json\nx: 1\n", "a.json"),
        (f"x: 1\n{HEAD}a.json\n", None),
        (f"x: |\n  {HEAD}a.json\n", None),
        (f"{HEAD}{'a' * 501}\nx: 1\n", None),
        ("# yaml-language-server: $schema=\nx: 1\n", None),
        ("", None),
    ],
)
def test_comment_stands_above_the_content(text: str, schema: str | None) -> None:
    found = find_modeline(text)
    assert (found.schema if found else None) == schema
    assert replace_schema(text, "b.json") == (text.replace(schema, "b.json", 1) if schema else text)
