"""Authored files as they were before fields were renamed: ``lint --fix`` rewrites them, and they mean the same."""

from __future__ import annotations

import dataclasses
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import msgspec.structs
import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli import run
from scenario_kit.load import load_scenario
from scenario_kit.render import render_app, resolve
from scenario_kit.render.faults.applicability import Offer
from scenario_kit.render.faults.first_offer import find_first_offer

BEFORE = Path(__file__).parents[1] / "fixtures" / "before"
FILES = sorted(path.relative_to(BEFORE) for path in BEFORE.rglob("*.yaml"))
SCENARIOS = [path for path in FILES if path.name == "scenario.yaml"]
FAULTS = [path for path in FILES if path.parts[:2] == ("catalog", "faults")]
APPS = [path for path in FILES if path.name == "app.yaml"]
TODAY = Catalog([find_data_root()])


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with the files as they were."""
    root = tmp_path_factory.mktemp("before")
    for folder in ("catalog", "templates"):
        shutil.copytree(find_data_root() / folder, root / folder)
    shutil.copytree(BEFORE, root, dirs_exist_ok=True)
    return root


def _lint(root: Path, *options: str) -> tuple[int, str]:
    paths = [str(root / path) for path in (*SCENARIOS, *FAULTS, *APPS)]
    beside = [str(root / path) for path in FILES if path.name == "fault.yaml" and path not in FAULTS]
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        code = run(["lint", *options, *paths, *beside])
    return code, out.getvalue()


@pytest.fixture(scope="module")
def fixed(old: Path) -> Catalog:
    """The collection after it was fixed."""
    code, found = _lint(old, "--format", "json")
    assert code == 1
    reported = {Path(f["position"]["path"]).relative_to(old) for f in json.loads(found)["findings"]}
    written = {path for path in FILES if path.name != "app.yaml"}
    assert written <= reported, "each file with former names has a finding"
    before = {path: (old / path).read_text() for path in FILES}

    assert _lint(old, "--diff")[0] == 1
    assert before == {path: (old / path).read_text() for path in FILES}, "--diff writes nothing"
    assert _lint(old, "--fix")[0] == 0
    after = {path: (old / path).read_text() for path in FILES}
    assert {path for path in FILES if before[path] != after[path]} == written
    assert [len(text.splitlines()) for text in before.values()] == [len(text.splitlines()) for text in after.values()]
    assert _lint(old, "--fix")[0] == 0
    assert after == {path: (old / path).read_text() for path in FILES}, "a second time changes nothing"
    return Catalog([old])


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.parent.name)
def test_migrated_scenario_is_the_same_incident(path: Path, fixed: Catalog) -> None:
    file, today = fixed.roots[0] / path, find_data_root() / path

    scenario = load_scenario(file).scenario

    assert scenario.spec == load_scenario(today).scenario.spec
    made, expected = (
        resolve(each, catalog, "app", beside=where.parent)
        for each, catalog, where in (
            (scenario, fixed, file),
            (load_scenario(today).scenario, TODAY, today),
        )
    )
    assert made.digest == expected.digest
    assert made.to_json() == expected.to_json()


@pytest.mark.parametrize("app", [path.parent.name for path in APPS])
@pytest.mark.parametrize("fault", [path.parent.name for path in FAULTS])
def test_migrated_fault_renders_identically(fault: str, app: str, fixed: Catalog) -> None:
    made, expected = (
        find_first_offer(catalog.fault(fault), catalog.app(app, catalog.versions(app)[0]), catalog)
        for catalog in (fixed, TODAY)
    )
    assert _strip_digest(made) == _strip_digest(expected)


def _strip_digest(offer: Offer | None) -> Offer | None:
    """Return the offer without the digest of its fault: it is over the text, which may say the same in another way."""
    if offer is None or offer.fault is None:
        return offer
    return dataclasses.replace(offer, fault=msgspec.structs.replace(offer.fault, digest=""))


@pytest.mark.parametrize("name", [path.parent.name for path in APPS])
def test_migrated_app_renders_identically(name: str, fixed: Catalog) -> None:
    for version in TODAY.versions(name):
        app, today = fixed.app(name, version), TODAY.app(name, version)
        assert app == today
        assert app.twin is not None
        assert render_app(app, {}, 10, "shop", templates=fixed.templates(name)) == render_app(
            today, {}, 10, "shop", templates=TODAY.templates(name)
        )
