"""Lanes: what has to be run again, by what differs."""

import pytest
import yaml

from scenario_kit.catalog import data_root
from scenario_kit.contribution import LaneName, lane

FILE = data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"


def scenario(edit=lambda spec: None):
    document = yaml.safe_load(FILE.read_text())
    edit(document["spec"])
    return document


def put(*path):
    """An edit that replaces what is at a path."""
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
        (put("app", "version", "main"), "L3", "standard"),
        (put("app", "load", {"users": 80}), "L3", "standard"),
        (put("brief", "Pages fail."), "L2", "standard"),
        (put("decoys", []), "L2", "standard"),
        (put("groundTruth", "outcome", "Benign"), "L2", "standard"),
        (put("faults", 0, "parameters", {"targetPort": 1}), "L3", "standard"),
        (put("noise", [{"load": {"percent": 10}}]), "L3", "standard"),
    ],
)
def test_the_lane_follows_from_what_differs(edit, name, plan):
    found = lane(scenario(), scenario(edit))
    assert (found.name, found.plan) == (LaneName(name), plan)
    assert found.because


@pytest.mark.parametrize(("one", "other", "name"), [(1, 1, "L0"), (1, True, "L2"), (0, False, "L2"), (1, 1.5, "L2")])
def test_what_python_takes_for_the_same_is_not(one, other, name):
    def checked(value):
        return scenario(put("expect", "checks", [{"object": {"ref": "Deployment/cart", "equals": value}}]))

    assert lane(checked(one), checked(other)).name == LaneName(name)


def test_what_is_new_runs_everything():
    assert lane(None, scenario()).name == LaneName.FULL


def test_files_beside_the_scenario_count_but_for_texts():
    assert lane(scenario(), scenario(), ["faults/mine/fault.yaml"]).name == LaneName.FULL
    assert lane(scenario(), scenario(), ["NOTES.md"]).name == LaneName.TEXT


def test_the_slowest_reason_decides():
    both = scenario(lambda spec: (put("title", "x")(spec), put("faults", 0, "parameters", {"targetPort": 1})(spec)))
    assert lane(scenario(), both).because == ("spec.faults changed",)


def test_another_name_is_another_scenario():
    assert lane(scenario(), scenario() | {"metadata": {"name": "other"}}).name == LaneName.FULL
