"""Fuzzed faults and apps next to a scenario are linted without a crash."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import lint_file
from scenario_kit.lint.fix import fix_file
from scenario_kit.load.yaml.document import parse
from tests.fuzz.effort import effort
from tests.fuzz.mutation import LANGUAGE, add_comments, damage, dump_yaml, mutate

CATALOG = Catalog()
#: The app that is damaged.
APP = "otel-demo"
CHANCE = st.randoms(use_true_random=False)
SEEDS = [(path, parse(path.read_text(), "").data) for path in [*CATALOG.scenarios(), *LANGUAGE]]
#: A scenario in which nothing is broken has no faults.
FAULTY = [seed for seed in SEEDS if seed[1]["spec"].get("faults")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of one's own with one scenario, one fault beside it, and one app."""
    root = tmp_path_factory.mktemp("fuzz")
    shutil.copytree(find_data_root() / "templates" / "apps" / APP, root / "templates" / "apps" / APP)
    shutil.copytree(find_data_root() / "catalog" / "apps" / APP, root / "catalog" / "apps" / APP)
    return root


def assert_judged(path: Path, catalog: Catalog, notes: Sequence[str] = ()) -> None:
    for finding in lint_file(path, catalog):
        assert finding.position, finding
        assert finding.message
    result = fix_file(path, catalog)
    if result.new != result.old:
        parse(result.new.decode(), "")
        assert [note for note in notes if note not in result.new.decode()] == []


def spoil(text: str, random: Random) -> tuple[str, list[str]]:
    """The text with damage, or with changed values and comments, and the comments."""
    if random.random() < 0.3:
        return damage(text, random), []
    changed = dump_yaml(mutate(parse(text, "").data, random), random)
    document = _parse_or_none(changed)
    return add_comments(changed, random, lambda tried: document is not None and _parse_or_none(tried) == document)


def _parse_or_none(text: str) -> object:
    try:
        return parse(text, "").data
    except AuthoringError:
        return None


@effort(25)
@given(st.sampled_from(FAULTY), CHANCE)
def test_fault_beside_a_scenario(folder: Path, seed, random: Random) -> None:
    path, document = seed
    own = folder / "catalog" / "scenarios" / path.parent.name / "scenario.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, own)
    name = document["spec"]["faults"][0]["type"]
    text = CATALOG.fault_path(name, path).read_text()
    broken, notes = spoil(text, random)
    fault = own.parent / "faults" / name / "fault.yaml"
    fault.parent.mkdir(parents=True, exist_ok=True)
    fault.write_text(broken, encoding="utf-8", newline="")

    assert_judged(own, Catalog())
    assert_judged(fault, Catalog(), notes)


@effort(3)
@given(CHANCE)
def test_app_in_a_collection(folder: Path, random: Random) -> None:
    catalog = Catalog([folder, find_data_root()])
    own, app = folder / "scenario.yaml", folder / "catalog" / "apps" / APP / "app.yaml"
    text = (find_data_root() / "catalog" / "apps" / APP / "app.yaml").read_text()
    broken, notes = spoil(text, random)
    app.write_text(broken, encoding="utf-8", newline="")
    seed, _ = next(each for each in SEEDS if each[1]["spec"]["app"]["name"] == APP)
    shutil.copy(seed, own)

    assert_judged(own, catalog)
    assert_judged(app, catalog, notes)
