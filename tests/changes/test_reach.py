"""Chaos that reaches outside the app is refused before anything is sent, for any operation."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.changes.operations.chaos import Chaos
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change
from scenario_kit.model.chaos.kinds import PAUSE
from tests.changes.test_chaos import NS, cluster, engine, partition, run, schedule  # noqa: F401 - fixtures

STRANGERS = {"namespaces": ["payments"], "labelSelectors": {"app": "web"}}


def build_foreign_partition(selector: dict[str, Any]) -> dict[str, Any]:
    manifest = partition()
    manifest["spec"]["target"]["selector"] = selector
    return manifest


@pytest.mark.parametrize("operation", ["chaos", "create", "apply"])
@pytest.mark.parametrize(
    "selector",
    [STRANGERS, {"namespaces": ["kube-system"]}, {"pods": {"payments": ["web-1"]}}, {"namespaces": [NS, "payments"]}],
)
def test_selector_of_foreign_pods_is_refused_before_write(engine, cluster, operation, selector):  # noqa: F811
    with pytest.raises(AuthoringError) as refused:
        engine.do(Change.from_json({operation: build_foreign_partition(selector)}), ordinal=0, group="Fault/main")

    assert {finding.code for finding in refused.value.findings} == {"SK150"}
    assert cluster.list("NetworkChaos", NS, group="chaos-mesh.org") == []
    assert engine.list_receipts() == []


def test_schedule_that_selects_foreign_pods_is_refused(engine):  # noqa: F811
    manifest = schedule()
    manifest["spec"]["networkChaos"]["selector"] = {"namespaces": ["kube-system"]}

    with pytest.raises(AuthoringError, match="reaches namespace 'kube-system'"):
        engine.do(Change(Chaos(manifest=manifest)), ordinal=0, group="Fault/main")


@pytest.mark.parametrize(
    "patch",
    [
        {"type": "Merge", "patch": {"spec": {"networkChaos": {"selector": STRANGERS}}}},
        {"type": "Json", "patch": [{"op": "replace", "path": "/spec/selector", "value": STRANGERS}]},
        {"type": "Json", "patch": [{"op": "replace", "path": "", "value": {}}]},
    ],
)
def test_patch_of_chaos_spec_is_refused(engine, patch):  # noqa: F811
    engine.do(Change(Chaos(manifest=schedule())), ordinal=0, group="Fault/main")
    change = {"patch": {"target": "Schedule.chaos-mesh.org/net-1", **patch}}

    with pytest.raises(AuthoringError, match="writes the spec of a chaos object"):
        engine.do(Change.from_json(change), ordinal=1, group="Solution/fix")


@pytest.mark.parametrize(
    "patch",
    [
        {"type": "Merge", "patch": {"metadata": {"annotations": {PAUSE: "true"}}}},
        {"type": "Json", "patch": [{"op": "add", "path": "/metadata/annotations", "value": {PAUSE: "true"}}]},
    ],
)
def test_pause_annotation_is_allowed(engine, patch):  # noqa: F811
    engine.do(Change(Chaos(manifest=schedule())), ordinal=0, group="Fault/main")
    change = {"patch": {"target": "Schedule.chaos-mesh.org/net-1", **patch}}

    assert engine.do(Change.from_json(change), ordinal=1, group="Solution/fix").state == "Done"
