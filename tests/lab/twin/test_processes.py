"""The twin as the kubelet's runtime: images, starts, init containers, probes."""

import copy
from collections.abc import Callable

import pytest

from scenario_kit.lab.kubelet.image.processes import Processes
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster


def test_twin_implements_the_kubelet_interface(cluster: Callable[..., TwinCluster]) -> None:
    twin: Processes = cluster(warm=0.0).twin
    assert twin.image_exists("ghcr.io/open-telemetry/demo:2.2.0-cart")
    assert twin.image_exists("busybox:1.37.0")
    assert twin.image_exists("docker.io/library/postgres:17.6")
    assert not twin.image_exists("ghcr.io/open-telemetry/demo:2.2.99-cart")
    assert twin.image_exists("gcr.io/google-containers/pause:latest")


def _start(shop: TwinCluster, workload: str, **env: str | None) -> tuple[float, int, str]:
    pod = copy.deepcopy(shop.pods(workload)[0])
    pod["metadata"].update(uid="another", name=f"{workload}-another")
    container = pod["spec"]["containers"][0]
    container["env"] = [e for e in container["env"] if e["name"] not in env]
    container["env"] += [{"name": k, "value": v} for k, v in env.items() if v is not None]
    begun = shop.twin.start(pod, container["name"], shop.now)
    return begun.listens_after_seconds, begun.exit.code if begun.exit else 0, begun.exit.text if begun.exit else ""


@pytest.mark.parametrize(("workload", "after"), [("frontend", 20.0), ("kafka", 20.0), ("cart", 5.0), ("payment", 5.0)])
def test_processes_become_ready_after_their_start_time(
    cluster: Callable[..., TwinCluster], workload: str, after: float
) -> None:
    assert _start(cluster(warm=60.0), workload) == (after, 0, "")


@pytest.mark.parametrize(
    ("workload", "env", "code", "words"),
    [
        ("checkout", {"PAYMENT_ADDR": ""}, 2, 'environment variable "PAYMENT_ADDR" not set'),
        ("checkout", {"PAYMENT_ADDR": None}, 2, 'environment variable "PAYMENT_ADDR" not set'),
        ("frontend-proxy", {"GRAFANA_HOST": None}, 1, "GRAFANA_HOST is empty"),
        ("cart", {"VALKEY_ADDR": "nobody:6379"}, 134, "Wasn't able to connect to redis"),
        (
            "product-catalog",
            {"DB_CONNECTION_STRING": "postgres://otelu:wrong@postgresql/otel"},
            1,
            "password authentication failed",
        ),
        ("shipping", {"QUOTE_ADDR": "http://nobody:1"}, 0, ""),
        ("product-catalog", {"DB_CONNECTION_STRING": None}, 1, "DB_CONNECTION_STRING environment variable not set"),
        ("product-catalog", {"PRODUCT_CATALOG_PORT": ""}, 0, ""),
        ("ad", {"AD_PORT": ""}, 1, "AD_PORT must not be null"),
        ("quote", {"QUOTE_PORT": ""}, 255, "Invalid URI"),
        ("currency", {"CURRENCY_PORT": ""}, 0, "Usage: currency <port>"),
        # without a variable of their own, they get that of their Service
        ("product-catalog", {"PRODUCT_CATALOG_PORT": None}, 1, "listen tcp: address :tcp://10.96."),
        ("ad", {"AD_PORT": None}, 1, 'NumberFormatException: For input string: "tcp://10.96.'),
        ("quote", {"QUOTE_PORT": None}, 255, 'Invalid URI "tcp://0.0.0.0:tcp://10.96.'),
        ("shipping", {"SHIPPING_PORT": None}, 101, "InvalidDigit"),
        ("recommendation", {"RECOMMENDATION_PORT": None}, 1, "Failed to bind to address [::]:tcp://10.96."),
        ("currency", {"CURRENCY_PORT": None}, 0, ""),
        ("product-reviews", {"LLM_MODEL": None}, 1, "LLM_MODEL environment variable must be set"),
        ("checkout", {"KAFKA_ADDR": ""}, 0, ""),
        ("accounting", {"KAFKA_ADDR": None}, 134, "The KAFKA_ADDR environment variable is not set"),
    ],
)
def test_invalid_environment_fails_the_start(
    cluster: Callable[..., TwinCluster], workload: str, env: dict[str, str | None], code: int, words: str
) -> None:
    _, found, text = _start(cluster(warm=60.0), workload, **env)
    assert found == code
    assert words in text


@pytest.mark.parametrize("workload", ["product-catalog", "payment", "cart"])
def test_program_without_port_variable_runs_but_is_unreachable(
    cluster: Callable[..., TwinCluster], workload: str
) -> None:
    shop = cluster(warm=60.0)
    shop.env(workload, f"{workload.replace('-', '_').upper()}_PORT", "")
    shop.run(30.0)
    assert shop.last is not None
    assert not shop.last.exits
    assert shop.run(60.0).calls(workload, kind="SERVER") == 0


