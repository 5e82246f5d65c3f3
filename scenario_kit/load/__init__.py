"""Load scenarios, faults and apps from YAML. All mistakes are reported at once, with line and column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.app_lists import find_list_mistakes
from scenario_kit.load.disk_cache import cache_json
from scenario_kit.load.folders import list_below
from scenario_kit.load.options import find_option_mistakes, report_contradictions
from scenario_kit.load.path_suggestions import COLLECTIONS, suggest_path
from scenario_kit.load.schema.former_names import find_former_names
from scenario_kit.load.schema.schemas import check_schema
from scenario_kit.load.schema.validation import LocatedFinding, find_mistakes, report_former_names
from scenario_kit.load.yaml.document import Document, Positions, parse, read_document
from scenario_kit.load.yaml.edit import Put
from scenario_kit.load.yaml.object_positions import ObjectPositions
from scenario_kit.model import FaultType, Finding, Object, Position, Scenario, ScenarioSpec, Severity
from scenario_kit.model.json_document import Place, get_part
from scenario_kit.schema import build_authoring_schema, source

__all__ = [
    "COLLECTIONS", "Loaded", "LoadedFault", "LocatedFinding", "Mistaken", "Position", "Positions", "parse_app",
    "parse_fault", "load_app", "load_fault", "load_pack", "load_scenario", "suggest_path", "parse_pack", "read_plan",
    "read_scenario", "find_scenario_files", "parse_scenario_object", "get_schema",
]  # fmt: skip


#: The name of a scenario's file.
_SCENARIO: Final = "scenario.yaml"


class Mistaken(AuthoringError):
    """A file that does not match its schema; ``mistakes`` include the edits that fix them."""

    def __init__(self, message: str, mistakes: Sequence[LocatedFinding]) -> None:
        super().__init__(message, [mistake.finding for mistake in mistakes])
        self.mistakes = tuple(mistakes)


class Loaded(NamedTuple):
    """A scenario, and the positions of its fields."""

    scenario: Scenario
    positions: Positions


class LoadedFault(NamedTuple):
    """A fault of the catalogue, and the positions of its fields."""

    fault: FaultType
    positions: Positions


def find_scenario_files(paths: Sequence[Path]) -> list[Path]:
    """List the scenario files that paths denote: a file itself, every ``scenario.yaml`` in a folder.

    Raises:
        UsageError: a path does not exist, or a folder contains no scenario.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"there is no {path}", fix=suggest_path(path) or "name a scenario file, or a folder with scenarios"
            )
        files = list_below(path, lambda _, name: name == _SCENARIO, _SCENARIO) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"{path} contains no scenario.yaml", fix="name a folder that does, or a scenario file")
        found |= dict.fromkeys(files)
    return list(found)


def load_scenario(path: Path) -> Loaded:
    """Load a scenario file.

    Raises:
        UsageError: there is no such file.
        AuthoringError: the file is invalid; with all mistakes as findings.
    """
    return _build_scenario(read_document(path))


def read_scenario(text: str, path: str) -> Loaded:
    """Parse a scenario; ``path`` is used in positions. Raises as ``load_scenario``."""
    return _build_scenario(parse(text, path))


def _build_scenario(document: Document) -> Loaded:
    _is_a("Scenario", document)
    data = _check_document("Scenario", document)
    for place, definition in _list_held_types(data["spec"]):
        parameters = check_schema(definition.get("parameters", {}), document.positions, (*place, "parameters"))
        _raise(document, [LocatedFinding(finding) for finding in parameters])
    return Loaded(
        Scenario(name=data["metadata"]["name"], spec=ScenarioSpec.from_json(data["spec"])), document.positions
    )


def _list_held_types(spec: Object) -> Iterator[tuple[Place, Object]]:
    """List the fault types that a scenario holds, each with its place."""
    for i, definition in enumerate(spec.get("faultTypes") or ()):
        yield ("spec", "faultTypes", i), definition


def _find_held_mistakes(obj: Object) -> list[Finding]:
    """Find what is wrong with the fault types that an object holds: the API server has not looked inside."""
    positions, found = ObjectPositions(f"Scenario/{obj['metadata']['name']}"), list[Finding]()
    for place, definition in _list_held_types(obj["spec"]):
        mistakes = [
            m.finding for m in find_mistakes(definition, get_schema("Fault"), positions, place) if not m.follows
        ]
        schema = definition.get("parameters", {})
        found += mistakes or check_schema(schema, positions, (*place, "parameters"))
    return found


