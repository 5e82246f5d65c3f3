"""Agent rules in Java programs: affected requests, and removal."""

from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model import Component
from scenario_kit.model.authored.app import App, Jvm, JvmResult
from tests.lab.twin import tiny
from tests.lab.twin.shop import rendered
from tests.lab.twin.twin_cluster import TwinCluster

_JVM = Jvm(
    class_name="org.api.Server$Service",
    method="read",
    returns=JvmResult(class_name="org.api.Store", method="find", value="null"),
)
_TRIGGER = ("org.chaos_mesh.chaos_agent.TriggerThread", "triggerFunc")
_FAILURE = {"throws": "java.lang.IllegalStateException: why"}


def _app(**java: Any) -> App:
    components = dict(tiny.TWIN["components"])
    java = {
        "exceptionLog": "SEVERE: {exception}\n\tat {class}.{method}",
        "exceptionResponse": "2 UNKNOWN: so there",
        **java,
    }
    components["api"] = {**components["api"], "dialect": "java", "java": java}
    components["gate"] = {**components["gate"]}
    return tiny.app(components=components)


def _start_cluster(**java: Any) -> TwinCluster:
    app = _app(**java)
    parts = tuple(
        Component(name=c.name, workload=c.workload, service=c.service, jvm=_JVM if c.name == "api" else None)
        for c in app.components
    )
    cluster = TwinCluster(App.from_json({**app.to_json(), "components": [p.to_json() for p in parts]}), tiny.objects())
    cluster.now += 30.0
    cluster.restart("api")
    cluster.run(120.0)
    return cluster


def _rule(*actions: dict[str, Any], at: tuple[str, str] = (_JVM.class_name, _JVM.method)) -> dict[str, Any]:
    return {"name": "r1", "class": at[0], "method": at[1], "actions": list(actions)}


def _install(cluster: TwinCluster, *rules: dict[str, Any], workload: str = "api") -> None:
    cluster.afflict(workload, "JVM", *({"port": 9277, "rules": [rule]} for rule in rules))


def _remove(cluster: TwinCluster) -> None:
    cluster.stress = ()
    cluster.version += 1


@pytest.mark.parametrize(
    ("at", "share"),
    [
        ((_JVM.class_name, "read"), 1.0),
        (("Server$Service", "read"), 1.0),  # of any package
        ((_JVM.class_name, "write"), 0.0),
        (("org.api.Server", "read"), 0.0),
        (("org.api.Store", "find"), 0.25),
        (_TRIGGER, 0.0),  # the agent's own thread
    ],
)
def test_requests_through_the_method_fail(at: tuple[str, str], share: float) -> None:
    cluster = _start_cluster(wrongResult={"share": 0.25})
    _install(cluster, _rule(_FAILURE, at=at))
    window = cluster.run(300.0)
    assert window.share("api", kind="SERVER") == pytest.approx(share, abs=0.05)
    assert window.share("gate", kind="CLIENT") == pytest.approx(share, abs=0.05)
    _remove(cluster)
    assert cluster.run(120.0).share("api", kind="SERVER") == 0.0


def test_non_java_program_has_no_jvm_rules() -> None:
    cluster = _start_cluster()
    _install(cluster, _rule(_FAILURE, at=("org.api.Server$Service", "read")), workload="gate")
    assert cluster.run(120.0).share("gate", kind="SERVER") == 0.0
    spec = {w: cluster.pods(w)[0]["spec"]["containers"][0] for w in ("api", "gate", "box")}
    assert {w: cluster.twin.explain_attach_failure(each) for w, each in spec.items()} == {
        "api": "",
        "gate": "NoJava",
        "box": "NoJava",
    }
    cluster = _start_cluster(hasShell=False)
    assert cluster.twin.explain_attach_failure(spec["api"]) == "NoShell"


def test_exception_appears_in_log_span_and_response() -> None:
    cluster = _start_cluster()
    _install(cluster, _rule(_FAILURE))
    cluster.logs.clear()
    cluster.run(60.0)
    lines = [(line.pod.rpartition("-")[0], line.text) for line in cluster.logs]
    assert ("api", "SEVERE: java.lang.IllegalStateException: why") in lines
    assert ("api", "\tat org.api.Server$Service.read") in lines
    assert ("gate", "2 UNKNOWN: so there") in lines
    assert ("api", "TransformListener() : accepting requests on localhost:9277") in lines
    spans = [s for t in cluster.twin.traces(cluster.now - 60.0, cluster.now) for s in t.spans if s.kind == "SERVER"]
    (served,) = {(s.message, s.attributes["rpc.grpc.status_code"]) for s in spans if s.name == "Api/Read"}
    assert served == ("", 2)
    events = [e.attributes for s in spans if s.name == "Api/Read" for e in s.events]
    assert events[0] == {"exception.type": "java.lang.IllegalStateException", "exception.message": "why"}


def test_jvm_sleep_only_delays_requests() -> None:
    cluster = _start_cluster()
    assert cluster.run(120.0).quantile(0.9, "gate") < 1000
    _install(cluster, _rule({"sleepSeconds": 3.0}))
    window = cluster.run(300.0)
    assert window.quantile(0.1, "gate") > 2000
    assert window.share("api", kind="SERVER") == window.share("gate", kind="CLIENT") == 0.0