def test_process_started_without_broker_ends_on_first_order(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    shop.env("checkout", "KAFKA_ADDR", "nobody:9092")
    ends = []
    for _ in range(8):
        shop.run(15.0)
        assert shop.last is not None
        ends += [e.code for e in shop.last.exits if e.container == "checkout"]
        shop.revive()
    assert len(ends) > 3
    assert set(ends) == {2}
    assert any("nil pointer dereference" in line.text for line in shop.logs if line.pod.startswith("checkout"))


@pytest.mark.parametrize(("workload", "variable"), [("checkout", "KAFKA_ADDR"), ("accounting", "DB_CONNECTION_STRING")])
def test_missing_optional_address_disables_the_call(
    cluster: Callable[..., TwinCluster], workload: str, variable: str
) -> None:
    shop = cluster(warm=60.0)
    shop.env(workload, variable, "" if workload == "checkout" else None)
    shop.run(30.0)
    after = shop.run(120.0)
    assert after.share("load-generator") == 0.0
    assert after.calls("accounting", span="postgresql") == 0
    assert (after.calls("accounting") == 0) == (workload == "checkout")


def test_process_starts_failing_without_its_store(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    shop.scale("valkey-cart", 0)
    shop.scale("postgresql", 0)
    assert _start(shop, "cart")[1] == 134
    assert _start(shop, "product-catalog")[1] == 1
    shop.run(15.0)
    assert any("connection refused" in line.text for line in shop.logs if line.pod == "product-catalog-another")


def test_limit_below_the_working_set_kills_at_start(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    pod = copy.deepcopy(shop.pods("ad")[0])
    pod["spec"]["containers"][0]["resources"]["limits"]["memory"] = "10Mi"
    begun = shop.twin.start(pod, "ad", shop.now)
    assert begun.exit is not None
    assert (begun.exit.code, begun.exit.reason) == (137, "OOMKilled")


def test_init_containers_wait_for_named_hosts(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    pod = shop.pods("checkout")[0]
    assert shop.twin.init(pod, "wait-for-kafka", shop.now).state == "Succeeded"
    shop.scale("kafka", 0)
    waiting = shop.twin.init(pod, "wait-for-kafka", shop.now)
    assert waiting.state == "Running"
    assert any("waiting for kafka" in line for line in waiting.lines)
    shop.delete("Service", "kafka")
    assert any("bad address" in line for line in shop.twin.init(pod, "wait-for-kafka", shop.now).lines)
    assert shop.twin.init(shop.pods("flagd")[0], "init-config", shop.now).state == "Succeeded"


@pytest.mark.parametrize(
    ("workload", "port", "path", "answer"),
    [
        ("cart", 8080, None, True),
        ("cart", 8080, "grpc:", True),
        ("cart", 40, None, False),
        ("cart", 40, "/ready", False),
        ("cart", 8080, "/ready", False),
        ("frontend", 8080, "/", True),
        ("otel-collector", 13133, "/", True),
        ("payment", 0, "exec:true", True),
    ],
)
def test_probes(cluster: Callable[..., TwinCluster], workload: str, port: int, path: str | None, answer: bool) -> None:
    shop = cluster(warm=60.0)
    pod = shop.pods(workload)[0]
    assert shop.twin.answers(pod, pod["spec"]["containers"][0]["name"], port, path, shop.now) is answer


def test_probes_fail_while_a_process_starts() -> None:
    little = TwinCluster(tiny.app(), tiny.objects())
    pod = little.pods("gate")[0]
    assert not little.twin.answers(pod, "gate", 80, "/live", little.now + 4.0)
    assert little.twin.answers(pod, "gate", 80, "/live", little.now + 5.0)
    assert not little.twin.answers(pod, "gate", 80, "/nothing", little.now + 5.0)


@pytest.mark.parametrize(
    ("owner", "image", "ends"),
    [("Job", "example.org/migrate:1", True), ("ReplicaSet", "example.org/migrate:1", False), ("Job", "API", False)],
)
def test_an_unknown_program_of_a_job_succeeds(owner: str, image: str, ends: bool) -> None:
    shop = tiny.start_cluster(warm=0.0)
    known = shop.pods("api")[0]["spec"]["containers"][0]["image"]
    pod = {
        "metadata": {"name": "seed-x", "namespace": shop.namespace, "uid": "u", "ownerReferences": [{"kind": owner}]},
        "spec": {"containers": [{"name": "main", "image": known if image == "API" else image}], "nodeName": "n"},
        "status": {"podIP": "10.9.9.9"},
    }
    exit = shop.twin.start(pod, "main", shop.now).exit
    assert (exit is not None and (exit.code, exit.reason) == (0, "Completed")) is ends
