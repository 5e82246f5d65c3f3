"""Where the pod template of an object is."""

from __future__ import annotations

import pytest

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_template import (
    list_containers,
    locate_pod_spec,
    read_pod_spec,
    read_pod_template,
    read_template_labels,
)

CONTAINERS = [{"name": "web"}]
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS}}


@pytest.mark.parametrize(
    "obj",
    [
        {"kind": "Deployment", "spec": {"template": TEMPLATE}},
        {"kind": "Pod", **TEMPLATE},
        {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}}},
        {"spec": {"template": TEMPLATE}},  # as an item of a list, which has no kind
    ],
)
def test_template_is_found_in_each_kind(obj: Object) -> None:
    assert (list_containers(obj), read_template_labels(obj)) == (CONTAINERS, {"app": "web"})


@pytest.mark.parametrize(
    "obj",
    [
        {"kind": "ConfigMap", "data": {}},
        {"kind": "Job", "spec": {"template": "{{ template }}"}},
        {"kind": "CronJob", "spec": {"template": TEMPLATE}},
        {"kind": "Deployment", "spec": None},
    ],
)
def test_objects_without_a_template_have_no_pods(obj: Object) -> None:
    assert (read_pod_template(obj), read_pod_spec(obj), list_containers(obj), dict(read_template_labels(obj))) == (
        {}, {}, [], {},
    )  # fmt: skip


def test_place_of_a_pod_spec_depends_on_the_kind() -> None:
    places = {kind: ".".join(locate_pod_spec(kind)) for kind in ("Pod", "StatefulSet", "CronJob")}
    assert places == {
        "Pod": "spec", "StatefulSet": "spec.template.spec", "CronJob": "spec.jobTemplate.spec.template.spec",
    }  # fmt: skip
