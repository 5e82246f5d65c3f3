"""Alert packs from rule files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file
from tests.importers.results import decision, import_text


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


MIXIN = """groups:
- name: records
  rules:
  - record: cpu:rate5m
    expr: sum by (cluster, namespace, pod) (rate(container_cpu_usage_seconds_total{job="kubelet", image!=""}[5m]))
  - {record: "owner:relabel", expr: "kube_pod_owner", labels: {workload_type: deployment}}
- name: alerts
  rules:
  - {alert: Busy, expr: "sum by (namespace) (cpu:rate5m) > 1", annotations: {summary: "{{ $labels.pod }}"}}
  - {alert: Hot, expr: "cpu:rate5m > 1", annotations: {summary: "{{ $labels.pod }}"}}
  - {alert: Chosen, expr: 'cpu:rate5m{pod="a"} > 1'}
  - alert: Crash
    expr: kube_pod_container_status_waiting{reason="CrashLoopBackOff", job="kube-state-metrics", cluster=~".+"} > 0
    keep_firing_for: 5m
  - {alert: Other, expr: 'up{job="podinfo"} == 0'}
"""


def test_recording_rules_stay_with_the_alerts_that_use_them(catalog: Catalog) -> None:
    result = import_text("promrules", catalog, MIXIN)
    records, alerts = yaml.safe_load(result.drafts[0].text)["groups"]

    assert [rule["record"] for rule in records["rules"]] == ["cpu:rate5m", "owner:relabel"]
    assert records["rules"][1]["labels"] == {"workload_type": "deployment"}
    assert [rule["alert"] for rule in alerts["rules"]] == ["Busy", "Hot", "Crash", "Other"]
    assert "used with labels or an offset" in decision(result, "groups[1].rules[2]").reason


def test_second_alert_of_the_same_name_and_labels_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    rule = "{alert: Down, expr: up == 0, labels: {severity: critical}}"
    text = (
        f"groups:\n- name: a\n  rules: [{rule}, {rule.replace('critical', 'warning')}]\n"
        "- name: b\n  labels: {severity: critical}\n  rules: [{alert: Down, expr: 'up < 1'}]\n"
    )
    result = import_text("promrules", catalog, text)

    assert "above" in decision(result, "groups[1].rules[0]").reason
    file = tmp_path / result.drafts[0].path
    file.parent.mkdir()
    file.write_text(result.drafts[0].text)
    assert not [each for each in lint_file(file, catalog) if each.code == "SK313"]


def test_labels_of_a_clusters_own_scrapes_are_removed(catalog: Catalog) -> None:
    result = import_text("promrules", catalog, MIXIN)
    records, alerts = yaml.safe_load(result.drafts[0].text)["groups"]
    expressions = {
        rule.get("alert", rule.get("record")): rule["expr"] for rule in (*records["rules"], *alerts["rules"])
    }

    assert '{image!=""}' in expressions["cpu:rate5m"]
    assert '{reason="CrashLoopBackOff", }' in expressions["Crash"]
    assert '{job="podinfo"}' in expressions["Other"], "the app's own"
    reason = decision(result, "groups[1].rules[3].expr").reason
    assert reason == ("matchers of `job`, `cluster` are removed: `job`, `cluster` depend on how a cluster is scraped")


def test_entity_is_a_label_of_the_result(catalog: Catalog) -> None:
    _, alerts = yaml.safe_load(import_text("promrules", catalog, MIXIN).drafts[0].text)["groups"]

    assert [rule.get("entity", {}).get("label") for rule in alerts["rules"]] == [None, "pod", None, None]


def test_recording_rules_alone_are_no_pack(catalog: Catalog) -> None:
    text = MIXIN.partition("- name: alerts")[0]
    result = import_text("promrules", catalog, text)

    assert result.drafts == ()
    assert any("it has no alerts" in each.reason for each in result.decisions)
