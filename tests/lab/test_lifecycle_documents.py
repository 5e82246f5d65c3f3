"""Files that a lab writes before its processes start: configuration, roles, nodes, certificates, kubeconfigs."""

import base64
import ssl
from collections import Counter
from functools import reduce
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from scenario_kit.cli.lab.commands import choose_world
from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.errors import UsageError
from scenario_kit.lab import chaos_webhooks, process_specs
from scenario_kit.lab.control_plane import (
    bootstrap_client,
    bootstrap_manifests,
    cluster,
    kubeconfigs,
    nodes,
    prometheus,
)
from scenario_kit.lab.control_plane.cluster_keys import write_cluster_keys
from scenario_kit.lab.host import addresses
from scenario_kit.lab.host.state import LabState


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENARIO_KIT_HOME", str(tmp_path))


@pytest.mark.parametrize("now", [1_800_000_000.0, 1_800_057_599.9, 86400.0 * 20_000])
def test_virtual_time_starts_on_the_grid_some_days_back(now: float) -> None:
    epoch = process_specs.choose_epoch(now)
    assert epoch % 15 == 0
    assert 3 * 86400 <= now - epoch < 4 * 86400


def test_labs_never_share_ports() -> None:
    first = process_specs.plan("first", ("default",), addresses.LOOPBACK)
    first.save()
    second = process_specs.plan("second", ("default",), addresses.LOOPBACK)
    assert len({*first.ports.values(), *second.ports.values()}) == len(first.ports) + len(second.ports)
    assert first.server_token != second.server_token


def test_old_version_lab_does_not_block_new_one(tmp_path: Path) -> None:
    (tmp_path / "labs" / "old").mkdir(parents=True)
    (tmp_path / "labs" / "old" / "lab.json").write_text("{}")
    assert process_specs.plan("new", (), addresses.LOOPBACK).ports


def test_components_get_absolute_folders_of_collections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in the lab's folder, in which a relative folder would not exist."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCENARIO_KIT_CATALOG", "mine:/others")
    plan = process_specs.plan("default", ("default",), addresses.LOOPBACK)
    for name in (process_specs.SERVER, process_specs.OPERATOR):
        spec = process_specs.list_specs()[name](plan, {})
        assert spec.environment["SCENARIO_KIT_CATALOG"] == f"{tmp_path}/mine:/others"


def test_plan_lists_every_process_unstarted() -> None:
    plan = process_specs.plan("default", ("default",), addresses.LOOPBACK)
    assert [p.name for p in plan.parts] == [*cluster.COMPONENTS, *process_specs.STARTED]
    assert {p.pid for p in plan.parts} == {0}
    assert set(process_specs.list_specs()) == set(process_specs.STARTED)


def test_kwokctl_processes_bind_loopback() -> None:
    document = cluster.build_configuration(1234)
    assert document["options"] == {"bindAddress": "127.0.0.1", "etcdPeerPort": 1234}
    arguments = {p["name"]: {a["key"]: a["value"] for a in p["extraArgs"]} for p in document["componentsPatches"]}
    assert set(arguments) == set(cluster.COMPONENTS)
    assert arguments["kube-controller-manager"]["leader-elect"] == "false"
    assert arguments["kube-scheduler"]["leader-elect"] == "false"
    assert "advertise-address" in arguments["kube-apiserver"]


def test_packs_of_the_catalogue_become_rule_files() -> None:
    state = process_specs.plan("default", tuple(prometheus.list_packs()), addresses.LOOPBACK)
    Path(state.folder).mkdir(parents=True)
    prometheus.write(state)
    folder = Path(state.folder) / "prometheus"
    assert {p.stem for p in (folder / "rules").iterdir()} == set(prometheus.list_packs()) >= {"default", "itbench"}
    config = yaml.safe_load((folder / "prometheus.yml").read_text())
    scrape = config["scrape_configs"][0]
    assert scrape["authorization"]["credentials"] == state.server_token
    assert f"http://{scrape['static_configs'][0]['targets'][0]}" == state.server_url
    assert (folder / "prometheus.yml").stat().st_mode & 0o777 == 0o600


