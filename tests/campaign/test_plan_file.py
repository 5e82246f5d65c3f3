"""Plan files: selected trials, and positions of errors before anything runs."""

import pytest
from msgspec import structs

from scenario_kit.campaign import STANDARD, choose_plan, plan_trials
from scenario_kit.campaign.planning.plan_file import limit_plan
from scenario_kit.campaign.planning.retries import plan_further_trials
from scenario_kit.campaign.planning.sequential_test import FIVE_THEN_FIVE
from scenario_kit.catalog import find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.model import Verdict

GOOD = """\
name: mine
looks:
- {repeats: 2, accept: 0, reject: 2}
- {repeats: 4, accept: 1, reject: 2}
loads: [50, 200]
interventions: false
control: false
cheats: false
parallel: 3
"""


@pytest.fixture
def load_plan(tmp_path):
    def write(text):
        path = tmp_path / "plan.yaml"
        path.write_text(text)
        return choose_plan(str(path))

    return write


def test_omitted_plan_fields_default_to_built_in_plan(load_plan):
    plan = load_plan("name: mine\nlooks: [{repeats: 5, accept: 0, reject: 2}, {repeats: 10, accept: 1, reject: 3}]\n")
    assert structs.replace(STANDARD, name="mine", describe="") == plan


def test_plan_file_selects_the_trials(load_plan, runbook_of, fault):
    plan = load_plan(GOOD)
    planned = plan_trials(plan, runbook_of(fault("f")), 7)
    assert {"control", "cheats", "label"} & {p.purpose for p in planned} == set()
    assert [(p.purpose, p.load_percent) for p in planned[:2]] == [("repeat-1", 50), ("repeat-2", 200)]
    ended = [Ended("repeat-1", "Broken"), *(Ended(p.purpose, "Held") for p in planned[1:])]
    more = plan_further_trials(plan.looks, planned, ended, plan.loads)
    assert [(p.purpose, p.load_percent) for p in more] == [("repeat-3", 50), ("repeat-4", 200)]
    assert plan.parallel == 3


class Ended:
    def __init__(self, purpose, outcome):
        self.purpose, self.outcome = purpose, outcome


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("name: mine\n", ":1:1", "looks"),
        (GOOD.replace("accept: 0", "acept: 0"), ":3:", "accept"),
        (GOOD + "cheat: true\n", ":10:1", "cheats"),
        (GOOD.replace("repeats: 4", "repeats: four"), ":4:", "integer"),
        (GOOD.replace("repeats: 4", "repeats: 2"), ":3:1", "ascending order"),
        (GOOD.replace("repeats: 4, accept: 1", "repeats: 4, accept: 3"), ":3:1", "accepts 3"),
        (GOOD.replace("{repeats: 2, accept: 0", "{repeats: 1, accept: 1"), ":3:1", "even if all of them break"),
        (GOOD.replace("mine", "standard"), ":1:7", "built-in"),
        (GOOD.replace("[50, 200]", "[50, 2000]"), ":5:", "400"),
        (GOOD + "name: again\n", ":10:", "name"),
        ("looks: [", ":2:1", "not YAML"),
        ("- a\n- b\n", ":1:1", ""),
        ("", "", ""),
    ],
)
def test_plan_file_error_has_a_position(load_plan, text, place, message):
    with pytest.raises(UsageError) as refused:
        load_plan(text)
    reported = f"{refused.value.message} {refused.value.fix}"
    assert f"plan.yaml{place}" in reported
    assert message in reported


def test_unknown_plan_file_or_name_is_refused():
    with pytest.raises(UsageError):
        choose_plan("nowhere.yaml")
    with pytest.raises(UsageError, match="no plan 'standart'"):
        choose_plan("standart")


def test_documented_plan_is_valid():
    file = find_data_root() / "docs" / "examples" / "plan.yaml"
    assert choose_plan(str(file)).looks[0].n == 3
    assert "\n".join(file.read_text().splitlines()[2:]) in (find_data_root() / "docs" / "plans.md").read_text()


def test_repeat_budget_keeps_reachable_looks():
    assert limit_plan(STANDARD, None).looks == FIVE_THEN_FIVE
    assert limit_plan(STANDARD, 9).looks == FIVE_THEN_FIVE[:1]
    assert limit_plan(STANDARD, 10).looks == FIVE_THEN_FIVE
    with pytest.raises(UsageError, match="SK503"):
        limit_plan(STANDARD, 4)


def test_one_broken_repeat_of_a_budget_of_five_is_inconclusive():
    from scenario_kit.campaign.planning.sequential_test import decide

    assert decide(limit_plan(STANDARD, 5).looks, 4, 1).verdict == Verdict.INCONCLUSIVE
