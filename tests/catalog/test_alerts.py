"""Alert packs: their format, and evaluation by promtool."""

import re

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli import run
from scenario_kit.lab.rule_tests import check_rules
from scenario_kit.lint import lint_file
from tests.docs.pages import ROOT, blocks

PACKS = Catalog().alert_packs()


@pytest.mark.parametrize("pack", PACKS)
def test_promtool_accepts_the_pack(catalog: Catalog, promtool, pack):
    assert check_rules(catalog.prometheus_rules(pack)) == ""


def test_packs_with_a_shared_alert_replace_each_other(tmp_path):
    rules = {"Slow": ["slow"], "Idle": ["idle"], "both": ["slow", "idle"]}
    (tmp_path / "catalog" / "alerts").mkdir(parents=True)
    for pack, names in rules.items():
        of_pack = [{"alert": name, "expr": "up == 0", "for": "1m"} for name in names]
        (tmp_path / "catalog" / "alerts" / f"{pack}.yaml").write_text(
            yaml.safe_dump({"groups": [{"name": "all", "rules": of_pack}]})
        )
    packs = Catalog([tmp_path])
    assert packs.packs_with(["Slow"], "Idle") == ("Slow", "Idle")
    assert packs.packs_with(["Slow", "Idle"], "both") == ("both",)
    assert packs.packs_with(["Slow"], "Slow") == ("Slow",)


@pytest.mark.parametrize("pack", PACKS)
def test_pack_tests_pass_and_cover_every_rule(catalog: Catalog, promtool, pack):
    cases = yaml.safe_load((find_data_root() / "catalog" / "alerts" / "tests" / f"{pack}.yaml").read_text())
    for desired in (True, False):
        assert {c["alert"] for c in cases if ("fires" in c) is desired} == {r.name for r in catalog.alert_pack(pack)}
    assert run(["alerts", "test", pack]) == 0


def test_packs_of_the_page_on_packs(promtool, tmp_path):
    """Followed to the letter: they lint green, and their cases are true."""
    rules, cases, budget, tests = blocks((ROOT / "docs" / "add-an-alert-pack.md").read_text(), "yaml")
    folder = tmp_path / "catalog" / "alerts"
    (folder / "tests").mkdir(parents=True)
    for name, pack, of_pack in (("page", rules, cases), ("cart-budget", budget, tests)):
        (folder / f"{name}.yaml").write_text(pack)
        (folder / "tests" / f"{name}.yaml").write_text(of_pack)
        assert lint_file(folder / f"{name}.yaml") == []
    assert run(["alerts", "test", str(folder)]) == 0


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (("fires: cart", "fires: checkout"), "failed CartFails: 10 % of the requests fail"),
        (("minute: 3\n", "minute: 6\n"), "failed CartFails: not before `for` has passed"),
        (("  minute: 6\n", ""), "lacks the required field `minute`"),
    ],
)
def test_failing_alert_test_case_is_reported(promtool, tmp_path, capsys, change, reported):
    rules, cases, *_ = blocks((ROOT / "docs" / "add-an-alert-pack.md").read_text(), "yaml")
    folder = tmp_path / "catalog" / "alerts"
    (folder / "tests").mkdir(parents=True)
    assert change[0] in cases
    (folder / "page.yaml").write_text(rules)
    (folder / "tests" / "page.yaml").write_text(cases.replace(*change))
    assert run(["alerts", "test", str(folder)]) == 1
    assert reported in capsys.readouterr().out


def test_missing_promtool_error_has_a_fix(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SCENARIO_KIT_PROMTOOL", str(tmp_path / "nothing"))
    assert run(["alerts", "test", "default"]) == 2
    assert "scenario-kit lab install" in capsys.readouterr().err


@pytest.mark.parametrize("pack", PACKS)
def test_every_rule_has_labels_and_annotations(catalog: Catalog, pack):
    for rule in catalog.alert_pack(pack):
        assert rule.for_seconds % 15 == 0
        assert rule.labels["severity"] in ("critical", "warning")
        assert {"summary", "description"} <= set(rule.annotations)
        assert not re.search(r"namespace\s*[!=]", rule.expr), "the namespace is injected, never written"
        for matcher in re.findall(r'[!=]~"([^"]*)"', rule.expr):
            assert "*" not in matcher.replace(".*", ""), "label regexes are anchored at both ends"


def test_default_rules_name_their_entity(catalog: Catalog):
    assert all(r.entity for r in catalog.alert_pack("default"))


def test_default_has_the_promised_rules(catalog: Catalog):
    desired = {
        "HighRequestErrorRate": 180, "HighRequestLatency": 180, "NoRequestsReceived": 300, "KubePodNotReady": 300,
        "KubePodCrashLooping": 300, "KubeContainerWaiting": 300, "FailedPodsDetected": 120,
        "KubeDeploymentRolloutStuck": 300, "KubeHpaMaxedOut": 300,
    }  # fmt: skip
    assert {r.name: r.for_seconds for r in catalog.alert_pack("default")} == desired


def test_rule_file_has_only_prometheus_fields(catalog: Catalog):
    document = catalog.prometheus_rules(*PACKS)
    names = [g["name"] for g in document["groups"]]
    assert len(names) == len(set(names))
    assert {k for g in document["groups"] for r in g["rules"] for k in r} == {
        "alert",
        "expr",
        "for",
        "labels",
        "annotations",
    }