def test_unknown_pack_is_a_usage_error_with_suggestion() -> None:
    prometheus.check(["default", "itbench"])
    with pytest.raises(UsageError, match="no alert pack 'defualt'") as caught:
        prometheus.check(["itbench", "defualt"])
    assert "default" in caught.value.fix


def test_retention_outlives_the_window_of_virtual_time() -> None:
    assert process_specs.EPOCH_DAYS < prometheus.WINDOW_DAYS < prometheus.RETENTION_DAYS


def test_prometheus_windows_cover_the_life_of_a_lab() -> None:
    # Half of a block's length is in order; blocks of two neighbouring ranges end a whole length apart.
    assert prometheus.WINDOW_DAYS <= prometheus.HEAD_DAYS / 2
    assert prometheus.RETENTION_DAYS > prometheus.HEAD_DAYS


def test_solver_has_no_rights_on_kit_groups_or_across_namespaces() -> None:
    roles = {o["metadata"]["name"]: o for o in bootstrap_manifests.build_access() if o["kind"] == "ClusterRole"}
    groups = {group for role in roles.values() for rule in role["rules"] for group in rule["apiGroups"]}
    assert not {"scenariokit.io", "chaos-mesh.org", "kwok.x-k8s.io", "*", "rbac.authorization.k8s.io"} & groups
    binding = next(o for o in bootstrap_manifests.build_access() if o["kind"] == "ClusterRoleBinding")
    everywhere = roles[binding["roleRef"]["name"]]["rules"]
    assert {verb for rule in everywhere for verb in rule["verbs"]} == {"get", "list", "watch"}
    assert not {"pods", "secrets", "configmaps", "events"} & {r for rule in everywhere for r in rule["resources"]}
    assert binding["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "oncall"}]


def test_nodes_do_not_look_simulated() -> None:
    text = yaml.safe_dump_all(nodes.build_nodes(nodes.list_node_names())).lower()
    assert [word for word in ("kwok", "fake", "simulat", "scenario", "chaos") if word in text] == []
    assert len(nodes.list_node_names()) == nodes.MIN_NODES


def test_many_nodes_are_distinct_and_spread_over_zones() -> None:
    many = nodes.build_nodes(nodes.list_node_names(100))
    for of in (("metadata", "name"), ("metadata", "annotations", "alpha.kubernetes.io/provided-node-ip")):
        assert len({reduce(dict.__getitem__, of, node) for node in many}) == 100
    zones = Counter(node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in many)
    assert set(zones) == {"eu-1a", "eu-1b", "eu-1c"}
    assert max(zones.values()) - min(zones.values()) <= 1


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}, "/api/v1/nodes/n"),
        (
            {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "s"}},
            "/apis/kwok.x-k8s.io/v1alpha1/stages/s",
        ),
        (
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": {"name": "e", "namespace": "chaos-mesh"},
            },
            "/apis/discovery.k8s.io/v1/namespaces/chaos-mesh/endpointslices/e",
        ),
    ],
)
def test_paths_of_objects(obj: dict, path: str) -> None:
    assert bootstrap_client.build_path(obj) == path


def test_definition_path_is_derived_from_its_file() -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podchaos.chaos-mesh.org"
    assert bootstrap_client.build_definition_path("chaos-mesh.org_podchaos.json") == path


def test_solver_certificate_is_signed_by_cluster_and_has_user(tmp_path: Path) -> None:
    pki = tmp_path / "pki"
    write_cluster_keys(pki)
    kubeconfigs.write_solver(tmp_path / "config", "https://127.0.0.1:1", pki)
    document = yaml.safe_load((tmp_path / "config").read_text())
    assert document["contexts"][0]["context"]["namespace"] == "otel-demo"
    pem = base64.b64decode(document["users"][0]["user"]["client-certificate-data"])
    certificate = x509.load_pem_x509_certificate(pem)
    certificate.verify_directly_issued_by(Authority.load(pki / "ca.crt", pki / "ca.key").certificate)
    assert certificate.subject.rfc4514_string() == "CN=oncall,O=oncall"
    assert (tmp_path / "config").stat().st_mode & 0o777 == 0o600
    assert "scenario" not in (tmp_path / "config").read_text()


