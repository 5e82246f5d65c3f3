"""By how much a repair raises what fills up."""

import pytest

from scenario_kit.judge.repair.capacity_relief import measure_capacity_factor
from scenario_kit.judge.repair.collateral_changes import Write


def web(memory, replicas=1, size="100", port=80):
    container = {
        "name": "web", "ports": [{"name": "http", "containerPort": port}], "env": [{"name": "POOL", "value": size}],
        "resources": {"limits": {"memory": memory}},
    }  # fmt: skip
    spec = {"replicas": replicas, "template": {"spec": {"containers": [container]}}}
    return {"kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


@pytest.mark.parametrize(
    ("before", "broken", "now", "factor"),
    [
        (web("100Mi"), web("100Mi"), web("400Mi"), 4.0),
        (web("100Mi"), web("20Mi"), web("100Mi"), 1.0),  # what it had
        (web("100Mi"), web("20Mi"), web("200Mi"), 2.0),
        (web("100Mi"), web("100Mi"), web("50Mi"), 1.0),
        (web("100Mi"), web("100Mi"), web("100Mi", replicas=3), 3.0),
        (web("100Mi"), web("100Mi"), web("100Mi", size="1000"), 10.0),
        (web("100Mi"), web("100Mi"), web("100Mi", size="off"), 1.0),
        (web("100Mi"), web("100Mi"), web("100Mi", port=8080), 1.0),
        (web("100Mi"), None, web("400Mi"), 1.0),
    ],
)
def test_capacity_factor_relative_to_baseline(before, broken, now, factor):
    assert measure_capacity_factor([before], [Write(broken, now)]) == factor


def build_resource(kind="Deployment", name="web", **spec):
    return {"kind": kind, "metadata": {"name": name, "generation": 1}, "spec": spec}


@pytest.mark.parametrize(
    ("was", "now", "factor"),
    [
        (build_resource(maxSize=2), build_resource(maxSize=5), 2.5),
        (build_resource(a=2, b=3), build_resource(a=4, b=9), 3.0),
        (build_resource(b=3, a=2), build_resource(b=9, a=4), 3.0),
        (build_resource(on=True), build_resource(on=5), 1.0),
        (build_resource(size=0), build_resource(size=5), 1.0),
        (build_resource(size=-1), build_resource(size=5), 1.0),
        (build_resource(size=2), build_resource(size=True), 1.0),
        (build_resource(size=2), build_resource(), 1.0),
        (build_resource(size="2"), build_resource(size="many"), 1.0),
        (build_resource(), build_resource(size=9), 1.0),
        (build_resource(targetPort=80), build_resource(targetPort=8080), 1.0),
        (build_resource(nodePort=80), build_resource(nodePort=8080), 1.0),
        (build_resource(port=80), build_resource(port=8080), 1.0),
        (build_resource(ports=80), build_resource(ports=8080), 1.0),
        (build_resource("StatefulSet", "db", size=2), build_resource("StatefulSet", "db", size=3), 1.5),
    ],
)
def test_capacity_factor_reads_size_fields(was, now, factor):
    assert measure_capacity_factor([build_resource(other=1)], [Write(was, now)]) == factor


def test_values_of_the_healthy_object_are_no_increase():
    write = Write(build_resource(size=1), build_resource(size=4))
    assert (
        measure_capacity_factor(
            [build_resource(size=4), build_resource("Service", size=1), build_resource(name="ad", size=1)], [write]
        )
        == 1.0
    )
    assert (
        measure_capacity_factor([build_resource("Service", size=4), build_resource(name="ad", size=4)], [write]) == 4.0
    )


def test_greatest_of_several_writes_counts():
    writes = [
        Write(build_resource(size=1), None),
        Write(build_resource(size=1), build_resource(size=2)),
        Write(build_resource(size=1), build_resource(size=6)),
        Write(build_resource(size=1), build_resource(size=3)),
    ]
    assert measure_capacity_factor([], writes) == 6.0
    assert measure_capacity_factor([], []) == 1.0


def test_metadata_is_no_size():
    was, now = build_resource(), build_resource()
    now["metadata"]["generation"] = 9
    assert measure_capacity_factor([], [Write(was, now)]) == 1.0
