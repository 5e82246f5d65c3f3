"""The settled predicate on chaos: when a record is where it is going, and when it will never get there."""

from typing import Any

import pytest

from scenario_kit.lab.settle.checks import list_unsettled
from scenario_kit.lab.settle.checks.chaos import affects_namespace
from tests.lab.server.cluster_objects import facts, meta, world

FAILED = {"type": "Failed", "operation": "Apply"}
INJECTED = {"AllInjected": True, "AllRecovered": False}
RECOVERED = {"AllInjected": False, "AllRecovered": True}


def chaos(*phases: str, conditions: dict[str, bool] | None = None, events: Any = (), **more: Any) -> dict[str, Any]:
    records = [{"id": f"shop/p{n}", "phase": phase, "events": list(events)} for n, phase in enumerate(phases)]
    reported = [{"type": type_, "status": str(value)} for type_, value in (conditions or {}).items()]
    status: dict[str, Any] = {"conditions": reported, "experiment": {"containerRecords": records}}
    action = more.pop("action", "delay")
    return {"kind": "NetworkChaos", "metadata": meta("k1", **more), "spec": {"action": action}, "status": status}


PAUSED = {"annotations": {"experiment.chaos-mesh.org/pause": "true"}}
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("experiment", "quiet", "settled"),
    [
        (chaos("Injected", "Injected", conditions=INJECTED), 0.0, True),
        (chaos("Injected", "Not Injected/Wait", conditions=INJECTED), 9.0, False),
        (chaos("Injected", conditions=RECOVERED), 9.0, False),  # conditions lag one pass behind
        (chaos("Not Injected", conditions=RECOVERED), 9.0, False),
        (chaos("Not Injected", conditions=RECOVERED, **PAUSED), 0.0, True),
        (chaos("Injected", conditions=INJECTED, **PAUSED), 9.0, False),
        (chaos("Injected", conditions=INJECTED, action="pod-kill", **PAUSED), 0.0, True),
        (chaos("Not Injected", conditions=RECOVERED, **DELETED), 9.0, False),
        (chaos("Injected", conditions=INJECTED, events=[FAILED], **DELETED), 2.0, True),
        (chaos("Not Injected", conditions=RECOVERED, events=[FAILED] * 3), 0.5, False),
        (chaos("Not Injected", conditions=RECOVERED, events=[FAILED] * 3), 2.0, True),
        (chaos("Not Injected", conditions=RECOVERED, events=[FAILED, {"type": "Succeeded"}]), 9.0, False),
    ],
)
def test_records(experiment: dict[str, Any], quiet: float, settled: bool) -> None:
    reasons = list_unsettled(facts(world(), experiments=[experiment], quiet=lambda _: quiet))
    assert [r.code for r in reasons] == ([] if settled else ["Chaos"])


UNSELECTED = chaos(conditions={"Selected": False})


@pytest.mark.parametrize(
    ("experiment", "quiet", "answered", "settled"),
    [
        (chaos(), 9.0, False, False),  # nobody has looked at it
        (UNSELECTED, 0.0, True, False),
        (UNSELECTED, 2.0, True, True),  # nothing to select, and nobody will look again
        (UNSELECTED, 5.0, False, False),  # the manager waits for the API server
        (UNSELECTED, 11.0, False, True),  # its answer was lost
        (chaos(conditions={"Selected": False}, **DELETED), 11.0, True, False),
    ],
)
def test_without_records(experiment: dict[str, Any], quiet: float, answered: bool, settled: bool) -> None:
    refused = {experiment["metadata"]["uid"]: 1} if answered else {}
    reasons = list_unsettled(facts(world(), experiments=[experiment], quiet=lambda _: quiet, refused=refused))
    assert [r.code for r in reasons] == ([] if settled else ["Chaos"])


@pytest.mark.parametrize(
    ("status", "quiet", "settled"),
    [
        ({"observedGeneration": 1}, 0.0, True),
        ({}, 9.0, False),
        ({"failedMessage": "no daemon"}, 0.0, False),
        ({"failedMessage": "no daemon"}, 2.0, True),
    ],
)
def test_children(status: dict[str, Any], quiet: float, settled: bool) -> None:
    kinds = world()
    child = {"kind": "PodNetworkChaos", "metadata": meta("cart-1"), "status": status}
    kinds["PodNetworkChaos"] = {"cart-1": child}
    assert (list_unsettled(facts(kinds, quiet=lambda _: quiet)) == []) is settled


def test_record_waiting_for_a_failed_child_settles_after_timeout() -> None:
    kinds = world()
    status = {"observedGeneration": 1, "failedMessage": "no daemon on this node"}
    kinds["PodNetworkChaos"] = {"p0": {"kind": "PodNetworkChaos", "metadata": meta("p0"), "status": status}}
    waiting = chaos("Not Injected/Wait", conditions=RECOVERED)
    for quiet, expected in ((0.0, ["Chaos"]), (2.0, [])):
        reasons = list_unsettled(facts(kinds, experiments=[waiting], quiet=lambda _, q=quiet: q))  # type: ignore[misc]
        assert [r.code for r in reasons] == expected


@pytest.mark.parametrize(
    ("home", "selected", "expected"), [("shop", "other", True), ("kit", "shop", True), ("kit", "other", False)]
)
def test_experiment_affects_its_home_and_selected_namespaces(home: str, selected: str, expected: bool) -> None:
    spec = {"selector": {"namespaces": [selected]}}
    assert affects_namespace({"kind": "PodChaos", "metadata": {"namespace": home}, "spec": spec}, "shop") is expected
