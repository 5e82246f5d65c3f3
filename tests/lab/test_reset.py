"""Reset of a lab: deleted and restored keys, as a table and in a real etcd."""

import json
import os
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.errors import LabError, ToolchainError, UsageError
from scenario_kit.lab import baseline, lifecycle, process_specs, reset, toolchain
from scenario_kit.lab.baseline import Restoration, StoreBaseline
from scenario_kit.lab.control_plane import store_access
from scenario_kit.lab.control_plane.cluster_keys import write_cluster_keys
from scenario_kit.lab.control_plane.etcd import Etcd, Range
from scenario_kit.lab.host import addresses, loopback, procfs, supervisor
from scenario_kit.lab.host.state import LabState, ProcessState

NODE = b"/registry/minions/worker-1"
LEASE = b"/registry/leases/kube-node-lease/worker-1"


def one(key: bytes) -> Range:
    return Range(key, key + b"\0")


@pytest.mark.parametrize(
    ("before", "found", "changed", "expected"),
    [
        ({b"a": b"1"}, [b"a"], {}, Restoration((), (), 0)),
        ({b"a": b"1"}, [b"a"], {b"a": b"1"}, Restoration((), (), 0)),
        ({b"a": b"1"}, [b"a"], {b"a": b"2"}, Restoration((), (b"a",), 0)),
        ({b"a": b"1"}, [], {}, Restoration((), (b"a",), 0)),
        ({}, [b"a", b"b"], {}, Restoration((Range(b"a", b"b\0"),), (), 2)),
        ({b"b": b"1"}, [b"c", b"b", b"a"], {}, Restoration((one(b"a"), one(b"c")), (), 2)),
        # A heartbeat is neither deleted nor put back, and is never within a range that is deleted.
        ({}, [b"/registry/leases/a/x", LEASE, b"/registry/leases/x/x"], {}, Restoration(
            (one(b"/registry/leases/a/x"), one(b"/registry/leases/x/x")), (), 2)),
        ({}, [b"/registry/masterleases/10.0.1.10", b"compact_rev_key"], {}, Restoration((), (), 0)),
        ({NODE: b"ready"}, [NODE, LEASE], {NODE: b"tainted"}, Restoration((), (NODE,), 0)),
        # Events that happened on the way up are gone afterwards, like all others.
        ({}, [b"/registry/events/default/x"], {}, Restoration((one(b"/registry/events/default/x"),), (), 1)),
    ],
)  # fmt: skip
def test_restoration_plan_deletes_and_restores(before, found, changed, expected) -> None:
    desired = baseline.plan_restoration(before, found, changed)
    assert desired == expected
    assert bool(desired) is bool(expected.delete or expected.restore)


def test_baseline_holds_no_heartbeats_and_no_events() -> None:
    events = b"/registry/events/default/x"
    assert baseline.select_kept({NODE: b"1", LEASE: b"2", events: b"3", b"compact_rev_key": b"4"}) == {NODE: b"1"}


def test_baseline_is_private_and_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "b"
    assert baseline.load(path) is None
    baseline.save(path, StoreBaseline(7, {NODE: b"\x00\xff"}))
    assert baseline.load(path) == StoreBaseline(7, {NODE: b"\x00\xff"})
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"nonsense")
    assert baseline.load(path) is None


def trial(name: str, labels: dict[str, str], **status: str) -> tuple[bytes, bytes]:
    document = {"metadata": {"name": name, "labels": labels}, "status": status}
    return f"/registry/scenariokit.io/trials/scenario-kit/{name}".encode(), json.dumps(document).encode()


CAMPAIGN = {"scenariokit.io/campaign": "cart"}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([], []),
        ([trial("live-g1", {"scenariokit.io/scenario": "live"})], []),
        ([trial("a", CAMPAIGN, outcome="Held")], []),
        ([trial("a", CAMPAIGN, outcome="Held"), trial("b", CAMPAIGN), trial("c", CAMPAIGN)], ["cart"]),
        ([(b"/registry/scenariokit.io/validations/scenario-kit/v", b'{"metadata": {"name": "v"}}')], ["validation v"]),
        (
            [(b"/registry/scenariokit.io/validations/x/v", b'{"metadata":{"name":"v"},"status":{"verdict":"Pass"}}')],
            [],
        ),
    ],
)
def test_list_busy_names_running_campaigns(objects, expected) -> None:
    assert reset.list_busy(dict(objects)) == expected


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabState:
    monkeypatch.setenv("SCENARIO_KIT_HOME", str(tmp_path))
    state = process_specs.plan("default", ("default",), addresses.LOOPBACK)
    state.save()
    return state


def test_reset_requires_a_running_lab(lab: LabState) -> None:
    with pytest.raises(LabError, match="not up") as caught:
        lifecycle.reset()
    assert caught.value.fix == "scenario-kit lab up"


