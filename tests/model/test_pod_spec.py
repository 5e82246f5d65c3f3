"""Containers of a pod that run as long as it does."""

from typing import Any

from scenario_kit.model.kubernetes.pod_spec import list_serving_containers, list_sidecars
from scenario_kit.model.kubernetes.status import list_serving_statuses

SPEC: dict[str, Any] = {
    "initContainers": [{"name": "migrate"}, {"name": "proxy", "restartPolicy": "Always"}],
    "containers": [{"name": "web"}],
}


def test_sidecars_are_init_containers_that_restart_always() -> None:
    assert [each["name"] for each in list_sidecars(SPEC)] == ["proxy"]
    assert [each["name"] for each in list_serving_containers(SPEC)] == ["web", "proxy"]
    assert list_serving_containers({}) == []


def test_statuses_of_sidecars_count_and_those_of_other_init_containers_do_not() -> None:
    status = {"initContainerStatuses": [{"name": "migrate"}, {"name": "proxy"}], "containerStatuses": [{"name": "web"}]}

    assert [each["name"] for each in list_serving_statuses({"spec": SPEC, "status": status})] == ["web", "proxy"]
    assert list_serving_statuses({"spec": SPEC}) == []
