"""Variables that name Services, as the kubelet's (``pkg/kubelet/envvars``), and what programs make of them."""

from typing import Any

import pytest

from scenario_kit.lab.twin import View
from scenario_kit.lab.twin.cluster.environment import build_environment
from scenario_kit.lab.twin.process.process import list_listeners
from scenario_kit.lab.twin.startup.invalid_ports import find_invalid_port
from scenario_kit.model import Ledger
from scenario_kit.model.twin.component import ComponentModel, Port
from tests.lab.twin import tiny
from tests.lab.twin.dialling import process
from tests.lab.twin.test_debug_pods import read_result, run
from tests.lab.twin.twin_cluster import TwinCluster

URL = "tcp://10.96.0.7:8080"
WEB = {"port": 80, "name": "web"}


def _make_service(name: str, address: str, *ports: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {"ports": list(ports)}
    return {"metadata": {"name": name}, "spec": spec | ({"clusterIP": address} if address else {})}


def _read(services: list[dict[str, Any]], container: dict[str, Any] | None = None, **spec: Any) -> dict[str, str]:
    objects = {
        "Service": {each["metadata"]["name"]: each for each in services},
        "ConfigMap": {"c": {"data": {"FOO_PORT": "from-map"}}},
    }
    others = {"other": {"Service": {"far": _make_service("far", "10.96.0.9", {"port": 1})}}}
    view = View("shop", objects, Ledger(), 1, others)
    found = build_environment(view, {"metadata": {"name": "p"}, "spec": spec}, container or {})
    assert found.pop("KUBERNETES_PORT") == "tcp://10.96.0.1:443"
    assert found.pop("KUBERNETES_SERVICE_PORT_HTTPS") == "443"
    return {name: value for name, value in found.items() if not name.startswith("KUBERNETES_")}


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        (
            _make_service("foo-bar", "1.2.3.4", {"port": 8080, "protocol": "TCP"}),
            {
                "FOO_BAR_SERVICE_HOST": "1.2.3.4", "FOO_BAR_SERVICE_PORT": "8080",
                "FOO_BAR_PORT": "tcp://1.2.3.4:8080", "FOO_BAR_PORT_8080_TCP": "tcp://1.2.3.4:8080",
                "FOO_BAR_PORT_8080_TCP_PROTO": "tcp", "FOO_BAR_PORT_8080_TCP_PORT": "8080",
                "FOO_BAR_PORT_8080_TCP_ADDR": "1.2.3.4",
            },
        ),
        (
            _make_service("a", "fd00::7", {"port": 53, "protocol": "UDP", "name": "d-n-s"}, WEB),
            {
                "A_SERVICE_HOST": "fd00::7", "A_SERVICE_PORT": "53", "A_SERVICE_PORT_D_N_S": "53",
                "A_SERVICE_PORT_WEB": "80", "A_PORT": "udp://[fd00::7]:53",
                "A_PORT_53_UDP": "udp://[fd00::7]:53", "A_PORT_53_UDP_PROTO": "udp", "A_PORT_53_UDP_PORT": "53",
                "A_PORT_53_UDP_ADDR": "fd00::7",
                "A_PORT_80_TCP": "tcp://[fd00::7]:80", "A_PORT_80_TCP_PROTO": "tcp", "A_PORT_80_TCP_PORT": "80",
                "A_PORT_80_TCP_ADDR": "fd00::7",
            },
        ),
        (_make_service("headless", "None", {"port": 80}), {}),
        (_make_service("alias", "", {"port": 80}), {}),
        (_make_service("portless", "1.2.3.4"), {}),
    ],
)  # fmt: skip
def test_names_and_values(service: dict[str, Any], expected: dict[str, str]) -> None:
    assert _read([service]) == expected
    assert _read([service], enableServiceLinks=True) == expected
    assert _read([service], enableServiceLinks=False) == {}, "but for the API server's"


