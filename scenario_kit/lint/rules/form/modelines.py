"""SK170: the comment that names the schema for editors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scenario_kit.lint.context.discovery import AnyCase
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Schema
from scenario_kit.load.yaml.modeline import Modeline, exists, find_modeline, find_schema, make_schema_path
from scenario_kit.model import Position


@register_check("SK170", "Scenario", "Fault", "App", "Pack")
def check_schema_path(case: AnyCase) -> Iterator[Problem]:
    if named := case.positions.modeline:
        for path in _find_right_path(case.path, named, case.kind):
            yield _build_problem(named, path, case.positions.path)._replace(edits=(Schema(path),))
    twin = case.path.with_name("twin.yaml")
    if case.kind == "App" and (named := _read_modeline(twin)):
        for path in _find_right_path(twin, named, "Twin"):
            yield _build_problem(named, path, str(twin))


def _find_right_path(file: Path, named: Modeline, kind: str) -> Iterator[str]:
    """Yield the right path of the schema if the comment names a missing file."""
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
        "the comment for editors names a schema that does not exist",
        named.schema,
        path,
        f"write `$schema={path}`",
        position=Position(path=file, line=named.line + 1, column=named.column + 1),
    )
