"""The alert packs: shape, and what the rules do on series, with promtool as the referee."""

import re
import subprocess

import pytest
import yaml

from scenario_kit.catalog import Catalog, data_root
from scenario_kit.lint import lint_file
from tests.docs.pages import ROOT, blocks

PACKS = Catalog().alert_packs()


@pytest.mark.parametrize("pack", PACKS)
def test_promtool_accepts_the_pack(catalog: Catalog, promtool, tmp_path, pack):
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(catalog.prometheus_rules(pack)))
    done = subprocess.run([promtool, "check", "rules", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_packs_that_share_an_alert_replace_each_other(tmp_path):
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
def test_rules_fire_when_they_should_and_only_then(catalog: Catalog, promtool, tmp_path, pack):
    """One promtool run for all cases of a pack; its output names the failing ones."""
    cases = yaml.safe_load((data_root() / "catalog" / "alerts" / "tests" / f"{pack}.yaml").read_text())
    for wanted in (True, False):
        assert {c["alert"] for c in cases if ("fires" in c) is wanted} == {r.name for r in catalog.alert_pack(pack)}
    run(promtool, tmp_path, catalog, pack, cases)


def test_the_pack_of_the_page_on_packs(promtool, tmp_path):
    """Followed to the letter: it lints green, and its cases are true."""
    rules, cases = blocks((ROOT / "docs" / "add-an-alert-pack.md").read_text(), "yaml")
    folder = tmp_path / "catalog" / "alerts"
    (folder / "tests").mkdir(parents=True)
    (folder / "page.yaml").write_text(rules)
    (folder / "tests" / "page.yaml").write_text(cases)
    assert lint_file(folder / "page.yaml") == []
    run(promtool, tmp_path, Catalog([tmp_path]), "page", yaml.safe_load(cases))


def run(promtool, tmp_path, catalog, pack, cases):
    rules = {r.name: r for r in catalog.alert_pack(pack)}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(catalog.prometheus_rules(pack)))
    document = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "15s",
        "tests": [unit_test(case, rules[case["alert"]]) for case in cases],
    }
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(document))
    command = [promtool, "test", "rules", "tests.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def unit_test(case, rule):
    label = rule.entity.label if rule.entity else ""
    entity = f'{{{label}="{case["fires"]}"}}' if label and "fires" in case else "{}"
    firing = f'ALERTS{{alertname="{case["alert"]}",alertstate="firing",namespace="shop"}}'
    samples = [{"labels": entity, "value": 1}] if "fires" in case else []
    return {
        "name": f"{case['alert']}: {case['case']}",
        "interval": "15s",
        "input_series": case["series"],
        "promql_expr_test": [
            {"expr": f"count by ({label}) ({firing})", "eval_time": f"{case['minute']}m", "exp_samples": samples}
        ],
    }


@pytest.mark.parametrize("pack", PACKS)
def test_every_rule_says_what_is_needed(catalog: Catalog, pack):
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
    wanted = {
        "HighRequestErrorRate": 180, "HighRequestLatency": 180, "NoRequestsReceived": 300, "KubePodNotReady": 300,
        "KubePodCrashLooping": 300, "KubeContainerWaiting": 300, "FailedPodsDetected": 120,
        "KubeDeploymentRolloutStuck": 300, "KubeHpaMaxedOut": 300,
    }  # fmt: skip
    assert {r.name: r.for_seconds for r in catalog.alert_pack("default")} == wanted


def test_rule_file_holds_nothing_that_prometheus_does_not_know(catalog: Catalog):
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
