"""By how much a repair raises what fills up."""

import pytest

from scenario_kit.judge.altered import Write
from scenario_kit.judge.relief import raised


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
def test_what_is_more_than_the_healthy_app_has(before, broken, now, factor):
    assert raised([before], [Write(broken, now)]) == factor
