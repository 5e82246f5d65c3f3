"""Effects of a proxy in the callee's pod on HTTP requests."""

from typing import Any

import pytest

from scenario_kit.lab.twin.network.http_chaos import HttpRule, list_rules
from scenario_kit.model import ContainerEffect
from scenario_kit.model.runtime.process import Lag
from tests.lab.twin import tiny
from tests.lab.twin.shop import rendered
from tests.lab.twin.twin_cluster import TwinCluster


def _intercept(
    cluster: TwinCluster, rule: dict[str, Any], ports: tuple[int, ...] = (80,), workload: str = "gate"
) -> None:
    (pod,) = cluster.pods(workload)
    cluster.stress = (
        ContainerEffect(
            kind="HTTP",
            pod_uid=pod["metadata"]["uid"],
            container_id=pod["status"]["containerStatuses"][0]["containerID"],
            arguments={"rules": [rule], "proxyPorts": list(ports), "tls": False},
        ),
    )
    cluster.version += 1


def _rule(target: str = "Request", selector: dict[str, Any] | None = None, **actions: Any) -> dict[str, Any]:
    return {"target": target, "selector": {"port": 80, "path": "*", **(selector or {})}, "actions": actions}


def _calls(cluster: TwinCluster, service: str, kind: str) -> tuple[float, float]:
    """Requests per second over five minutes, and the share of them that failed."""
    window = cluster.run(300.0)
    return window.rate(service, kind=kind), window.share(service, kind=kind)


@pytest.mark.parametrize(
    ("rule", "served", "failing"),
    [
        (_rule(abort=True), False, True),
        (_rule("Response", abort=True), True, True),
        (_rule("Response", replace={"code": 500}), True, True),
        (_rule("Response", replace={"code": 204}), True, False),
        (_rule("Response", {"code": 500}, abort=True), True, False),  # no answer is one
        (_rule("Response", {"code": 200}, abort=True), True, True),
        (_rule("Response", {"code": 201}, abort=True), True, False),
        (_rule("Response", {"code": 404}, abort=True), True, False),
        (_rule(selector={"path": "/read"}, abort=True), False, True),
        (_rule(selector={"path": "/read", "method": "POST"}, abort=True), True, False),
        (_rule(selector={"path": "/other*"}, abort=True), True, False),
        (_rule(selector={"port": 81}, abort=True), True, False),
        (_rule(selector={"request_headers": {"x": "y"}}, abort=True), True, False),
    ],
)
def test_http_rules_select_calls_and_change_outcomes(rule: dict[str, Any], served: bool, failing: bool) -> None:
    cluster = tiny.start_cluster()
    _intercept(cluster, rule)
    cluster.run(90.0)  # connections that are older than the proxy
    rate, _ = _calls(cluster, "gate", "SERVER")
    _, share = _calls(cluster, "users", "CLIENT")
    assert (rate > 1.0) is served
    assert share == (1.0 if failing else 0.0)


@pytest.mark.parametrize("target", ["Request", "Response"])
def test_delay_is_the_callers_and_not_the_callees(target: str) -> None:
    cluster = tiny.start_cluster()
    _intercept(cluster, _rule(target, delay="2s"))
    cluster.run(90.0)
    late = cluster.run(120.0)
    assert late.quantile(0.5, "users") > 1000 > 100 > late.quantile(0.95, "gate")


def test_aborted_response_is_not_delayed() -> None:
    cluster = tiny.start_cluster()
    _intercept(cluster, _rule("Response", abort=True, delay="2s"))
    cluster.run(90.0)
    late = cluster.run(120.0)
    assert (late.share("users", kind="CLIENT"), late.quantile(0.95, "users") < 1000) == (1.0, True)


def test_delay_beyond_the_callers_timeout_fails_there_while_the_callee_still_serves() -> None:
    edges = [dict(e, timeoutSeconds=3) if e["callee"] == "gate" else e for e in tiny.TWIN["edges"]]
    for target in ("Request", "Response"):
        cluster = tiny.start_cluster(edges=edges)
        _intercept(cluster, _rule(target, delay="5s"))
        cluster.run(90.0)
        late = cluster.run(120.0)
        assert late.share("users", kind="CLIENT") == 1.0
        assert 2000 < late.quantile(0.5, "users") < 4000, "three seconds, by the buckets"
        assert late.rate("gate", kind="SERVER") > 1.0
        assert late.share("gate", kind="SERVER") == 0.0