def parse_scenario_object(obj: Object) -> Scenario:
    """Parse a Scenario object from the API server, which has validated it.

    Raises:
        AuthoringError: another version of the format wrote it.
    """
    name, spec = obj["metadata"]["name"], obj["spec"]
    position = Position(path=f"Scenario/{name}")
    schema = build_authoring_schema("Scenario")["properties"]["spec"]
    if former := tuple(find_former_names(spec, schema, ("spec",))):
        reported = report_former_names(former, Positions(position.path))
        found = [msgspec.structs.replace(m.finding, position=position, fixable=False) for m in reported]
        raise AuthoringError(f"Scenario/{name} has fields with former names: {found[0].message}", found)
    if mistaken := _find_held_mistakes(obj):
        raise AuthoringError(f"Scenario/{name} holds a fault type that is none: {mistaken[0].message}", mistaken)
    try:
        return Scenario(name=name, spec=ScenarioSpec.from_json(spec))
    except msgspec.ValidationError as error:
        raise AuthoringError(
            f"Scenario/{name} cannot be read: {error}",
            [
                _build_error(
                    "SK104", str(error), position, "apply it again from a file that `scenario-kit lint` accepts"
                )
            ],
        ) from error


def load_fault(path: Path) -> LoadedFault:
    """Load a ``fault.yaml`` without rendering its templates. Raises as ``load_scenario``."""
    return parse_fault(read_document(path))


def parse_fault(document: Document) -> LoadedFault:
    """Parse a fault; raises as ``load_fault``, except for the file."""
    data = _check_document("Fault", document)
    schema = data.get("parameters", {})
    _raise(document, [LocatedFinding(f) for f in check_schema(schema, document.positions, ("parameters",))])
    _raise(document, [LocatedFinding(f) for f in report_contradictions(schema, document.positions, ("parameters",))])
    return LoadedFault(FaultType.from_json(data), document.positions)


def load_app(path: Path) -> Object:
    """Load and validate an ``app.yaml``. Raises as ``load_scenario``."""
    return parse_app(read_document(path))


def read_plan(path: Path) -> tuple[Object, Positions]:
    """Load and validate a custom plan, with positions. Raises as ``load_scenario``."""
    document = read_document(path)
    return _check_document("Plan", document), document.positions


def parse_app(document: Document) -> Object:
    """Validate an app; raises as ``load_app``, except for the file."""
    data = _check_document("App", document)
    places: list[Place] = [("options",), *(("versions", version, "options") for version in data["versions"])]
    broken: list[LocatedFinding] = []
    for place in places:
        schema = get_part(data, place) or {}
        broken += [LocatedFinding(finding) for finding in check_schema(schema, document.positions, place)]
    _raise(document, broken)
    found = (*find_option_mistakes(data, document.positions), *find_list_mistakes(data, document.positions))
    _raise(document, [LocatedFinding(finding) for finding in found])
    return data


def load_pack(path: Path) -> Object:
    """Load and validate an alert pack. Raises as ``load_scenario``."""
    return parse_pack(read_document(path))


def parse_pack(document: Document) -> Object:
    """Validate an alert pack, a rule file or a PrometheusRule object; raises as ``load_pack``."""
    data = document.data if isinstance(document.data, dict) else {}
    if "tests" in data and "groups" not in data:
        reported = "the file contains tests of rules, but no rules"
        fix = f"put it in tests/<pack>.yaml, not in {Path(document.positions.path).name}"
        _raise(document, [LocatedFinding(_build_error("SK104", reported, document.positions.key("tests"), fix))])
    wrapped = "kind" in data
    return _check_document("PrometheusRule" if wrapped else "Pack", document)


def get_schema(kind: str) -> Object:
    """Return ``build_authoring_schema``, cached on disk: building a schema takes longer than validating a file."""
    if kind not in _SCHEMAS:
        files = [*source.FOLDER.glob("*.yaml"), *Path(source.__file__).parent.glob("*.py")]
        _SCHEMAS[kind] = cache_json(f"schema-{kind}", files, (), lambda: build_authoring_schema(kind))
    return _SCHEMAS[kind]


_SCHEMAS: dict[str, Object] = {}


def _is_a(kind: str, document: Document) -> None:
    """Check the kind first: one finding on a wrong kind is clearer than many on unknown fields."""
    data = document.data
    if isinstance(data, dict) and "kind" in data and data["kind"] != kind:
        message = f"the file contains a '{data['kind']}', not a '{kind}'"
        reported = _build_error("SK104", message, document.positions.value("kind"), f"write `kind: {kind}`")
        _raise(document, [LocatedFinding(reported, (Put(("kind",), kind),))])


def _check_document(kind: str, document: Document) -> Object:
    _raise(document, find_mistakes(document.data, get_schema(kind), document.positions))
    data: Object = document.data
    return data


def _build_error(code: str, message: str, at: Position, fix: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, message=message, position=at, fix=fix)


def _raise(document: Document, found: Sequence[LocatedFinding]) -> None:
    all_ = [*(LocatedFinding(finding) for finding in document.findings), *found]
    if all_:
        count = "1 mistake" if len(all_) == 1 else f"{len(all_)} mistakes"
        raise Mistaken(f"{document.positions.path}: {count}", all_)
