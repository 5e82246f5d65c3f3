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


def sized(kind="Deployment", name="web", **spec):
    return {"kind": kind, "metadata": {"name": name, "generation": 1}, "spec": spec}


@pytest.mark.parametrize(
    ("was", "now", "factor"),
    [
        (sized(maxSize=2), sized(maxSize=5), 2.5),
        (sized(a=2, b=3), sized(a=4, b=9), 3.0),
        (sized(b=3, a=2), sized(b=9, a=4), 3.0),
        (sized(on=True), sized(on=5), 1.0),
        (sized(size=0), sized(size=5), 1.0),
        (sized(size=-1), sized(size=5), 1.0),
        (sized(size=2), sized(size=True), 1.0),
        (sized(size=2), sized(), 1.0),
        (sized(size="2"), sized(size="many"), 1.0),
        (sized(), sized(size=9), 1.0),
        (sized(targetPort=80), sized(targetPort=8080), 1.0),
        (sized(nodePort=80), sized(nodePort=8080), 1.0),
        (sized(port=80), sized(port=8080), 1.0),
        (sized(ports=80), sized(ports=8080), 1.0),
        (sized("StatefulSet", "db", size=2), sized("StatefulSet", "db", size=3), 1.5),
    ],
)
def test_capacity_factor_reads_size_fields(was, now, factor):
    assert measure_capacity_factor([sized(other=1)], [Write(was, now)]) == factor


def test_values_of_the_healthy_object_are_no_increase():
    write = Write(sized(size=1), sized(size=4))
    assert measure_capacity_factor([sized(size=4), sized("Service", size=1), sized(name="ad", size=1)], [write]) == 1.0
    assert measure_capacity_factor([sized("Service", size=4), sized(name="ad", size=4)], [write]) == 4.0


def test_greatest_of_several_writes_counts():
    writes = [
        Write(sized(size=1), None),
        Write(sized(size=1), sized(size=2)),
        Write(sized(size=1), sized(size=6)),
        Write(sized(size=1), sized(size=3)),
    ]
    assert measure_capacity_factor([], writes) == 6.0
    assert measure_capacity_factor([], []) == 1.0


def test_metadata_is_no_size():
    was, now = sized(), sized()
    now["metadata"]["generation"] = 9
    assert measure_capacity_factor([], [Write(was, now)]) == 1.0
