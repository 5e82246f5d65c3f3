"""Work lists: from scenarios to shards, the same from the same files; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenario_kit.campaign import QUICK, get_plan
from scenario_kit.catalog import find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.shards.division import STATIC_SECONDS
from scenario_kit.shards.planning import WorkRequest, plan_work, select_shard
from scenario_kit.shards.work_list import read_work_list, write_work_list
from tests.shards.conftest import make_work

SCENARIOS = find_data_root() / "catalog" / "scenarios"
SOME = [SCENARIOS / name / "scenario.yaml" for name in ("cart-scaled-to-zero", "busy-afternoon", "hotel-all-errors")]


def test_plan_is_a_function_of_its_files():
    work = plan_work(WorkRequest(SOME, QUICK, 2))

    assert plan_work(WorkRequest(list(reversed(SOME)), QUICK, 2)) == work
    assert sorted(item.scenario for item in work.items) == sorted(file.parent.name for file in SOME)
    assert {item.shard for item in work.items} == {0, 1}
    assert all(item.trials > 0 and item.incident and item.seconds > STATIC_SECONDS for item in work.items)
    assert [root.shipped for root in work.roots] == [False]


@pytest.mark.parametrize("change", [{"seed": 2}, {"plan": get_plan("try")}])
def test_results_hold_for_one_plan_and_seed(change):
    before = plan_work(WorkRequest(SOME[:1], QUICK, 1))
    after = plan_work(WorkRequest(SOME[:1], QUICK, 1)._replace(**change))
    assert before.items[0].digest != after.items[0].digest
    assert before.catalogue != after.catalogue


def test_more_plan_costs_more():
    quick, thorough = (plan_work(WorkRequest(SOME[:1], get_plan(name), 1)).items[0] for name in ("quick", "thorough"))
    assert thorough.trials > quick.trials
    assert thorough.seconds > quick.seconds


def test_shards_do_not_exceed_scenarios():
    assert plan_work(WorkRequest(SOME, QUICK, 50)).shards == 3


def test_unreadable_scenario_is_still_planned(tmp_path):
    file = tmp_path / "broken" / "scenario.yaml"
    file.parent.mkdir()
    file.write_text("kind: {")
    work = plan_work(WorkRequest([*SOME[:1], file], QUICK, 1))
    (broken,) = [item for item in work.items if item.scenario == "broken"]
    assert (broken.trials, broken.incident, broken.seconds, broken.root) == (0, "", STATIC_SECONDS, -1)


def test_two_scenarios_of_one_name_are_refused(tmp_path):
    file = tmp_path / "copy" / "scenario.yaml"
    file.parent.mkdir()
    file.write_text(SOME[0].read_text())
    with pytest.raises(UsageError, match="are both named cart-scaled-to-zero"):
        plan_work(WorkRequest([SOME[0], file], QUICK, 1))


def test_matrix_shards_match_the_work_list():
    work = plan_work(WorkRequest(SOME, QUICK, 2))
    for number in (1, 2):
        expected = [Path(item.path) for item in work.select(number - 1)]
        assert select_shard(SOME, QUICK, number, 2) == expected
    assert select_shard(SOME, QUICK, 4, 4) == []


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "a" * 31, "../x"])
def test_names_from_which_no_object_can_be_named_are_refused(name):
    with pytest.raises(UsageError, match="is not a name"):
        plan_work(WorkRequest(SOME[:1], QUICK, 1, name=name))


def test_work_list_round_trips(tmp_path):
    work = make_work("a", "b", shards=2)
    write_work_list(tmp_path / "work.json", work)
    assert read_work_list(tmp_path / "work.json") == work
    assert [each.name for each in tmp_path.iterdir()] == ["work.json"]
    with pytest.raises(UsageError, match="there is no shard 2"):
        work.select(2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kit": "9.9.9"}, "is of scenario-kit 9.9.9"),
        ({"schemaVersion": 9}, "its format is version 9"),
        ({"name": "A B"}, "its name is 'A B'"),
        ({"shards": "two"}, "not a work list of this version"),
        ({"unknown": 1}, "not a work list of this version"),
        ({"items.0.shard": 7}, "a is in shard 7 of 1"),
        ({"items.0.root": 3}, "belongs to root 3 of 0"),
        ({"items.0.place": "../../etc/passwd"}, "outside of its root"),
        ({"items.0.place": "/etc/passwd"}, "outside of its root"),
        ({"items.0.scenario": "b"}, "the scenario b more than once"),
        ({"items.0.scenario": "../../b"}, "a scenario of it is named '../../b'"),
        ({"items.0.scenario": ".."}, "a scenario of it is named '..'"),
        ({"plan": {}}, "the plan of the work list is invalid"),
    ],
)
def test_invalid_work_list_is_refused(change, said, tmp_path):
    document = make_work("a", "b").to_json()
    for key, value in change.items():
        *path, last = key.split(".")
        part = document
        for each in path:
            part = part[int(each)] if each.isdigit() else part[each]
        part[last] = value
    (tmp_path / "work.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match=said) as caught:
        read_work_list(tmp_path / "work.json")
    assert "plan again" in caught.value.fix


@pytest.mark.parametrize("text", ["", "{", "[1]", "null"])
def test_other_file_is_no_work_list(text, tmp_path):
    (tmp_path / "work.json").write_text(text)
    with pytest.raises(UsageError, match=r"work\.json is not a work list"):
        read_work_list(tmp_path / "work.json")
    with pytest.raises(UsageError, match="cannot read the work list"):
        read_work_list(tmp_path / "missing.json")
