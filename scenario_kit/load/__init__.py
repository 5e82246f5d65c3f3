"""YAML to values: ``load_scenario``, ``load_fault``, ``load_app``. All mistakes at once, with line and column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.disk_cache import cache_json
from scenario_kit.load.folders import list_below
from scenario_kit.load.schema.former_names import find_former_names
from scenario_kit.load.schema.schemas import check_schema
from scenario_kit.load.schema.suggest import COLLECTIONS, did_you_mean, suggest, suggest_path
from scenario_kit.load.schema.validation import LocatedFinding, find_mistakes, report_former_names
from scenario_kit.load.yaml.document import Document, Path_, Positions, parse, read_document
from scenario_kit.load.yaml.edit import Put
from scenario_kit.model import FaultType, Finding, Object, Position, Scenario, ScenarioSpec, Severity
from scenario_kit.schema import build_authoring_schema, source

__all__ = [
    "COLLECTIONS", "Loaded", "LoadedFault", "LocatedFinding", "Mistaken", "Position", "Positions", "parse_app",
    "did_you_mean", "parse_fault", "load_app", "load_fault", "load_pack", "load_scenario", "suggest_path", "pack_in",
    "read_plan", "read_scenario", "find_scenario_files", "parse_scenario_object", "get_schema", "suggest",
]  # fmt: skip


#: What the file of a scenario is called.
_SCENARIO: Final = "scenario.yaml"


class Mistaken(AuthoringError):
    """A file that does not have the shape of what it should hold; ``find_mistakes`` also tell how to correct them."""

    def __init__(self, message: str, mistakes: Sequence[LocatedFinding]) -> None:
        super().__init__(message, [mistake.finding for mistake in mistakes])
        self.mistakes = tuple(mistakes)


class Loaded(NamedTuple):
    """A scenario, and where its fields stand in the file."""

    scenario: Scenario
    positions: Positions


class LoadedFault(NamedTuple):
    """A fault of the catalogue, and where its fields stand in the file."""

    fault: FaultType
    positions: Positions


def find_scenario_files(paths: Sequence[Path]) -> list[Path]:
    """Find the scenario files that paths mean: a file itself, every ``scenario.yaml`` below a folder.

    Raises:
        UsageError: a path does not exist, or a folder holds no scenario.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"there is no {path}", fix=suggest_path(path) or "name a scenario file, or a folder that holds some"
            )
        files = list_below(path, lambda _, name: name == _SCENARIO, _SCENARIO) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"{path} holds no scenario.yaml", fix="name a folder that does, or a scenario file")
        found |= dict.fromkeys(files)
    return list(found)


def load_scenario(path: Path) -> Loaded:
    """Load the scenario in a file.

    Raises:
        UsageError: there is no such file.
        AuthoringError: with every mistake of the file as a finding.
    """
    return _build_scenario(read_document(path))


def read_scenario(text: str, path: str) -> Loaded:
    """Read the scenario in a text; ``path`` is what positions show. Raises as ``load_scenario``."""
    return _build_scenario(parse(text, path))


def _build_scenario(document: Document) -> Loaded:
    _is_a("Scenario", document)
    data = _check_document("Scenario", document)
    return Loaded(
        Scenario(name=data["metadata"]["name"], spec=ScenarioSpec.from_json(data["spec"])), document.positions
    )


def parse_scenario_object(obj: Object) -> Scenario:
    """Parse the scenario in an object that the API server stored (its schema has judged it).

    Raises:
        AuthoringError: another version of the format wrote the object.
    """
    name, spec = obj["metadata"]["name"], obj["spec"]
    position = Position(path=f"Scenario/{name}")
    schema = build_authoring_schema("Scenario")["properties"]["spec"]
    if former := tuple(find_former_names(spec, schema, ("spec",))):
        reported = report_former_names(former, Positions(position.path))
        found = [msgspec.structs.replace(m.finding, position=position, fixable=False) for m in reported]
        raise AuthoringError(f"Scenario/{name} has fields with former names: {found[0].message}", found)
    try:
        return Scenario(name=name, spec=ScenarioSpec.from_json(spec))
    except msgspec.ValidationError as error:
        raise AuthoringError(
            f"Scenario/{name} cannot be read: {error}",
            [
                _build_error(
                    "SK104", str(error), position, "apply it again, from a file that `scenario-kit lint` accepts"
                )
            ],
        ) from error


def load_fault(path: Path) -> LoadedFault:
    """Load the fault in a ``fault.yaml``; its templates stay unrendered. Raises as ``load_scenario``."""
    return parse_fault(read_document(path))


