"""Wrong answers of a name server: affected clients, and their connections."""

from typing import Any

import pytest

from scenario_kit.lab.twin.cluster.dns import WrongAnswers, collect_wrong_answers, list_attempts
from scenario_kit.model import ContainerEffect
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster

FULL = "cart.shop.svc.cluster.local"


@pytest.mark.parametrize(
    ("host", "patterns", "error", "random"),
    [
        ("cart", [], True, True),
        ("cart", [FULL], True, True),
        ("cart", [f"{FULL}."], True, True),
        ("CART", ["CART.*"], True, True),
        ("CART", ["cart.*"], False, False),  # the server compares names and patterns as they are
        ("cart", ["Cart.*"], False, False),
        ("cart", ["ca*"], True, True),
        ("cart", ["cart.shop.svc.cluster.loca?"], True, True),
        ("cart", ["cart"], False, False),  # what is asked for is the full name
        ("cart", ["shipping*"], False, False),
        ("cart.shop", [FULL], True, True),
        ("cart.shop", ["cart.shop.shop.svc.cluster.local"], False, True),  # the first attempt fails anyway
        (FULL, ["cart.*"], True, True),
        (f"{FULL}.", [FULL], True, True),
        ("db-0.db.shop.svc", ["db-0.db.*"], True, True),
        ("db-0.db.shop.svc.cluster.local", ["db.*"], False, False),
        ("api.example.com", ["api.example.com"], True, True),
        ("example.org.", ["example.org"], True, True),
        ("example.org.", ["example.com"], False, False),
    ],
)
def test_wrong_answers_match_patterns(host: str, patterns: list[str], error: bool, random: bool) -> None:
    assert WrongAnswers(False, tuple(patterns)).misleads(host, "shop") is error
    assert WrongAnswers(True, tuple(patterns)).misleads(host, "shop") is random


def test_name_with_few_dots_is_looked_up_in_search_domains_first() -> None:
    assert list_attempts("cart", "shop") == (f"{FULL}.", "cart.svc.cluster.local.", "cart.cluster.local.", "cart.")
    assert list_attempts("a.b.c.d.e.f", "shop")[0] == "a.b.c.d.e.f."
    assert list_attempts("cart.", "shop") == ("cart.",)


def test_dns_rules_apply_once_pod_uses_their_server() -> None:
    reported = _build_effects("u", "error")
    assert collect_wrong_answers(reported) == {"u": WrongAnswers(False, ())}
    assert collect_wrong_answers(reported[:1]) == collect_wrong_answers(reported[1:]) == {}


def _build_effects(uid: str, action: str, *patterns: str) -> tuple[ContainerEffect, ...]:
    names = {"action": action, "patterns": list(patterns)}
    return (
        ContainerEffect(kind="DNS", pod_uid=uid, container_id="containerd://a", arguments={"server": "10.96.0.99"}),
        ContainerEffect(kind="Names", pod_uid=uid, container_id="", arguments=names),
    )


def _mislead(cluster: TwinCluster, workload: str, action: str, *patterns: str) -> None:
    (pod,) = cluster.pods(workload)
    cluster.stress = _build_effects(pod["metadata"]["uid"], action, *patterns)
    cluster.version += 1


def _remember_addresses(remembers: bool) -> list[dict[str, Any]]:
    return [
        {**edge, "useStaleAddress": remembers} if edge["caller"] == "users" else edge for edge in tiny.TWIN["edges"]
    ]


@pytest.mark.parametrize(("remembers", "failing"), [(False, 1.0), (True, 0.0)])
def test_new_connections_fail_unless_caller_has_cached_addresses(remembers: bool, failing: float) -> None:
    cluster = tiny.start_cluster(edges=_remember_addresses(remembers))
    _mislead(cluster, "users", "error")
    cluster.run(90.0)
    assert cluster.run(120.0).share("users", kind="CLIENT") == failing
    cluster.calm()
    cluster.run(30.0)
    assert cluster.run(60.0).share("users", kind="CLIENT") == 0.0


def test_standing_connection_needs_no_name() -> None:
    cluster = tiny.start_cluster()
    _mislead(cluster, "gate", "error")
    cluster.run(90.0)
    assert cluster.run(60.0).share("gate", kind="CLIENT") == 0.0
    cluster.restart("api")
    cluster.logs.clear()
    cluster.run(30.0)
    assert cluster.run(60.0).share("gate", kind="CLIENT") == 1.0
    cluster.stress = ()
    cluster.version += 1
    cluster.run(120.0)
    assert cluster.run(60.0).share("gate", kind="CLIENT") == 0.0


def test_random_address_never_answers() -> None:
    cluster = tiny.start_cluster()
    _mislead(cluster, "gate", "random", "api.*")
    cluster.restart("api")
    first = cluster.run(60.0)
    assert first.quantile(0.95, "gate") > 5000, "nobody refuses the connection either"
    assert first.share("gate", kind="CLIENT") == cluster.run(60.0).share("gate", kind="CLIENT") == 1.0


def _add_host_aliases(cluster: TwinCluster, ip: str, *names: str) -> None:
    entries = [{"ip": ip, "hostnames": list(names)}]
    cluster.change("Deployment", "gate", lambda d: d["spec"]["template"]["spec"].update(hostAliases=entries))
    cluster.restart("gate")
    cluster.run(60.0)


@pytest.mark.parametrize(
    ("names", "failing"), [(["API", "other"], 1.0), (["api.shop.svc.cluster.local"], 0.0), (["other"], 0.0)]
)
def test_hosts_file_precedes_name_servers_for_the_exact_name(names, failing) -> None:
    cluster = tiny.start_cluster()
    _add_host_aliases(cluster, "192.0.2.7", *names)
    assert cluster.run(60.0).share("gate", kind="CLIENT") == failing


def test_entry_of_the_hosts_file_needs_no_name_server() -> None:
    cluster = tiny.start_cluster()
    _add_host_aliases(cluster, cluster.get("Service", "api")["spec"]["clusterIP"], "api")
    _mislead(cluster, "gate", "error")
    cluster.restart("api")
    cluster.run(30.0)
    assert cluster.run(60.0).share("gate", kind="CLIENT") == 0.0


def test_failing_name_server_is_not_reported_as_unknown_name() -> None:
    cluster = tiny.start_cluster()
    _mislead(cluster, "api", "error")
    cluster.restart("box")
    cluster.logs.clear()
    cluster.run(60.0)
    assert any("lookup box on 10.96.0.10:53: server misbehaving" in line.text for line in cluster.logs)
    assert not any("no such host" in line.text for line in cluster.logs)
