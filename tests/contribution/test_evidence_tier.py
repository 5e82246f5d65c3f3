"""Lanes: what has to be run again, by what differs."""

import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.contribution import LaneName, choose_lane

FILE = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"


def scenario(edit=lambda spec: None):
    document = yaml.safe_load(FILE.read_text())
    edit(document["spec"])
    return document


def put(*path):
    """Build an edit that replaces the value at a path."""
    *way, last, value = path

    def edit(spec):
        for key in way:
            spec = spec[key]
        spec[last] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "name", "plan"),
    [
        (lambda spec: None, "L0", ""),
        (put("title", "Another title"), "L0", ""),
        (put("tags", ["x"]), "L0", ""),
        (put("app", "version", "9.0.0"), "L1", "quick"),
        (put("app", "version", "1.0.0"), "L3", "standard"),
        (put("app", "version", "2.2"), "L3", "standard"),
        (put("app", "version", "2.2.0.1"), "L1", "quick"),
        (put("app", "version", "2.10.0"), "L1", "quick"),
        (put("app", "version", "02.2.0"), "L3", "standard"),  # another spelling of the same
        (put("app", "version", "3.12345678"), "L1", "quick"),
        (put("app", "version", "3.123456789"), "L3", "standard"),
        (put("app", "version", "3.\u0663"), "L3", "standard"),
        (put("app", "version", "3.-1"), "L3", "standard"),
        (put("app", "version", "main"), "L3", "standard"),
        (put("app", "load", {"users": 80}), "L3", "standard"),
        (put("brief", "Pages fail."), "L2", "standard"),
        (put("decoys", []), "L2", "standard"),
        (put("groundTruth", "outcome", "Benign"), "L2", "standard"),
        (put("faults", 0, "parameters", {"targetPort": 1}), "L3", "standard"),
        (put("noise", [{"load": {"percent": 10}}]), "L3", "standard"),
    ],
)
def test_tier_depends_on_changed_fields(edit, name, plan):
    found = choose_lane(scenario(), scenario(edit))
    assert (found.name, found.plan) == (LaneName(name), plan)
    assert found.because


@pytest.mark.parametrize(("one", "other", "name"), [(1, 1, "L0"), (1, True, "L2"), (0, False, "L2"), (1, 1.5, "L2")])
def test_equal_values_of_different_types_are_a_change(one, other, name):
    def checked(value):
        return scenario(put("expect", "checks", [{"object": {"ref": "Deployment/cart", "equals": value}}]))

    assert choose_lane(checked(one), checked(other)).name == LaneName(name)


def test_new_scenario_gets_the_full_tier():
    found = choose_lane(None, scenario())
    assert (found.name, found.because) == (LaneName.FULL, ("it is new",))


@pytest.mark.parametrize(
    ("files", "because"),
    [
        (["faults/mine/fault.yaml"], ("faults/mine/fault.yaml changed",)),
        (["NOTES.md", "a.sh", "b"], ("a.sh changed", "b changed")),
        (["NOTES.md"], ("no parsed value changed",)),
        (["notes.TXT", "Readme.Md"], ("no parsed value changed",)),
        (["md", "txt", "notes.txt.py"], ("md changed", "txt changed", "notes.txt.py changed")),
    ],
)
def test_scenario_files_affect_lane_except_texts(files, because):
    found = choose_lane(scenario(), scenario(), files)
    assert found.because == because
    assert (found.name == LaneName.FULL) is (because != ("no parsed value changed",))


def apply_edits(*edits):
    def edit(spec):
        for one in edits:
            one(spec)

    return edit


CAUSE, TITLE, BRIEF = put("faults", 0, "parameters", {"targetPort": 1}), put("title", "x"), put("brief", "Pages fail.")
NEWER, OTHER_APP = put("app", "version", "9.0.0"), put("app", "name", "hotel-reservation")


@pytest.mark.parametrize(
    ("edit", "because"),
    [
        (apply_edits(TITLE, CAUSE), ("spec.faults changed",)),
        (apply_edits(TITLE, BRIEF), ("spec.brief changed",)),
        (apply_edits(TITLE, put("tags", ["x"])), ("spec.tags changed", "spec.title changed")),
        (apply_edits(BRIEF, put("decoys", [])), ("spec.brief changed", "spec.decoys changed")),
        (apply_edits(NEWER, TITLE), ("spec.app.version moved forward",)),
        (apply_edits(NEWER, BRIEF), ("spec.brief changed",)),
        (apply_edits(NEWER, OTHER_APP), ("spec.app changed",)),
        (apply_edits(OTHER_APP, CAUSE, BRIEF), ("spec.app changed", "spec.faults changed")),
    ],
)
def test_slowest_reason_decides(edit, because):
    assert choose_lane(scenario(), scenario(edit)).because == because


@pytest.mark.parametrize(
    ("change", "because"),
    [
        ({"metadata": {"name": "other"}}, ("metadata changed",)),
        ({"kind": "Other"}, ("kind changed",)),
        ({"status": {}, "apiVersion": "v9"}, ("apiVersion changed", "status changed")),
    ],
)
def test_another_name_or_kind_is_another_scenario(change, because):
    found = choose_lane(scenario(), scenario() | change)
    assert (found.name, found.because) == (LaneName.FULL, because)


def test_missing_spec_counts_as_changed_faults():
    assert "spec.faults changed" in choose_lane(scenario(), scenario() | {"spec": None}).because
    assert "spec.faults changed" in choose_lane(scenario() | {"spec": None}, scenario()).because


def test_adding_an_app_name_counts_as_changed_app():
    assert choose_lane(scenario(put("app", None)), scenario()).because == ("spec.app changed",)
    assert choose_lane(scenario(), scenario(put("app", None))).because == ("spec.app changed",)