def parse_fault(document: Document) -> LoadedFault:
    """Parse the fault in a document; raises as ``load_fault``, but for the file."""
    data = _check_document("Fault", document)
    schema = data.get("parameters", {})
    _raise(document, [LocatedFinding(f) for f in check_schema(schema, document.positions, ("parameters",))])
    return LoadedFault(FaultType.from_json(data), document.positions)


def load_app(path: Path) -> Object:
    """Load the document of an ``app.yaml``, checked. Raises as ``load_scenario``."""
    return parse_app(read_document(path))


def read_plan(path: Path) -> tuple[Object, Positions]:
    """Read the document of a plan of one's own, checked, and where its fields stand. Raises as ``load_scenario``."""
    document = read_document(path)
    return _check_document("Plan", document), document.positions


def parse_app(document: Document) -> Object:
    """Parse the app in a document, checked; raises as ``load_app``, but for the file."""
    data = _check_document("App", document)
    places: list[Path_] = [("options",), *(("versions", version, "options") for version in data["versions"])]
    broken: list[LocatedFinding] = []
    for place in places:
        schema = _get_part(data, place)
        broken += [LocatedFinding(finding) for finding in check_schema(schema, document.positions, place)]
        broken += _needs(schema, document.positions, place)
    _raise(document, broken)
    return data


def load_pack(path: Path) -> Object:
    """Load the document of an alert pack, checked. Raises as ``load_scenario``."""
    return pack_in(read_document(path))


def pack_in(document: Document) -> Object:
    """Return the alert pack in a document: a rule file, or a PrometheusRule object; raises as ``load_pack``."""
    data = document.data if isinstance(document.data, dict) else {}
    if "tests" in data and "groups" not in data:
        reported = "the file holds tests of rules, and no rules"
        fix = f"put it in tests/<pack>.yaml, not in {Path(document.positions.path).name}"
        _raise(document, [LocatedFinding(_build_error("SK104", reported, document.positions.key("tests"), fix))])
    wrapped = "kind" in data
    return _check_document("PrometheusRule" if wrapped else "Pack", document)


def get_schema(kind: str) -> Object:
    """Return ``schema.authoring``, kept on disk: putting the definitions together takes longer than judging a file by
    them.
    """
    if kind not in _SCHEMAS:
        files = [*source.FOLDER.glob("*.yaml"), *Path(source.__file__).parent.glob("*.py")]
        _SCHEMAS[kind] = cache_json(f"schema-{kind}", files, (), lambda: build_authoring_schema(kind))
    return _SCHEMAS[kind]


_SCHEMAS: dict[str, Object] = {}


def _is_a(kind: str, document: Document) -> None:
    """Check the kind first: a file of another kind is told so, instead of as a pile of unknown fields."""
    data = document.data
    if isinstance(data, dict) and "kind" in data and data["kind"] != kind:
        message = f"the file holds a '{data['kind']}', not a '{kind}'"
        reported = _build_error("SK104", message, document.positions.value("kind"), f"write `kind: {kind}`")
        _raise(document, [LocatedFinding(reported, (Put(("kind",), kind),))])


def _check_document(kind: str, document: Document) -> Object:
    _raise(document, find_mistakes(document.data, get_schema(kind), document.positions))
    data: Object = document.data
    return data


def _get_part(data: Object, place: Path_) -> Any:
    part: Any = data
    for key in place:
        part = part.get(key) or {}
    return part


def _needs(schema: Any, positions: Positions, place: Path_) -> Iterator[LocatedFinding]:
    """Return values of ``x-requires`` that are no lists of capabilities."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, part in properties.items() if isinstance(properties, dict) else ():
        needs = part.get("x-requires", {}) if isinstance(part, dict) else {}
        groups = needs.values() if isinstance(needs, dict) else [None]
        if not all(isinstance(group, list) and all(isinstance(need, str) for need in group) for group in groups):
            at = positions.value(*place, "properties", name, "x-requires")
            message = f"`x-requires` of option '{name}' does not say capabilities by value"
            yield LocatedFinding(_build_error("SK104", message, at, "x-requires: {<value>: [<capability>]}"))


def _build_error(code: str, message: str, at: Position, fix: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, message=message, position=at, fix=fix)


def _raise(document: Document, found: Sequence[LocatedFinding]) -> None:
    all_ = [*(LocatedFinding(finding) for finding in document.findings), *found]
    if all_:
        count = "1 mistake" if len(all_) == 1 else f"{len(all_)} mistakes"
        raise Mistaken(f"{document.positions.path}: {count}", all_)
