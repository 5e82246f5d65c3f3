"""SK170: the comment that leads an editor to the schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scenario_kit.lint.context.discovery import AnyCase
from scenario_kit.lint.framework.rule import Problem, register_rule
from scenario_kit.load.yaml.edit import Schema
from scenario_kit.load.yaml.modeline import Modeline, exists, find_modeline, find_schema, make_schema_path
from scenario_kit.model import Position, Severity


@register_rule(
    "SK170",
    why="an editor that does not find the schema completes nothing and marks no mistake, without a word",
    bad="# yaml-language-server: $schema=../schema/scenario.schema.json   # the file was moved",
    good="# yaml-language-server: $schema=../../../schema/scenario.schema.json",
    fix="write the path of the schema, relative to the file",
    repair="writes the path of the schema, where one lies in `schema` or `.schema` of a folder above",
    severity=Severity.WARNING,
    about=("Scenario", "Fault", "App", "Pack"),
)
def check_schema_path(case: AnyCase) -> Iterator[Problem]:
    """The schema that the file names for editors does not exist."""
    if named := case.positions.modeline:
        for path in _find_right_path(case.path, named, case.kind):
            yield _build_problem(named, path, case.positions.path)._replace(edits=(Schema(path),))
    twin = case.path.with_name("twin.yaml")
    if case.kind == "App" and (named := _read_modeline(twin)):
        for path in _find_right_path(twin, named, "Twin"):
            yield _build_problem(named, path, str(twin))


def _find_right_path(file: Path, named: Modeline, kind: str) -> Iterator[str]:
    """Find the path that the comment has to name, where what it names does not exist."""
    if "://" in named.schema or exists(file, named.schema):
        return
    schema = find_schema(file, f"{kind.lower()}.schema.json")
    if schema is not None:
        yield make_schema_path(file, schema)


def _read_modeline(file: Path) -> Modeline | None:
    return find_modeline(file.read_text(encoding="utf-8", errors="replace")) if file.is_file() else None


def _build_problem(named: Modeline, path: str, file: str) -> Problem:
    return Problem(
        (),
        "there is no schema at the path that the file names for editors",
        named.schema,
        path,
        f"write `$schema={path}`",
        position=Position(path=file, line=named.line + 1, column=named.column + 1),
    )