def test_variables_of_the_container_come_first() -> None:
    foo = _make_service("foo", "1.2.3.4", {"port": 8080})
    container = {
        "envFrom": [{"configMapRef": {"name": "c"}}],
        "env": [
            {"name": "URL", "value": "http://$(FOO_SERVICE_HOST):$(FOO_PORT)"},
            {"name": "FOO_SERVICE_HOST", "value": "mine"},
            {"name": "AFTER", "value": "$(FOO_SERVICE_HOST)"},
        ],
    }
    found = _read([foo], container)
    assert (found["URL"], found["FOO_PORT"]) == ("http://1.2.3.4:from-map", "from-map")
    assert (found["FOO_SERVICE_HOST"], found["AFTER"]) == ("mine", "mine")
    assert found["FOO_SERVICE_PORT"] == "8080"


def test_debug_pod_shows_them() -> None:
    cluster = tiny.start_cluster(warm=0.0)
    address = cluster.get("Service", "gate")["spec"]["clusterIP"]
    code, text = read_result(run(cluster, "env"))
    assert code == 0
    assert f"GATE_SERVICE_HOST={address}\n" in text
    assert read_result(run(cluster, "printenv", "GATE_PORT")) == (0, f"tcp://{address}:80")


@pytest.mark.parametrize(
    ("dialect", "protocol", "value", "text", "code"),
    [
        ("go", "grpc", URL, f"listen tcp: address :{URL}: too many colons in address", 1),
        ("go", "grpc", "http", "listen tcp: lookup tcp/http: unknown port", 1),
        ("java", "grpc", URL, f'java.lang.NumberFormatException: For input string: "{URL}"', 1),
        ("python", "grpc", URL, f"Failed to bind to address [::]:{URL}", 1),
        ("python", "http", "x", "invalid literal for int() with base 10: 'x'", 1),
        ("rust", "http", URL, "ParseIntError { kind: InvalidDigit }", 101),
        ("dotnet", "grpc", URL, f"Invalid url: 'http://*:{URL}'", 134),
    ],
)
def test_port_without_a_number_fails_a_program(dialect: str, protocol: Any, value: str, text: str, code: int) -> None:
    model = ComponentModel(image="*", dialect=dialect, ports=(Port(env="A_PORT", number=80, protocol=protocol),))
    found = find_invalid_port(process("a", "10.0.0.2", model=model, env={"A_PORT": value}))
    assert found is not None
    assert text in found.text
    assert found.code == code
    for fine in ("8080", ""):
        assert find_invalid_port(process("a", "10.0.0.2", model=model, env={"A_PORT": fine})) is None


@pytest.mark.parametrize("dialect", ["node", "cpp", ""])
def test_other_programs_run_without_the_port(dialect: str) -> None:
    model = ComponentModel(image="*", dialect=dialect, ports=(Port(env="A_PORT", number=80), Port(number=81)))
    one = process("a", "10.0.0.2", model=model, env={"A_PORT": URL})
    assert find_invalid_port(one) is None
    cluster = tiny.start_cluster(warm=0.0)
    (gate,) = cluster.twin._process_table.of("gate")
    identity = type("Identity", (), {"idle": False, "model": model})
    assert [each.number for each in list_listeners(identity, gate.spec, {"A_PORT": URL})] == [81]  # type: ignore[arg-type]
    assert [each.number for each in list_listeners(identity, gate.spec, {})] == [80, 81]  # type: ignore[arg-type]


def _start_api_named_port(**spec: Any) -> TwinCluster:
    """The application whose ``api`` reads its port from ``API_PORT``, which nobody sets."""
    components = tiny.TWIN["components"]
    api = {**components["api"], "dialect": "go", "ports": [{"env": "API_PORT", "number": 9000, "protocol": "grpc"}]}
    cluster = TwinCluster(tiny.app(components={**components, "api": api}), tiny.objects())
    cluster.get("Deployment", "api")["spec"]["template"]["spec"].update(spec)
    cluster.now += 30.0
    cluster.restart("api")
    cluster.run(60.0)
    return cluster


def test_missing_variable_is_shadowed_by_a_service_of_its_name() -> None:
    """The collision that ``enableServiceLinks: false`` avoids."""
    cluster = _start_api_named_port()
    assert cluster.run(30.0).calls("api") == 0
    (pod,) = cluster.pods("api")
    start = cluster.twin.start(pod, "api", cluster.now)
    assert start.exit is not None
    assert (start.exit.code, start.exit.text[:24]) == (1, "listen tcp: address :tcp")
    assert _start_api_named_port(enableServiceLinks=False).run(30.0).rate("api") > 0.0
