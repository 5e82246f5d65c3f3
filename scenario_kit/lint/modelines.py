"""SK170: the comment that leads an editor to the schema."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.opening import AnyCase
from scenario_kit.lint.rule import Problem, rule
from scenario_kit.load.edit import Schema
from scenario_kit.load.modeline import exists, find_schema, path_from
from scenario_kit.model import Position, Severity


@rule(
    "SK170",
    why="an editor that does not find the schema completes nothing and marks no mistake, without a word",
    bad="# yaml-language-server: $schema=../schema/scenario.schema.json   # the file was moved",
    good="# yaml-language-server: $schema=../../../schema/scenario.schema.json",
    fix="write the path of the schema, relative to the file",
    repair="writes the path of the schema, where one lies in `schema` or `.schema` of a folder above",
    severity=Severity.WARNING,
    about=("Scenario", "Fault", "App", "Pack"),
)
def schema_missing(case: AnyCase) -> Iterator[Problem]:
    """The schema that the file names for editors does not exist."""
    named = case.positions.modeline
    if named is None or "://" in named.schema or exists(case.path, named.schema):
        return
    schema = find_schema(case.path, f"{case.kind.lower()}.schema.json")
    if schema is None:
        return
    path = path_from(case.path, schema)
    yield Problem(
        (),
        "there is no schema at the path that the file names for editors",
        named.schema,
        path,
        f"write `$schema={path}`",
        position=Position(path=case.positions.path, line=named.line + 1, column=named.column + 1),
        edits=(Schema(path),),
    )
