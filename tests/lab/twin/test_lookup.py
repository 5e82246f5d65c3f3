"""What dialling a host and a port leads to: names, Services, endpoints, as kube-proxy and CoreDNS have them."""

from typing import Any

import pytest

from scenario_kit.lab.twin import ClusterDns
from scenario_kit.lab.twin.cluster.dns import draw_address
from scenario_kit.lab.twin.network.endpoints import Destination, DialLookup, Network
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model import ContainerEffect
from tests.lab.twin.net import endpoint, endpoints, network, pod, policy, service

CLIENT = pod("client", "10.0.0.1")
WEB = (
    service(
        "web",
        "10.96.0.1",
        {"name": "http", "port": 80},
        {"name": "admin", "port": 81, "protocol": "TCP"},
        {"name": "udp", "port": 81, "protocol": "UDP"},
    ),
    endpoints("web", endpoint("10.0.0.2"), endpoint("10.0.0.3", node="n2"), http=8080, admin=9090, udp=53),
)
STORE = (
    service("store", "None", namespace="stores"),
    endpoints("store", endpoint("10.1.0.2"), namespace="stores"),
)
FULL = "web.shop.svc.cluster.local"


def to(*addresses: str, port: int) -> tuple[Destination, ...]:
    return tuple(Destination(address, port) for address in addresses)


BOTH = to("10.0.0.2", "10.0.0.3", port=8080)


