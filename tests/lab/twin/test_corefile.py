"""What CoreDNS answers by its configuration, and what that does to callers."""

import pytest

from scenario_kit.lab.control_plane import cluster_dns
from scenario_kit.lab.twin.cluster.cluster_view import ClusterDns
from scenario_kit.lab.twin.cluster.corefile import CoreDnsConfig, parse_corefile
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from tests.lab.twin import tiny

CART = "cart.shop.svc.cluster.local."
USUAL = cluster_dns.build_objects()[0]["data"][cluster_dns.KEY]


def edited(lines: str) -> str:
    """The usual configuration with more lines in its server."""
    first, *others = USUAL.splitlines()
    return "\n".join([first, *lines.splitlines(), *others])


def denied(match: str, rcode: str = "NXDOMAIN", zone: str = "cluster.local", kind: str = "ANY") -> str:
    return edited(f"template ANY {kind} {zone} {{\n match {match}\n rcode {rcode}\n fallthrough\n}}")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (USUAL, (None, "")),
        (denied("^cart[.]shop[.]svc[.]cluster[.]local[.]$"), (ConnectionOutcome.NXDOMAIN, "")),
        (denied(r'"^cart\."'), (ConnectionOutcome.NXDOMAIN, "")),
        (denied("[.]svc[.]cluster[.]local[.]$"), (ConnectionOutcome.NXDOMAIN, "")),
        (denied("^cart[.]"[:-3] + "s[.]"), (None, "")),
        (denied("^cart[.]", "SERVFAIL"), (ConnectionOutcome.SERVFAIL, "")),
        (denied("^cart[.]", "REFUSED"), (ConnectionOutcome.SERVFAIL, "")),
        (denied("^cart[.]", zone="example.org"), (None, "")),
        (denied("^cart[.]", zone="."), (ConnectionOutcome.NXDOMAIN, "")),
        (denied("^cart[.]", zone=""), (ConnectionOutcome.NXDOMAIN, "")),
        (denied("^cart[.]", kind="A"), (ConnectionOutcome.NXDOMAIN, "")),
        (denied("^cart[.]", kind="MX"), (None, "")),
        (edited('template IN A {\n answer "{{ .Name }} 60 IN A 192.0.2.7"\n}'), (None, "192.0.2.7")),
        (edited(f"hosts {{\n 192.0.2.8 {CART} other\n ttl 60\n fallthrough\n}}"), (None, "192.0.2.8")),
        (edited("# template ANY ANY {"), (None, "")),
        (USUAL.replace("kubernetes cluster.local", "kubernetes example.org"), (ConnectionOutcome.NXDOMAIN, "")),
        (USUAL.replace(".:53", "example.org:53"), (ConnectionOutcome.NXDOMAIN, "")),
        (USUAL.replace(".:53", "dns://cluster.local.:53"), (None, "")),
        (USUAL + "\nexample.org {\n forward . 192.0.2.1\n}\n", (None, "")),
        (USUAL + "}", (None, "")),
        (denied("^cart("), (None, "")),
    ],
)  # fmt: skip
def test_answers(text: str, answer: tuple[ConnectionOutcome | None, str]) -> None:
    assert parse_corefile(text).answer(CART) == answer


def test_empty_corefile_serves_no_zone() -> None:
    assert parse_corefile("") == CoreDnsConfig(serves=False)


def _objects(**changes):
    config, service, workload = cluster_dns.build_objects()
    workload["spec"].update(changes.get("spec", {}))
    service["spec"].update(changes.get("service", {}))
    return {o["kind"]: {o["metadata"]["name"]: o} for o in (config, service, workload)}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (_objects(), ClusterDns(USUAL, True)),
        (_objects(spec={"replicas": 0}), ClusterDns(USUAL, False)),
        (_objects(service={"selector": {"k8s-app": "other"}}), ClusterDns(USUAL, False)),
        ({k: v for k, v in _objects().items() if k != "Service"}, ClusterDns(USUAL, False)),
        ({k: v for k, v in _objects().items() if k != "Deployment"}, ClusterDns(USUAL, False)),
        ({k: v for k, v in _objects().items() if k != "ConfigMap"}, None),
        ({}, None),
    ],
    ids=["as installed", "scaled", "a Service that leads nowhere", "no Service", "no workload", "no file", "nothing"],
)  # fmt: skip
def test_cluster_dns_runs_according_to_its_objects(objects, expected) -> None:
    assert cluster_dns.find_dns(objects) == expected


def test_only_new_connections_need_the_name_server() -> None:
    cluster = tiny.start_cluster()
    cluster.dns = ClusterDns(denied("^api[.]"), True)
    cluster.version += 1
    assert cluster.run(120.0).share("gate", kind="CLIENT") == 0.0
    cluster.restart("api")
    cluster.logs.clear()
    cluster.run(30.0)
    assert cluster.run(60.0).share("gate", kind="CLIENT") == 1.0
    assert any("no_healthy_upstream" in line.text for line in cluster.logs)


def test_without_a_name_server_pools_run_dry() -> None:
    cluster = tiny.start_cluster()
    cluster.dns = ClusterDns(USUAL, False)
    cluster.version += 1
    assert 0.0 < cluster.run(60.0).share("users", kind="CLIENT") < 1.0
    assert cluster.run(60.0).share("users", kind="CLIENT") == 1.0
    cluster.dns = ClusterDns(USUAL, True)
    cluster.version += 1
    cluster.run(15.0)
    assert cluster.run(60.0).share("users", kind="CLIENT") == 0.0
