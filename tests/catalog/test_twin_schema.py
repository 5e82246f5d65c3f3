"""The editor schema of ``twin.yaml`` agrees with the loader and describes every field."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft7Validator

from scenario_kit.catalog import Catalog
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model.twin import DefinitionError, decode
from tests.lab.twin.tiny import TWIN
from tools.pages.twin_reference import list_fields, list_twin_types, render_twin_page
from tools.pages.twin_schema import build_twin_schema

CATALOG = Catalog()
SCHEMA = build_twin_schema()
VALIDATOR = Draft7Validator(SCHEMA)


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, part in schema.get("properties", {}).items():
        yield f"{path}.{name}", part
    for name, part in schema.get("definitions", {}).items():
        yield from properties(part, name)


def test_every_field_is_described() -> None:
    assert not [
        f"{kind.__name__}.{f.name}" for kind in list_twin_types() for f in list_fields(kind) if not f.description
    ]
    assert not [kind.__name__ for kind in list_twin_types() if not kind.__doc__]
    assert not [path for path, part in properties(SCHEMA) if not part.get("description")]


def test_unit_suffixes_match_declared_units() -> None:
    units = {"Seconds": "s", "Ms": "ms", "Mib": "MiB", "Millicores": "millicores", "Bytes": "bytes", "Cores": "cores"}
    for kind in list_twin_types():
        for field in list_fields(kind):
            named = next((unit for word, unit in units.items() if field.name.endswith(word)), "")
            assert not named or field.unit == named, f"{kind.__name__}.{field.name}"


def test_page_has_a_row_per_field() -> None:
    page = render_twin_page()
    for kind in list_twin_types():
        section = page.partition(f"\n## {kind.__name__}\n")[2].partition("\n## ")[0]
        assert section.count("\n| `") == len(list_fields(kind)), kind.__name__
    assert "``" not in page
    assert "| `timeoutSeconds` | Timeout of a call; 0 waits forever. | number | s | ≥ 0, ≤ 31,536,000 | `0.0` |" in page


@pytest.mark.parametrize("name", CATALOG.apps())
def test_twins_of_the_catalogue_fit_the_schema(name: str) -> None:
    document = read_document(CATALOG.app_path(name).with_name("twin.yaml")).data
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        (lambda t: None, True),
        (lambda t: t["edges"][0].update(timeoutSeconds="$boxSeconds"), True),
        (lambda t: t["load"].update(thinkSeconds=["$boxSeconds", 9]), True),
        (lambda t: t["components"]["api"].update(start=None), False),
        (lambda t: t.update(flags=None), True),
        (lambda t: t["components"]["api"]["operations"]["Read"]["steps"][0].update(times="rows"), True),
        (lambda t: t["components"]["api"].update(idleMilicores=3), False),
        (lambda t: t["components"]["api"].update(cpuMs="fast"), False),
        (lambda t: t["components"]["api"].update(cpuMs=-1), False),
        (lambda t: t["components"]["api"]["operations"]["Read"].update(cpuMs=-1), False),
        (lambda t: t["components"]["api"].update(backgroundError=1.5), False),
        (lambda t: t["components"]["box"].update(ports=[{"number": 70000}]), False),
        (lambda t: t["components"]["api"].pop("image"), False),
        (lambda t: t["load"].update(thinkSeconds=[1, 2, 3]), False),
        (lambda t: t["edges"][1].update(protocol="grpcs"), False),
        (lambda t: t["edges"][1].update(connectTimeoutSeconds=-1), True),
        (lambda t: t["components"]["api"]["start"]["dependencies"][0].update(code=256), False),
        (lambda t: t.pop("load"), False),
    ],
)
def test_schema_and_loader_accept_the_same(change: Change, fits: bool) -> None:
    twin = copy.deepcopy(TWIN)
    change(twin)
    assert VALIDATOR.is_valid(twin) is fits
    if fits:
        decode(twin)
    else:
        with pytest.raises(DefinitionError):
            decode(twin)


@pytest.mark.parametrize(
    ("part", "fits"),
    [
        ({"load": {"thinkSeconds": [1, 2]}}, True),
        ({"components": {"api": {"cpuMs": 2}, "new": {"image": "x"}}}, True),
        ({"edges": [{"caller": "a"}]}, False),
        ({"components": {"api": {"cpuMilliseconds": 2}}}, False),
        ({"versions": {}}, False),
    ],
)
def test_version_section_may_omit_shared_keys(part: dict[str, Any], fits: bool) -> None:
    assert VALIDATOR.is_valid({**TWIN, "versions": {"1.0": part}}) is fits