def test_administrator_starts_in_our_namespace(tmp_path: Path) -> None:
    write_cluster_keys(tmp_path / "pki")
    kubeconfigs.write_admin(tmp_path / "config", "default", "https://127.0.0.1:1", tmp_path / "pki")
    document = yaml.safe_load((tmp_path / "config").read_text())
    assert document["contexts"][0]["context"]["namespace"] == "scenario-kit"


def test_chaos_daemon_uses_mutual_tls(tmp_path: Path) -> None:
    """A handshake in memory: TLS 1.3, the server's name, and a client certificate or no connection."""
    authority, stranger = Authority.create("ours"), Authority.create("theirs")
    name = "chaos-daemon.chaos-mesh.org"
    assert handshake(tmp_path, authority, issue(authority, "manager"), name)
    assert not handshake(tmp_path, authority, issue(stranger, "manager"), name)
    assert not handshake(tmp_path, authority, None, name)
    assert not handshake(tmp_path, authority, issue(authority, "manager"), "another.name")


def handshake(folder: Path, authority: Authority, client_pair, host: str) -> bool:  # type: ignore[no-untyped-def]
    from cryptography.hazmat.primitives.serialization import Encoding

    (folder / "ca").write_bytes(authority.certificate.public_bytes(Encoding.PEM))
    issue(authority, "d", hosts=["chaos-daemon.chaos-mesh.org"], client=False).write(folder / "s.crt", folder / "s.key")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.minimum_version = ssl.TLSVersion.TLSv1_3
    server.load_cert_chain(folder / "s.crt", folder / "s.key")
    server.load_verify_locations(folder / "ca")
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context(cafile=str(folder / "ca"))
    if client_pair is not None:
        client_pair.write(folder / "c.crt", folder / "c.key")
        client.load_cert_chain(folder / "c.crt", folder / "c.key")
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(back, there, server_hostname=host), server.wrap_bio(there, back, server_side=True)]
    done = [False, False]
    for _ in range(10):
        for number, end in enumerate(ends):
            try:
                end.do_handshake()
                done[number] = True
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return all(done)


WORLDS = [{"trial": "a", "mode": "Virtual"}, {"trial": "b", "mode": "Wall"}]


@pytest.mark.parametrize(
    ("worlds", "desired", "expected"),
    [
        (WORLDS, "", "a"),
        (WORLDS, "a", "a"),
        (WORLDS, "b", "runs on the wall clock"),
        (WORLDS, "c", "does not exist"),
        ([], "", "no trial runs in virtual time now"),
        ([*WORLDS, {"trial": "d", "mode": "Virtual"}], "", "2 trials run in virtual time"),
    ],
)
def test_choose_world_by_name_or_only_one(worlds: list, desired: str, expected: str) -> None:
    if len(expected) == 1:
        assert choose_world(worlds, desired) == expected
        return
    with pytest.raises(UsageError, match=expected):
        choose_world(worlds, desired)


def test_lab_state_round_trips_through_json() -> None:
    plan = process_specs.plan("default", ("default",), addresses.LOOPBACK)
    plan.save()
    assert LabState.load() == plan


def test_chaos_mesh_webhooks_point_to_the_manager(tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text("PEM")
    mutating, names, validating = chaos_webhooks.build_objects((9443, authority), (9444, authority))

    for configuration, verb in ((mutating, "mutate"), (validating, "validate")):
        hooks = {hook["rules"][0]["resources"][0]: hook for hook in configuration["webhooks"]}
        assert {"podchaos", "networkchaos", "schedules", "workflows", "jvmchaos"} <= set(hooks)
        url = f"https://127.0.0.1:9443/{verb}-chaos-mesh-org-v1alpha1-schedule"
        assert hooks["schedules"]["clientConfig"] == {"url": url, "caBundle": base64.b64encode(b"PEM").decode()}
        assert {hook["failurePolicy"] for hook in configuration["webhooks"]} == {"Fail"}
    assert [hook["clientConfig"]["url"] for hook in names["webhooks"]] == ["https://127.0.0.1:9444/external-targets"]