def test_wrong_result_has_the_apps_declared_consequences() -> None:
    cluster = _start_cluster(wrongResult={"share": 0.5, "exception": "java.lang.NullPointerException: no store"})
    store = ("org.api.Store", "find")
    _install(cluster, _rule({"returns": "null"}, at=store))
    assert cluster.run(300.0).share("api", kind="SERVER") == pytest.approx(0.5, abs=0.06)
    spec = cluster.pods("api")[0]["spec"]["containers"][0]
    assert cluster.twin.unknown(spec, [_rule({"returns": "null"}, at=store), _rule({"sleepSeconds": 1.0})]) == ""
    assert "returning 1 is not simulated" in cluster.twin.unknown(spec, [_rule({"returns": "1"}, at=store)])
    assert "returning at once is not" in cluster.twin.unknown(spec, [_rule({"returns": ""})])
    assert cluster.twin.unknown(spec, [_rule({"returns": "1"}, at=("org.api.Else", "find"))]) == ""


def test_restarted_container_loses_jvm_rules() -> None:
    cluster = _start_cluster()
    _install(cluster, _rule(_FAILURE))
    assert cluster.run(60.0).share("api", kind="SERVER") == 1.0
    cluster.restart("api")
    cluster.run(60.0)
    assert cluster.run(120.0).share("api", kind="SERVER") == 0.0


def test_garbage_collection_pauses_once_and_is_counted() -> None:
    cluster = _start_cluster(collectionSeconds=5, collector="MarkSweepCompact", collections=2)
    assert _collections(cluster) == 2.0
    _install(cluster, _rule({"collects": True}, at=_TRIGGER))
    assert cluster.run(15.0).quantile(0.99, "api") > 2000
    cluster.run(15.0)
    assert cluster.run(60.0).quantile(0.99, "api") < 1000
    assert _collections(cluster) == 3.0
    _remove(cluster)
    cluster.run(15.0)
    _install(cluster, _rule({"collects": True}, at=_TRIGGER))
    cluster.run(15.0)
    assert _collections(cluster) == 4.0, "put in again, it collects again"


def test_busy_threads_use_cores_and_full_heap_fails_requests() -> None:
    cluster = _start_cluster(heapUsedMib=20, heapMib=100)
    assert _usage(cluster)[0] < 0.2
    _install(cluster, _rule({"threads": 2}, at=_TRIGGER))
    cluster.run(60.0)
    assert _usage(cluster)[0] == pytest.approx(2.0, abs=0.2)
    _install(cluster, _rule({"fills": "heap"}, at=_TRIGGER))
    window = cluster.run(60.0)
    assert window.share("api", kind="SERVER") == 1.0
    assert _usage(cluster)[1] == pytest.approx(130 * 2**20, rel=0.03)
    _remove(cluster)
    cluster.run(30.0)
    assert _usage(cluster)[1] == pytest.approx(50 * 2**20, rel=0.03)


@pytest.mark.parametrize(
    ("limit", "held", "expected"), [("100Mi", 10, 90.0), ("300Mi", 26, 150.0), ("800Mi", 100, 150.0)]
)
def test_default_heap_follows_memory_limit(limit: str, held: float, expected: float) -> None:
    cluster = _start_cluster(heapUsedMib=held)
    spec = cluster.get("Deployment", "api")["spec"]["template"]["spec"]["containers"][0]
    spec["resources"] = {"limits": {"memory": limit}}
    cluster.restart("api")
    cluster.run(60.0)
    _install(cluster, _rule({"fills": "heap"}, at=_TRIGGER))
    cluster.run(30.0)
    assert _usage(cluster)[1] / 2**20 == pytest.approx(expected, abs=2.0)


def test_heap_beyond_the_memory_limit_is_oom_killed() -> None:
    cluster = _start_cluster(heapMib=400, heapUsedMib=20)
    spec = cluster.get("Deployment", "api")["spec"]["template"]["spec"]["containers"][0]
    spec["resources"] = {"limits": {"memory": "200Mi"}}
    cluster.restart("api")
    cluster.run(60.0)
    _install(cluster, _rule({"fills": "heap"}, at=_TRIGGER))
    cluster.run(15.0)
    assert cluster.last is not None
    assert [exit_.reason for exit_ in cluster.last.exits] == ["OOMKilled"]


@pytest.mark.parametrize(
    ("version", "workload", "action", "share"),
    [
        ("2.2.0", "ad", {"throws": "java.lang.IllegalStateException: why"}, 1.0),
        ("3.0.0", "ad", {"returns": "null"}, 0.286),
        ("2.2.0", "kafka", {"throws": "java.lang.IllegalStateException: why"}, 1.0),
    ],
)
def test_programs_of_the_shop(version: str, workload: str, action: dict[str, Any], share: float) -> None:
    shop = rendered(version, 50, {}, "steady", 240.0)
    jvm = next(c.jvm for c in Catalog().app("otel-demo", version).components if c.name == workload)
    assert jvm is not None
    place = jvm.returns if "returns" in action and jvm.returns is not None else jvm
    _install(shop, _rule(action, at=(place.class_name, place.method)), workload=workload)
    shop.logs.clear()
    window = shop.run(300.0)
    lines = {(line.pod.rpartition("-")[0], line.text) for line in shop.logs}
    if workload == "ad":
        assert window.share("ad", kind="SERVER") == pytest.approx(share, abs=0.08)
        assert ("frontend", "Error: 2 UNKNOWN: Application error processing RPC") in lines
    else:
        assert window.rate("fraud-detection", kind="CONSUMER") == 0.0
        assert window.share("checkout", kind="SERVER") == 0.0  # nobody acknowledges an order


def _usage(cluster: TwinCluster) -> tuple[float, float]:
    assert cluster.last is not None
    return next((u.cpu_cores, u.memory_bytes) for (_, name), u in cluster.last.usage.items() if name == "api")


def _collections(cluster: TwinCluster) -> float:
    return sum(value for (name, _), value in cluster.samples.items() if name == "jvm_gc_duration_seconds_count")