def test_proxy_in_the_callers_pod_handles_what_it_sends() -> None:
    cluster = tiny.start_cluster()
    _intercept(cluster, _rule(abort=True), workload="users")  # port 80 is that of the Service that it calls
    cluster.run(90.0)
    assert cluster.run(60.0).share("users", kind="CLIENT") == 1.0
    _intercept(cluster, _rule(selector={"port": 81}, abort=True), ports=(81,), workload="users")
    cluster.run(90.0)
    assert cluster.run(60.0).share("users", kind="CLIENT") == 0.0


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([_rule(abort=True)], Lag(0.0, 0.0, 0)),
        ([_rule(delay="2s")], Lag(0.0, 2.0, 200)),
        ([_rule("Response", delay="2s")], Lag(0.0, 2.0, 200)),
        ([_rule("Response", replace={"code": 503})], Lag(0.0, 0.0, 503)),
        ([_rule("Response", {"code": 500}, replace={"code": 503})], Lag(0.0, 0.0, 200)),
        ([_rule("Response", {"code": 200}, abort=True)], Lag(0.0, 0.0, 0)),
        ([_rule(selector={"path": "/li*"}, delay="2s")], Lag(0.0, 2.0, 200)),
        ([_rule(selector={"path": "/[l]ive"}, delay="2s")], Lag(0.0, 0.0, 200)),  # no set of letters
        ([_rule(selector={"path": "/read"}, abort=True)], Lag(0.0, 0.0, 200)),
        ([_rule(selector={"method": "POST"}, abort=True)], Lag(0.0, 0.0, 200)),
        ([_rule(selector={"port": 81}, abort=True)], Lag(0.0, 0.0, 200)),
        ([_rule(delay="1s"), _rule("Response", abort=True), _rule("Response", delay="4s")], Lag(0.0, 1.0, 0)),
    ],
)
def test_proxy_handles_probes(rules: list[dict[str, Any]], expected: Lag) -> None:
    cluster = tiny.start_cluster(30.0)
    _intercept(cluster, rules[0])
    cluster.stress[0].arguments["rules"][:] = rules
    cluster.run(15.0)
    (pod,) = cluster.pods("gate")
    assert cluster.twin.lag(pod, "gate", 80, "/live?full=1", cluster.now) == expected
    assert cluster.twin.lag(pod, "gate", 80, None, cluster.now) == Lag(), "of TCP, it accepts the connection"
    assert cluster.twin.lag(pod, "gate", 0, "exec:true", cluster.now) == Lag()


def test_older_connections_escape_briefly_and_end_is_immediate() -> None:
    cluster = tiny.start_cluster()
    _intercept(cluster, _rule(abort=True))
    assert 0.0 < cluster.run(30.0).share("users", kind="CLIENT") < 0.8
    cluster.run(60.0)
    cluster.calm()
    cluster.run(15.0)
    assert cluster.run(60.0).share("users", kind="CLIENT") == 0.0


def test_http_proxy_handles_plain_http_and_ends_with_container() -> None:
    cluster = tiny.start_cluster()
    _intercept(cluster, _rule(selector={"port": 9000}, abort=True), (9000,), "api")
    cluster.run(90.0)
    assert cluster.run(60.0).share("gate", kind="CLIENT") == 0.0, "gRPC"
    _intercept(cluster, _rule(abort=True))
    cluster.restart("gate")
    cluster.run(90.0)
    assert cluster.run(60.0).share("users", kind="CLIENT") == 0.0


def test_caller_reports_the_received_status() -> None:
    shop = rendered("2.2.0", 50, {}, "", 120.0)
    _intercept(
        shop, _rule("Response", {"port": 8080, "path": "/ship-order"}, replace={"code": 503}), (8080,), "shipping"
    )
    shop.run(90.0)
    shop.logs.clear()
    window = shop.run(120.0)
    reported = [line.text for line in shop.logs if line.container == "frontend" and "shipping error" in line.text]
    assert reported
    assert all("14 UNAVAILABLE: shipping error" in text for text in reported), "all else is INTERNAL (PlaceOrder)"
    assert all("expected 200, got 503" in text for text in reported)
    assert window.share("shipping", kind="SERVER") == 0.0
    assert window.share("checkout", kind="SERVER") == 1.0


def test_replaced_status_is_ignored_by_unchecking_caller() -> None:
    shop = rendered("2.2.0", 50, {}, "", 120.0)
    _intercept(shop, _rule("Response", {"port": 8080, "path": "/getquote"}, replace={"code": 503}), (8080,), "quote")
    shop.run(90.0)
    window = shop.run(120.0)
    assert window.share("shipping", kind="SERVER") == 0.0
    assert window.share("shipping", kind="CLIENT") == 1.0, "its instrumentation does look at the status"
    assert window.share("checkout", kind="CLIENT") == 0.0
    _intercept(shop, _rule("Response", {"port": 8080, "path": "/getquote"}, abort=True), (8080,), "quote")
    shop.run(90.0)
    assert shop.run(120.0).share("shipping", kind="SERVER") > 0.4, "shipping an order asks nobody"


def test_http_rules_apply_per_port_and_running_container() -> None:
    pod = {"status": {"containerStatuses": [{"containerID": "containerd://a", "state": {"running": {}}}]}}
    reported = {"rules": [_rule(delay="1m1.5s", abort=False)], "proxyPorts": [80], "tls": False}
    effect = ContainerEffect(kind="HTTP", pod_uid="u", container_id="containerd://a", arguments=reported)
    assert list_rules(pod, [effect], 80) == (HttpRule(answers=False, path="*", delay=61.5),)
    assert list_rules(pod, [effect], 81) == ()
    assert list_rules({"status": {}}, [effect], 80) == ()