@pytest.fixture(scope="module")
def net() -> Network:
    return network(
        CLIENT,
        pod("server", "10.0.0.7"),
        *WEB,
        *STORE,
        service("bare", "None"),
        service("db", "None"),
        endpoints("db", endpoint("10.0.0.8") | {"hostname": "db-0"}, endpoint("10.0.0.9") | {"hostname": "db-1"}),
        endpoints("web", endpoint("10.0.0.2") | {"hostname": "web-0"}, suffix="-named"),
        service("empty", "10.96.0.2", {"port": 80}),
        service("unnamed", "10.96.0.3", {"port": 80}),
        endpoints("unnamed", endpoint("10.0.0.4"), _=8000),
        service("alias", None, type="ExternalName", externalName=FULL),
        service("outside", None, type="ExternalName", externalName="example.org"),
        service("nothing", None, type="ExternalName"),
        service("loop", None, type="ExternalName", externalName="loop.shop.svc.cluster.local"),
        *(
            service(f"hop{i}", None, type="ExternalName", externalName=f"hop{i - 1}.shop.svc.cluster.local")
            for i in range(2, 6)
        ),
        service("hop1", None, type="ExternalName", externalName=FULL),
    )


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("web", 0, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("10.0.0.7", 1234, DialLookup(ConnectionOutcome.OK, to("10.0.0.7", port=1234), "10.0.0.7")),
        ("10.0.0.99", 80, DialLookup(ConnectionOutcome.CONNECTION_TIMEOUT, (), "10.0.0.99")),
        ("10.96.0.1", 80, DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("10.96.0.2", 80, DialLookup(ConnectionOutcome.CONNECTION_REFUSED, (), "10.96.0.2")),
        ("localhost", 90, DialLookup(ConnectionOutcome.OK, to("10.0.0.1", port=90), "127.0.0.1")),
        ("127.0.0.1", 90, DialLookup(ConnectionOutcome.OK, to("10.0.0.1", port=90), "127.0.0.1")),
        ("127.8.8.8", 90, DialLookup(ConnectionOutcome.OK, to("10.0.0.1", port=90), "127.8.8.8")),
        ("web", 80, DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("WEB", 80, DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("web.shop", 80, DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        (f"{FULL}.", 80, DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("web.shop.svc.cluster.example", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("web.shop.example", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("web.stores", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("web.elsewhere", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("absent", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("web", 81, DialLookup(ConnectionOutcome.OK, to("10.0.0.2", "10.0.0.3", port=9090), "10.96.0.1")),
        ("web", 82, DialLookup(ConnectionOutcome.CONNECTION_TIMEOUT, (), "10.96.0.1")),
        ("empty", 80, DialLookup(ConnectionOutcome.CONNECTION_REFUSED, (), "10.96.0.2")),
        ("unnamed", 80, DialLookup(ConnectionOutcome.OK, to("10.0.0.4", port=8000), "10.96.0.3")),
        ("store.stores", 5432, DialLookup(ConnectionOutcome.OK, to("10.1.0.2", port=5432), "10.1.0.2")),
        ("bare", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("db", 27017, DialLookup(ConnectionOutcome.OK, to("10.0.0.8", "10.0.0.9", port=27017), "10.0.0.8")),
        *(
            (f"DB-1.db{rest}", 27017, DialLookup(ConnectionOutcome.OK, to("10.0.0.9", port=27017), "10.0.0.9"))
            for rest in ("", ".shop", ".shop.svc", ".shop.svc.cluster.local", ".shop.svc.cluster.local.")
        ),
        ("db-2.db", 27017, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("db-1.db.stores", 27017, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("db-1.db.shop.svc.cluster.example", 27017, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("web-0.web", 8080, DialLookup(ConnectionOutcome.NXDOMAIN)),  # only a headless Service has names of pods
        ("alias", 80, DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("outside", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("nothing", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("loop", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
        ("hop4", 80, DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("hop5", 80, DialLookup(ConnectionOutcome.NXDOMAIN)),
    ],
)
def test_lookup_returns_destinations_or_an_outcome(net: Network, host: str, port: int, expected: DialLookup) -> None:
    assert net.lookup(CLIENT, host, port) == expected


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("web", 81, DialLookup(ConnectionOutcome.OK, to("10.0.0.2", "10.0.0.3", port=53), "10.96.0.1")),
        ("10.96.0.1", 81, DialLookup(ConnectionOutcome.OK, to("10.0.0.2", "10.0.0.3", port=53), "10.96.0.1")),
        ("alias", 81, DialLookup(ConnectionOutcome.OK, to("10.0.0.2", "10.0.0.3", port=53), "10.96.0.1")),
        ("web", 80, DialLookup(ConnectionOutcome.CONNECTION_TIMEOUT, (), "10.96.0.1")),
    ],
)
def test_service_port_is_matched_by_protocol(net: Network, host: str, port: int, expected: DialLookup) -> None:
    assert net.lookup(CLIENT, host, port, "UDP") == expected


@pytest.mark.parametrize(
    ("outcome", "resolved"),
    [
        (ConnectionOutcome.OK, True),
        (ConnectionOutcome.CONNECTION_REFUSED, True),
        (ConnectionOutcome.CONNECTION_TIMEOUT, True),
        (ConnectionOutcome.NXDOMAIN, False),
        (ConnectionOutcome.DNS_TIMEOUT, False),
        (ConnectionOutcome.SERVFAIL, False),
    ],
)
def test_whether_a_name_led_to_an_address(outcome: ConnectionOutcome, resolved: bool) -> None:
    assert DialLookup(outcome).resolved is resolved


@pytest.mark.parametrize(
    ("ready", "cluster_ip", "expected"),
    [
        ([True, True], "10.96.0.1", ["10.0.1.1", "10.0.1.2"]),
        ([False, True], "10.96.0.1", ["10.0.1.2"]),
        ([True, False], "10.96.0.1", ["10.0.1.1"]),
        ([None, False], "10.96.0.1", ["10.0.1.1"]),  # unknown counts as ready
        ([False, False], "10.96.0.1", ConnectionOutcome.CONNECTION_REFUSED),
        ([], "10.96.0.1", ConnectionOutcome.CONNECTION_REFUSED),
        ([False, True], "None", ["10.0.1.2"]),
        ([False, False], "None", ConnectionOutcome.NXDOMAIN),
    ],
)
def test_unready_endpoints_get_no_connections(ready: list[Any], cluster_ip: str, expected: Any) -> None:
    found = endpoints("web", *(endpoint(f"10.0.1.{i}", r) for i, r in enumerate(ready, 1)), p=80)
    net = network(CLIENT, service("web", cluster_ip, {"name": "p", "port": 80}), found)
    lookup = net.lookup(CLIENT, "web", 80)
    assert ([d.ip for d in lookup.destinations] or lookup.outcome) == expected


READY = {"ready": True, "serving": True, "terminating": False}
DRAINING = {"ready": False, "serving": True, "terminating": True}
STOPPING = {"ready": False, "serving": False, "terminating": True}
FAILING = {"ready": False, "serving": False, "terminating": False}


@pytest.mark.parametrize(
    ("conditions", "cluster_ip", "expected"),
    [
        ([READY, DRAINING], "10.96.0.1", ["10.0.1.1"]),
        ([DRAINING, DRAINING], "10.96.0.1", ["10.0.1.1", "10.0.1.2"]),
        ([DRAINING, FAILING], "10.96.0.1", ["10.0.1.1"]),
        ([STOPPING, FAILING], "10.96.0.1", ConnectionOutcome.CONNECTION_REFUSED),
        ([{"ready": False, "serving": True}], "10.96.0.1", ConnectionOutcome.CONNECTION_REFUSED),
        ([{"ready": True, "terminating": True}], "10.96.0.1", ["10.0.1.1"]),
        ([DRAINING], "None", ConnectionOutcome.NXDOMAIN),
    ],
)
def test_terminating_serving_endpoints_get_connections(
    conditions: list[dict[str, bool]], cluster_ip: str, expected: Any
) -> None:
    listed = [{"addresses": [f"10.0.1.{i}"], "conditions": each} for i, each in enumerate(conditions, 1)]
    net = network(CLIENT, service("web", cluster_ip, {"name": "p", "port": 80}), endpoints("web", *listed, p=80))
    lookup = net.lookup(CLIENT, "web", 80)
    assert ([d.ip for d in lookup.destinations] or lookup.outcome) == expected


@pytest.mark.parametrize(
    ("here", "away", "expected"),
    [
        (DRAINING, READY, ["10.0.1.1"]),  # the node's own, though another node has a ready one
        (STOPPING, READY, ConnectionOutcome.CONNECTION_TIMEOUT),
        (STOPPING, DRAINING, ConnectionOutcome.CONNECTION_TIMEOUT),
        (READY, DRAINING, ["10.0.1.1"]),
    ],
)
def test_local_traffic_policy_uses_terminating_local_endpoints(here: Any, away: Any, expected: Any) -> None:
    caller = pod("caller", "10.0.0.9", node="n1")
    listed = [
        {"addresses": [f"10.0.1.{i}"], "conditions": each, "nodeName": f"n{i}"}
        for i, each in enumerate((here, away), 1)
    ]
    net = network(caller, service(**_web(internalTrafficPolicy="Local")), endpoints("web", *listed, http=8080))
    lookup = net.lookup(caller, "web", 80)
    assert ([d.ip for d in lookup.destinations] or lookup.outcome) == expected


def test_an_endpoint_without_conditions_is_ready() -> None:
    found = endpoints("web", {"addresses": ["10.0.0.5", "010.0.0.6"]}, {"conditions": {"ready": True}}, p=80)
    net = network(CLIENT, service("web", "10.96.0.1", {"name": "p", "port": 80}), found)
    assert net.lookup(CLIENT, "web", 80).destinations == to("10.0.0.5", "10.0.0.6", port=80)


@pytest.mark.parametrize(
    ("policy_of_traffic", "node", "expected"),
    [
        ("Cluster", "n1", ["10.0.0.2", "10.0.0.3"]),
        (None, "n1", ["10.0.0.2", "10.0.0.3"]),
        ("Local", "n1", ["10.0.0.2"]),
        ("Local", "n2", ["10.0.0.3"]),
        ("Local", "n3", ConnectionOutcome.CONNECTION_TIMEOUT),
        ("Cluster", "n3", ["10.0.0.2", "10.0.0.3"]),
    ],
)
def test_local_internal_traffic_policy_stays_on_node(policy_of_traffic: Any, node: str, expected: Any) -> None:
    caller = pod("caller", "10.0.0.9", node=node)
    net = network(caller, service(**_web(internalTrafficPolicy=policy_of_traffic)), WEB[1])
    for host in ("web", "10.96.0.1"):
        lookup = net.lookup(caller, host, 80)
        assert ([d.ip for d in lookup.destinations] or lookup.outcome) == expected
        assert {d.port for d in lookup.destinations} <= {8080}
        assert lookup.ip == "10.96.0.1"


def _web(**spec: Any) -> dict[str, Any]:
    return {"name": "web", "ip": "10.96.0.1", "ports": [{"name": "http", "port": 80}], **spec}


@pytest.mark.parametrize(
    ("ready", "outcome"),
    [({"ready": True}, ConnectionOutcome.CONNECTION_TIMEOUT), ({"ready": False}, ConnectionOutcome.CONNECTION_REFUSED)],
)
def test_node_without_local_endpoints_drops_instead_of_refusing(ready: Any, outcome: ConnectionOutcome) -> None:
    found = endpoints("web", endpoint("10.0.0.3", node="n2", **ready), http=8080)
    net = network(CLIENT, service(**_web(internalTrafficPolicy="Local")), found)
    assert net.lookup(CLIENT, "web", 80) == DialLookup(outcome, (), "10.96.0.1")


def test_endpoints_of_all_slices_of_the_family_are_used() -> None:
    net = network(
        CLIENT,
        service("web", "10.96.0.1", {"name": "p", "port": 80}),
        endpoints("web", endpoint("fd00::1"), suffix="-a", family="IPv6", p=81),
        endpoints("web", endpoint("10.0.0.4"), suffix="-b", other=82),
        endpoints("web", endpoint("10.0.0.5"), suffix="-c", p=83),
        endpoints("web", endpoint("10.0.0.6"), suffix="-d", p=84),
        endpoints("web", endpoint("10.0.0.7"), namespace="stores", p=85),
        {"kind": "EndpointSlice", "metadata": {"name": "stray"}, "ports": None, "endpoints": None},
    )
    assert net.lookup(CLIENT, "web", 80).destinations == (Destination("10.0.0.5", 83), Destination("10.0.0.6", 84))


def test_backends_are_ordered_by_age() -> None:
    """So that a renaming of pods, which changes addresses, changes nothing."""
    pods = [pod("b", "10.0.0.2", since="2026-01-01T00:00:02Z"), pod("z", "10.0.0.3", since="2026-01-01T00:00:01Z")]
    same = [pod("d", "10.0.0.4", since="2026-01-01T00:00:03Z"), pod("c", "10.0.0.5", since="2026-01-01T00:00:03Z")]
    found = endpoints("web", *(endpoint(f"10.0.0.{i}") for i in range(2, 6)), p=80)
    net = network(CLIENT, *pods, *same, service("web", "10.96.0.1", {"name": "p", "port": 80}), found)
    assert [d.ip for d in net.lookup(CLIENT, "web", 80).destinations] == [f"10.0.0.{i}" for i in (3, 2, 5, 4)]


def test_addresses_without_pod_come_first() -> None:
    found = endpoints("web", endpoint("10.0.0.1"), endpoint("192.0.2.2"), endpoint("192.0.2.1"), p=80)
    aged = pod("client", "10.0.0.1", since="2026-01-01T00:00:02Z")
    net = network(aged, service("web", "10.96.0.1", {"name": "p", "port": 80}), found)
    assert [d.ip for d in net.lookup(aged, "web", 80).destinations] == ["192.0.2.1", "192.0.2.2", "10.0.0.1"]


@pytest.mark.parametrize(
    ("spec", "name", "address"),
    [
        ({}, ConnectionOutcome.OK, ConnectionOutcome.OK),
        ({"dnsPolicy": "ClusterFirst"}, ConnectionOutcome.OK, ConnectionOutcome.OK),
        ({"dnsPolicy": "ClusterFirstWithHostNet", "hostNetwork": True}, ConnectionOutcome.OK, ConnectionOutcome.OK),
        ({"dnsPolicy": "ClusterFirst", "hostNetwork": True}, ConnectionOutcome.NXDOMAIN, ConnectionOutcome.OK),
        ({"hostNetwork": True}, ConnectionOutcome.NXDOMAIN, ConnectionOutcome.OK),
        ({"dnsPolicy": "Default"}, ConnectionOutcome.NXDOMAIN, ConnectionOutcome.OK),
        ({"dnsPolicy": "None"}, ConnectionOutcome.DNS_TIMEOUT, ConnectionOutcome.OK),
    ],
)
def test_dns_policy_selects_the_name_server(spec: Any, name: str, address: str) -> None:
    caller = pod("caller", "10.0.0.9", **spec)
    net = network(caller, *WEB)
    assert net.lookup(caller, "web", 80).outcome == name
    assert net.lookup(caller, "10.96.0.1", 80).outcome == address


SYSTEM = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}
DNS_POD = {**SYSTEM, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}


@pytest.mark.parametrize(
    ("egress", "outcome"),
    [
        ([], ConnectionOutcome.DNS_TIMEOUT),
        ([{}], ConnectionOutcome.OK),
        ([{"to": [{"podSelector": {}}]}], ConnectionOutcome.DNS_TIMEOUT),
        ([{"to": [SYSTEM]}], ConnectionOutcome.OK),
        ([{"to": [DNS_POD]}], ConnectionOutcome.OK),
        ([{"to": [{**SYSTEM, "podSelector": {"matchLabels": {"app": "x"}}}]}], ConnectionOutcome.DNS_TIMEOUT),
        ([{"to": [SYSTEM], "ports": [{"port": 53, "protocol": "UDP"}]}], ConnectionOutcome.OK),
        ([{"to": [SYSTEM], "ports": [{"port": "dns", "protocol": "UDP"}]}], ConnectionOutcome.OK),
        ([{"to": [SYSTEM], "ports": [{"port": "dns-tcp", "protocol": "UDP"}]}], ConnectionOutcome.OK),
        ([{"to": [SYSTEM], "ports": [{"port": 53}]}], ConnectionOutcome.DNS_TIMEOUT),  # names are asked for over UDP
        ([{"to": [SYSTEM], "ports": [{"port": 54, "protocol": "UDP"}]}], ConnectionOutcome.DNS_TIMEOUT),
        ([{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}], ConnectionOutcome.DNS_TIMEOUT),
    ],
)
def test_egress_policy_controls_dns(egress: Any, outcome: ConnectionOutcome) -> None:
    net = network(CLIENT, *WEB, policy("out", "client", policyTypes=["Egress"], egress=egress))
    assert net.lookup(CLIENT, "web", 80).outcome == outcome
    assert net.lookup(CLIENT, "10.96.0.1", 80).outcome == ConnectionOutcome.OK, "an address needs no name server"
    other = pod("other", "10.0.0.8")
    assert net.lookup(other, "web", 80).outcome == ConnectionOutcome.OK, "the policy is about others"


def test_hosts_file_precedes_name_server() -> None:
    hosts = [{"ip": "10.0.0.7", "hostnames": ["Web"]}]
    caller = pod("caller", "10.0.0.9", hostAliases=hosts, dnsPolicy="None")
    net = network(caller, pod("server", "10.0.0.7"), *WEB)
    assert net.lookup(caller, "web", 90) == DialLookup(ConnectionOutcome.OK, to("10.0.0.7", port=90), "10.0.0.7")
    assert net.lookup(caller, "web.shop", 80) == DialLookup(ConnectionOutcome.DNS_TIMEOUT)


def test_hosts_file_may_resolve_to_a_service() -> None:
    caller = pod("caller", "10.0.0.9", hostAliases=[{"ip": "10.96.0.1", "hostnames": ["front"]}])
    net = network(caller, *WEB)
    assert net.lookup(caller, "front", 81, "UDP").destinations == to("10.0.0.2", "10.0.0.3", port=53)


def build_dns_effect(uid: str, action: str, *patterns: str) -> tuple[ContainerEffect, ...]:
    arguments = {"action": action, "patterns": list(patterns)}
    return (
        ContainerEffect(kind="DNS", pod_uid=uid, container_id="containerd://a", arguments={"server": "10.96.0.99"}),
        ContainerEffect(kind="Names", pod_uid=uid, container_id="", arguments=arguments),
    )


@pytest.mark.parametrize(
    ("action", "patterns", "uid", "host", "expected"),
    [
        ("error", [], "client", "web", DialLookup(ConnectionOutcome.SERVFAIL)),
        ("error", ["web.*"], "client", "web", DialLookup(ConnectionOutcome.SERVFAIL)),
        ("error", ["web.shop.svc.cluster.local"], "client", "web", DialLookup(ConnectionOutcome.SERVFAIL)),
        ("random", [], "client", "web", DialLookup(ConnectionOutcome.CONNECTION_TIMEOUT, (), draw_address("web"))),
        ("error", ["other.*"], "client", "web", DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("error", [], "another", "web", DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        ("error", [], "client", "10.96.0.1", DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
    ],
)
def test_wrong_answers_of_a_name_server(
    action: str, patterns: list[str], uid: str, host: str, expected: DialLookup
) -> None:
    net = network(CLIENT, *WEB, containers=build_dns_effect(uid, action, *patterns))
    assert net.lookup(CLIENT, host, 80) == expected


HOSTS = ".:53 {\n hosts {\n  10.0.0.7 web.shop.svc.cluster.local\n fallthrough\n }\n kubernetes cluster.local\n}\n"
GONE = '.:53 {\n template IN A cluster.local {\n  match "^web"\n  rcode NXDOMAIN\n }\n kubernetes cluster.local\n}\n'


@pytest.mark.parametrize(
    ("corefile", "runs", "host", "expected"),
    [
        (".:53 {\n kubernetes cluster.local\n}\n", True, "web", DialLookup(ConnectionOutcome.OK, BOTH, "10.96.0.1")),
        (".:53 {\n kubernetes cluster.local\n}\n", False, "web", DialLookup(ConnectionOutcome.DNS_TIMEOUT)),
        (HOSTS, True, "web", DialLookup(ConnectionOutcome.OK, to("10.0.0.7", port=80), "10.0.0.7")),
        (GONE, True, "web", DialLookup(ConnectionOutcome.NXDOMAIN)),
        (GONE, True, "unnamed", DialLookup(ConnectionOutcome.NXDOMAIN)),
        (GONE, True, "store.stores", DialLookup(ConnectionOutcome.OK, to("10.1.0.2", port=80), "10.1.0.2")),
    ],
)
def test_cluster_dns_configuration_is_applied(corefile: str, runs: bool, host: str, expected: DialLookup) -> None:
    objects = (CLIENT, pod("server", "10.0.0.7"), *WEB, *STORE)
    assert network(*objects, dns=ClusterDns(corefile, runs)).lookup(CLIENT, host, 80) == expected


def test_pod_with_own_name_server_ignores_cluster_dns() -> None:
    net = network(CLIENT, *WEB, containers=build_dns_effect("client", "error", "x.*"), dns=ClusterDns("", False))
    assert net.lookup(CLIENT, "web", 80).outcome == ConnectionOutcome.OK
    assert net.lookup(pod("b", "10.0.0.8"), "web", 80).outcome == ConnectionOutcome.DNS_TIMEOUT


def test_names_are_resolved_in_the_caller_namespace() -> None:
    caller = pod("caller", "10.1.0.9", namespace="stores")
    net = network(CLIENT, caller, *WEB, *STORE, containers=build_dns_effect("caller", "error", "store.stores.*"))
    assert net.lookup(caller, "web", 80).outcome == ConnectionOutcome.NXDOMAIN
    assert net.lookup(caller, "web.shop", 80).outcome == ConnectionOutcome.OK
    assert net.lookup(caller, "store", 80).outcome == ConnectionOutcome.SERVFAIL
    assert net.lookup(CLIENT, "store.stores", 80).outcome == ConnectionOutcome.OK