@pytest.fixture
def store(lab: LabState) -> Iterator[Etcd]:
    """A real etcd where the lab expects it."""
    try:
        program = toolchain.resolve("etcd")
    except ToolchainError as error:
        pytest.skip(f"there is no etcd: {error}")
    port, peer = lab.ports["etcd"], lab.ports["etcd-peer"]
    pki = supervisor.locate_pki(lab)
    pki.mkdir(parents=True)
    store_access.locate_store_tls(pki).write()
    here = store_access.build_store_url(port)
    secured = store_access.build_store_flags(pki) | store_access.build_store_addresses(port, peer)
    arguments = [f"--data-dir={lab.folder}/etcd", "--name=node0", "--log-level=error", "--unsafe-no-fsync"]
    arguments += [f"--{key}={value}" for key, value in secured.items()]
    environment = {**os.environ, **procfs.make_marker(lab.folder)}
    process = subprocess.Popen([program, *arguments], stderr=subprocess.DEVNULL, env=environment)
    (Path(lab.folder) / "logs").mkdir()
    part = ProcessState(
        name="etcd",
        pid=process.pid,
        log=f"{lab.folder}/logs/etcd.log",
        health=f"{here}/health",
        client=f"{pki}/etcd-client",
    )
    etcd = Etcd(port, pki)
    try:
        supervisor.HealthProbe(lab.with_part(part)).wait(["etcd"], 20.0)
        yield etcd
    finally:
        etcd.close()
        process.kill()
        process.wait()


def test_edit_applies_to_the_latest_value(store: Etcd) -> None:
    store.write([], {b"/one": b"1"})

    def edit(value: bytes) -> bytes:
        if value == b"1":
            store.write([], {b"/one": b"2"})  # somebody else writes meanwhile
        return value + b"+"

    assert store.edit(b"/one", edit)
    assert store.under(b"/one") == {b"/one": b"2+"}
    assert not store.edit(b"/none", edit)


def test_etcd_requires_its_client_certificate(lab: LabState, store: Etcd, tmp_path: Path) -> None:
    """Neither is a client with a certificate of the cluster, such as a solver."""
    port, pki = lab.ports["etcd"], supervisor.locate_pki(lab)
    own = tmp_path / "cluster"
    write_cluster_keys(own)
    solver = issue(Authority.load(own / "ca.crt", own / "ca.key"), "oncall", groups=["system:masters"])
    solver.write(tmp_path / "solver.crt", tmp_path / "solver.key")
    trusting = ssl.create_default_context(cafile=str(pki / "etcd-ca.crt"))
    known = ssl.create_default_context(cafile=str(pki / "etcd-ca.crt"))
    known.load_cert_chain(tmp_path / "solver.crt", tmp_path / "solver.key")
    for tls, address in ((trusting, f"https://127.0.0.1:{port}"), (known, f"https://127.0.0.1:{port}"),
                         (trusting, f"http://127.0.0.1:{port}")):  # fmt: skip
        with loopback.create_client(tls) as client:
            try:
                status = client.post(f"{address}/v3/kv/range", json={"key": "AA==", "range_end": "AA=="}).status_code
            except httpx.TransportError:
                status = 0
        assert status in (0, 400), "it is refused before it is read"
    assert store.revisions() == {}, "its own client is answered"


def test_sweep_restores_the_baseline(lab: LabState, store: Etcd) -> None:
    definition = b"/registry/apiextensions.k8s.io/customresourcedefinitions/x"
    first = {f"/registry/roles/{i}".encode(): b"x" * i for i in range(150)} | {definition: b"y" * 600_000, NODE: b"up"}
    store.write([], {**first, definition + b"2": b"z" * 900_000, LEASE: b"1"})
    reset.remember(lab)
    before = baseline.load(Path(lab.folder) / reset.FILE)
    assert before is not None
    noise = {f"/registry/pods/app/{i}".encode(): b"p" for i in range(200)}
    store.write([one(definition)], {**noise, NODE: b"down", LEASE: b"2", b"/registry/namespaces/app": b"n"})
    assert reset.sweep(store, before, thorough=True) == 201
    assert baseline.select_kept(store.under(b"/")) == before.values
    assert store.values([LEASE]) == {LEASE: b"2"}
    assert reset.sweep(store, before, thorough=True) == 0


def test_reset_during_campaign_is_refused_without_changes(lab: LabState, store: Etcd) -> None:
    store.write([], {NODE: b"up"})
    reset.remember(lab)
    store.write([], dict([trial("a", CAMPAIGN)]))
    with pytest.raises(UsageError, match=r"is busy: cart") as caught:
        reset.empty(lab, False, lambda state, *_: state, print)
    assert "--force" in caught.value.fix
    assert len(store.revisions()) == 2
    assert not LabState.load().resetting


def test_unrecorded_lab_start_error_has_a_fix(lab: LabState, store: Etcd) -> None:
    with pytest.raises(LabError, match="no baseline") as caught:
        reset.empty(lab, False, lambda state, *_: state, print)
    assert "lab down" in caught.value.fix
