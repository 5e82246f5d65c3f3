"""Cautions about drafted delays that exceed probe timeouts of their target."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.changes.operations.chaos import Chaos
from scenario_kit.draft.probe_timeouts import is_outlived, list_cautions
from scenario_kit.model import Change, Fault, Reference
from scenario_kit.model.authored.scenario import Rollout
from scenario_kit.render.faults.applicability import offer
from scenario_kit.render.faults.first_offer import render_objects_for

HTTP = {"httpGet": {"path": "/live", "port": "web"}}


def workload(**probes: Any) -> dict[str, Any]:
    container = {"name": "web", "ports": [{"name": "web", "containerPort": 80}], **probes}
    template = {"metadata": {"labels": {"app": "web", "tier": "front"}}, "spec": {"containers": [container]}}
    return {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": template}}


def fault(kind: str, **spec: Any) -> Fault:
    body = {"kind": kind, "spec": {"selector": {"labelSelectors": {"app": "web"}}, **spec}}
    return Fault(
        name="main", type="delay", version=1, target=Reference("Deployment", "web"),
        changes=(Change(Chaos(manifest=body)),),
        effect=(), entities=(),
    )  # fmt: skip


def net(latency: str = "2s", jitter: str = "0ms", **spec: Any) -> Fault:
    return fault("NetworkChaos", action="delay", delay={"latency": latency, "jitter": jitter}, **spec)


def http(delay: str = "3s", **spec: Any) -> Fault:
    return fault("HTTPChaos", target="Request", delay=delay, **{"port": 80, "path": "*", **spec})


@pytest.mark.parametrize(
    ("made", "probes", "message"),
    [
        (net(), {"livenessProbe": HTTP},
         "livenessProbe of Deployment/web waits 1 s, less than an answer takes: its containers are started again, and "
         "callers see errors; a delay below 0.5 s leaves it slow"),
        (net(), {"livenessProbe": {**HTTP, "timeoutSeconds": 3}, "readinessProbe": {**HTTP, "timeoutSeconds": 2}},
         "livenessProbe and readinessProbe of Deployment/web wait 2 s, less than an answer takes: its containers are "
         "started again and its pods leave their Services, and callers see errors; a delay below 1 s leaves it slow"),
        (net("2s", "200ms"), {"readinessProbe": {"tcpSocket": {"port": 80}}},
         "readinessProbe of Deployment/web waits 1 s, less than an answer takes: its pods leave their Services, and "
         "callers see errors; a delay below 0.8 s leaves it slow"),
        (net("400ms", "200ms"), {"livenessProbe": {"grpc": {"port": 80}}}, "a delay below 0.3 s"),
        (http(), {"readinessProbe": HTTP},
         "callers see errors; a delay below 1 s leaves it"),
    ],
)  # fmt: skip
def test_delay_beyond_probe_timeout_is_reported(made: Fault, probes: dict[str, Any], message: str) -> None:
    (reported,) = list_cautions(made, [workload(**probes)])
    assert message in reported


@pytest.mark.parametrize(
    ("made", "probes"),
    [
        (net(), {}),
        (net(), {"livenessProbe": {"exec": {"command": ["true"]}}}),
        (net(), {"livenessProbe": {**HTTP, "timeoutSeconds": 5}}),
        (net("400ms"), {"livenessProbe": HTTP}),
        (net("800ms"), {"livenessProbe": {"tcpSocket": {"port": 80}}}),
        (net(direction="from"), {"livenessProbe": HTTP}),
        (net(target={"selector": {}}), {"livenessProbe": HTTP}),
        (net(selector={"labelSelectors": {"app": "other"}}), {"livenessProbe": HTTP}),
        (fault("NetworkChaos", action="loss", loss={"loss": "50"}), {"livenessProbe": HTTP}),
        (http(port=81), {"livenessProbe": HTTP}),
        (http(path="/api/*"), {"livenessProbe": HTTP}),
        (http(method="POST"), {"livenessProbe": HTTP}),
        (http("800ms"), {"livenessProbe": HTTP}),
        (http(), {"livenessProbe": {"tcpSocket": {"port": 80}}}),
    ],
)
def test_unaffected_probes_have_no_caution(made: Fault, probes: dict[str, Any]) -> None:
    assert list_cautions(made, [workload(**probes)]) == ()


@pytest.mark.parametrize("type_", ["network-delay", "http-delay"])
def test_faults_of_the_catalogue_are_understood(type_: str) -> None:
    catalog = Catalog()
    app = catalog.app("otel-demo", "2.2.0")
    objects = [*render_objects_for(catalog.fault(type_), app, catalog)]
    at = next(i for i, o in enumerate(objects) if (o["kind"], o["metadata"]["name"]) == ("Deployment", "quote"))
    made = offer(catalog.fault(type_), app, objects, Reference("Deployment", "quote")).fault
    assert list_cautions(made, objects) == ()
    (container,) = objects[at]["spec"]["template"]["spec"]["containers"]
    container["livenessProbe"] = {"httpGet": {"port": container["ports"][0]["containerPort"]}}
    assert len(list_cautions(made, objects)) == 1


@pytest.mark.parametrize(
    ("type", "probes", "drops"),
    [
        ("env-value-wrong", {"readinessProbe": HTTP}, True),
        ("env-value-wrong", {"livenessProbe": HTTP}, False),
        ("cpu-limit-too-low", {"readinessProbe": HTTP}, False),
    ],
    ids=["never ready", "nobody waits", "late, but ready"],
)
def test_old_pods_survive_wrong_configuration_during_stuck_rollout(type: str, probes: Any, drops: bool) -> None:
    fault_type = Catalog().fault(type)
    patch = {"target": "Deployment/web", "type": "Merge", "patch": {}}
    made = Fault(
        name="main", type=type, version=1, target=Reference("Deployment", "web"),
        changes=(Change.from_json({"patch": patch}),),
        effect=(), entities=(),
    )  # fmt: skip
    assert is_outlived(fault_type, made, [workload(**probes)]) == drops
    assert not is_outlived(
        fault_type, msgspec.structs.replace(made, rollout=Rollout(drop_old=True)), [workload(**probes)]
    )
