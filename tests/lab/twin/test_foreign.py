"""What programs of other apps do: settings in nested files, addresses put together, threads, spans without a status."""

import copy
import json
from typing import Any

import pytest

from scenario_kit.lab.twin.address import Address
from scenario_kit.lab.twin.client_errors.by_language import describe_cause
from scenario_kit.lab.twin.network.dialling import read_address
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.twin.address import AddressSource
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster

CONFIG = {"box": {"addr": "box", "port": 7000}, "main": {"port": 9000}}


class Reader:
    """A process as far as addresses are read."""

    def __init__(self, env: dict[str, str], config: dict[str, str] | None) -> None:
        self.env = env
        self.config = config


@pytest.mark.parametrize(
    ("source", "env", "config", "expected"),
    [
        ({"text": "api$(SUFFIX):90"}, {"SUFFIX": ".home"}, None, Address("api.home", 90)),
        ({"text": "api$(SUFFIX):90"}, {}, None, Address("api", 90)),
        ({"text": "api$SUFFIX"}, {"SUFFIX": ".home"}, None, Address("api$SUFFIX")),
        ({"host_key": "box.addr", "port_key": "box.port"}, {}, {"box.addr": "b", "box.port": "7"}, Address("b", 7)),
        ({"host_key": "box.addr", "default_port": 5}, {}, {"box.addr": "b"}, Address("b", 5)),
        ({"host_key": "box.addr", "port_key": "box.port", "text": "box:7"}, {}, None, Address("box", 7)),
        ({"host_key": "box.addr", "port_key": "box.port", "text": "box:7"}, {}, {}, Address("")),
    ],
)
def test_address_is_composed_from_its_source(source: Any, env: Any, config: Any, expected: Address) -> None:
    assert read_address(AddressSource(**source), Reader(env, config)) == expected  # type: ignore[arg-type]


def twin(**api: Any) -> dict[str, Any]:
    """The little app, whose gate calls two programs in parallel and reads a file."""
    known = copy.deepcopy(tiny.TWIN)
    parts = known["components"]
    parts["api"] |= {"config": "/etc/api/config.json", "ports": [{"key": "main.port", "protocol": "grpc"}], **api}
    parts["sink"]["operations"] = {"note": {}}
    ask, note = {"call": "api/Read"}, {"call": "sink/note", "span": "note"}
    parts["gate"]["operations"]["read"]["steps"] = [{"fork": True, "steps": [ask, note]}]
    known["edges"][2]["address"] = {"hostKey": "box.addr", "portKey": "box.port"}
    known["components"]["box"]["logins"] = []
    known["edges"].append({"caller": "gate", "callee": "sink", "protocol": "grpc", "address": {"text": "sink:4317"}})
    return known


def start_cluster(config: Any = CONFIG, **api: Any) -> TwinCluster:
    objects = tiny.objects()
    container = next(o for o in objects if o["metadata"]["name"] == "api")["spec"]["template"]["spec"]
    container["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/etc/api"}]
    container["volumes"] = [{"name": "v", "configMap": {"name": "api"}}]
    file = {"kind": "ConfigMap", "metadata": {"name": "api"}, "data": {"config.json": json.dumps(config)}}
    cluster = TwinCluster(tiny.app(**twin(**api)), [file, *objects])
    cluster.now += 30.0
    cluster.restart("api")
    cluster.run(120.0)
    return cluster


def test_nested_file_has_listen_and_call_addresses() -> None:
    span = start_cluster().run(120.0)
    assert span.calls("gate") > 10
    assert span.share("gate", kind="SERVER") == 0


@pytest.mark.parametrize("config", [{**CONFIG, "box": {"addr": "bax", "port": 7000}}, {**CONFIG, "main": {"port": 1}}])
def test_wrong_value_in_a_nested_file_breaks_requests(config: Any) -> None:
    span = start_cluster(config, start={}).run(120.0)
    assert span.share("gate", kind="SERVER") > 0.9


def test_parallel_calls_all_run_despite_failures() -> None:
    cluster = start_cluster()
    whole = cluster.run(120.0)
    cluster.delete("Service", "api")
    cluster.restart("gate")
    cluster.run(60.0)
    span = cluster.run(120.0)
    assert whole.share("gate", kind="SERVER") == 0
    assert span.share("gate", kind="SERVER") == 1
    for each in (whole, span):
        requests, served = (each.calls("gate", **which) for which in ({"span": "note"}, {"kind": "SERVER"}))
        assert requests == pytest.approx(served, rel=0.05)


def test_slowest_of_parallel_calls_counts() -> None:
    cluster = start_cluster()
    cluster.chaos("sink", delay=1.1)
    cluster.chaos("api", delay=0.5)
    cluster.run(60.0)
    assert 1000.0 <= cluster.run(120.0).quantile(0.5, "gate", "GET /read") <= 1400.0


def test_unset_span_status_hides_errors_from_the_callee_only() -> None:
    cluster = start_cluster(unsetStatus=True)
    cluster.delete("Service", "box")
    cluster.restart("api")
    cluster.run(60.0)
    span = cluster.run(120.0)
    assert span.share("gate", kind="SERVER") > 0.9
    assert span.share("api") == 0


def test_program_may_wait_indefinitely_for_dependencies() -> None:
    cluster = start_cluster(start={"dependencies": [{"callee": "box", "waitSeconds": -1}]})
    cluster.scale("box", 0)
    cluster.restart("api")
    assert cluster.run(3600.0).silent("api")
    assert cluster.revive() == 0, "it never ended"
    cluster.scale("box", 1)
    cluster.run(300.0)  # callers try again within two minutes
    span = cluster.run(60.0)
    assert (span.calls("api") > 5, span.share("api")) == (True, 0.0)


def test_cpp_clients_have_their_own_errors() -> None:
    assert (
        describe_cause("cpp", ConnectionOutcome.NXDOMAIN, "tcp", host="api", port=9)
        == "Could not resolve host for client socket."
    )
    assert describe_cause("cpp", ConnectionOutcome.CONNECTION_REFUSED, "tcp") != describe_cause(
        "go", ConnectionOutcome.CONNECTION_REFUSED, "tcp"
    )
