"""How programs end on SIGTERM, by program and command."""

import math
from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lab.kubelet.image.processes import Stopping
from scenario_kit.lab.twin.startup.process_stop import find_stop
from scenario_kit.model.runtime.process import Stop
from scenario_kit.model.twin.component import ComponentModel, Termination
from tests.lab.twin import tiny
from tests.lab.twin.dialling import process

IGNORED = Stop(math.inf)
POD: dict[str, Any] = {"spec": {}}


@pytest.mark.parametrize(
    ("words", "stop"),
    [
        ([], Stop(3.0, 0)),
        (["/bin/server", "--port=80"], Stop(3.0, 0)),
        (["sleep", "infinity"], IGNORED),
        (["sh", "-c", "sleep 1000"], IGNORED),
        (["sh", "-c", "while true; do k6 run x.js; sleep 1; done"], IGNORED),
        (["/bin/sh", "-c", "envsubst < a > b && envoy -c b;"], IGNORED),
        (["sh", "-ec", "server | tee log"], IGNORED),
        (["sh", "-c", "envsubst < a > b && exec envoy -c b"], Stop(3.0, 0)),
        (["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 1; done"], Stop(3.0, 0)),
        (["sh", "-c", "server --flag"], Stop(3.0, 0)),  # the shell runs a single command in its own place
        (["bash", "-c", "prepare && server"], Stop(3.0, 0)),  # so does bash with the last one
        (["sh", "start.sh"], Stop(3.0, 0)),  # unknown
    ],
)
def test_first_process_without_a_handler_ignores_the_signal(words: list[str], stop: Stop) -> None:
    model = ComponentModel(image="*", termination=Termination(seconds=3.0, exit_code=0))
    container = {"name": "main", **({"command": words} if words else {})}
    assert find_stop(POD, container, process("a", "10.0.0.2", model=model)) == stop


@pytest.mark.parametrize(("shared", "stop"), [(False, IGNORED), (True, Stop())])
def test_shared_process_namespace_has_another_first_process(shared: bool, stop: Stop) -> None:
    model = ComponentModel(image="*", termination=Termination(ignore_signal=True))
    pod = {"spec": {"shareProcessNamespace": shared}}
    assert find_stop(pod, {"name": "main"}, process("a", "10.0.0.2", model=model)) == stop


def test_unknown_program_ends_at_once() -> None:
    assert find_stop(POD, {"name": "main"}, None) == Stop(0.0, 143)


def test_kubelet_asks_the_twin() -> None:
    cluster = tiny.start_cluster(warm=0.0)
    assert isinstance(cluster.twin, Stopping)
    assert cluster.twin.stop(cluster.pods("gate")[0], "gate", cluster.now) == Stop()


@pytest.mark.parametrize(
    ("app", "version", "component", "ignores", "code"),
    [
        ("otel-demo", version, *row)
        for version in ("2.2.0", "3.0.0")
        for row in [
            ("frontend-proxy", True, 143),
            ("currency", True, 143),
            ("recommendation", True, 143),
            ("checkout", False, 2),
            ("product-catalog", False, 0),
            ("ad", False, 143),
            ("kafka", False, 143),
            ("valkey-cart", False, 0),
        ]
    ]
    + [
        ("otel-demo", "2.2.0", "product-reviews", True, 143),
        ("otel-demo", "2.2.0", "llm", False, 0),
        ("hotel-reservation", "6ecb097", "rate", False, 2),
        ("hotel-reservation", "6ecb097", "memcached-rate", False, 0),
        ("hotel-reservation", "6ecb097", "mongodb-rate", False, 0),
    ],
)
def test_programs_of_the_apps(app: str, version: str, component: str, ignores: bool, code: int) -> None:
    twin = Catalog().app(app, version).twin
    assert twin is not None
    termination = twin.components[component].termination
    assert (termination.ignore_signal, termination.exit_code) == (ignores, code)
