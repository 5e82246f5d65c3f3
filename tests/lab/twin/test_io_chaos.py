"""Chaos in files: who waits for them, who fails, who ends, and who notices nothing."""

from typing import Any

import pytest

from scenario_kit.model import ContainerEffect
from tests.lab.twin import tiny
from tests.lab.twin.shop import rendered
from tests.lab.twin.twin_cluster import TwinCluster

_EIO = {"type": "fault", "faults": [{"errno": 5, "weight": 1}]}
_LATE = {"type": "latency", "delaySeconds": 1.0}


def _start_cluster(*files: dict[str, Any], **disk: Any) -> TwinCluster:
    components = dict(tiny.TWIN["components"])
    disk = {"directory": "/d", **disk}
    box = {**components["box"], "disk": disk, "operations": {"get": {"ownMs": 1, "files": list(files)}}}
    edges = [{**edge, "timeoutSeconds": 0} for edge in tiny.TWIN["edges"]]
    return tiny.start_cluster(components={**components, "box": box}, edges=edges)


def _meet(cluster: TwinCluster, workload: str, volume: str, *actions: dict[str, Any]) -> None:
    (pod,) = cluster.pods(workload)
    cluster.stress = (
        ContainerEffect(
            kind="IO",
            pod_uid=pod["metadata"]["uid"],
            container_id=pod["status"]["containerStatuses"][0]["containerID"],
            arguments={"volume": volume, "actions": [{"percent": 100, **action} for action in actions]},
        ),
    )
    cluster.version += 1
    cluster.logs.clear()


def _texts(cluster: TwinCluster, workload: str) -> set[str]:
    return {line.text for line in cluster.logs if line.pod.rpartition("-")[0] == workload}


@pytest.mark.parametrize(
    ("volume", "action", "least", "most"),  # in milliseconds, as buckets of histograms tell them
    [
        ("/d", _LATE, 2000, 5000),
        ("/d", {**_LATE, "path": "/d/log/*"}, 1000, 1400),
        ("/d", {**_LATE, "methods": ["fsync"]}, 1000, 1400),
        ("/d", {**_LATE, "methods": ["read"]}, 0, 100),
        ("/d", {**_LATE, "path": "/d/other"}, 0, 100),
        ("/elsewhere", _LATE, 0, 100),
    ],
)
def test_delays_add_up_method_by_method(volume: str, action: dict[str, Any], least: float, most: float) -> None:
    cluster = _start_cluster({"file": "log/1", "methods": ["fsync"]}, {"file": "data/1", "methods": ["write"]})
    _meet(cluster, "box", volume, action)
    cluster.run(30.0)
    assert least <= cluster.run(120.0).quantile(0.5, "api") <= most
    cluster.calm()
    cluster.run(60.0)
    assert cluster.run(120.0).quantile(0.9, "api") < 100


def test_program_without_files_is_unaffected() -> None:
    cluster = _start_cluster()
    _meet(cluster, "box", "/d", _EIO, _LATE)
    window = cluster.run(120.0)
    assert (window.share("api"), window.quantile(0.9, "api") < 100) == (0.0, True)


def test_serial_file_access_forms_a_queue() -> None:
    def after(seconds: float, **queue: str) -> float:
        cluster = _start_cluster({"file": "a", "methods": ["getattr"], **queue})
        _meet(cluster, "box", "/d", {**_LATE, "delaySeconds": seconds})
        return cluster.run(300.0).quantile(0.5, "api")

    assert after(0.4) < 800
    assert after(0.4, queue="Group") < 1100
    assert after(0.4, queue="File") > 2000


def test_io_errors_use_system_messages() -> None:
    cluster = _start_cluster(
        {"file": "a", "methods": ["write"], "errorResponse": "no write: {error}", "log": "ERROR: {error}"},
        errors={"5": "I/O error"},
    )
    _meet(cluster, "box", "/d", {"type": "fault", "faults": [{"errno": 28, "weight": 1}]})
    assert cluster.run(60.0).share("api", kind="SERVER") == 1.0
    assert "ERROR: No space left on device" in _texts(cluster, "box")
    assert "box failed: no write: No space left on device" in _texts(cluster, "api")
    _meet(cluster, "box", "/d", {**_EIO, "percent": 30})
    assert cluster.run(600.0).share("api", kind="SERVER") == pytest.approx(0.3, abs=0.05)
    assert "ERROR: I/O error" in _texts(cluster, "box")


@pytest.mark.parametrize("waits", [True, False])
def test_program_intolerant_of_io_errors_exits(waits: bool) -> None:
    cluster = _start_cluster(
        {"file": "a", "methods": ["write"], "blocking": waits, "code": 14, "log": "PANIC: {error}"}
    )
    _meet(cluster, "box", "/d", _EIO)
    cluster.run(15.0)
    assert cluster.last is not None
    assert [(e.container, e.code) for e in cluster.last.exits] == [("box", 14)]
    assert "PANIC: Input/output error" in _texts(cluster, "box")
    cluster.revive()  # the new container has a file system of its own, without chaos in it
    cluster.run(60.0)
    assert cluster.run(60.0).share("api") == 0.0


def test_io_mistakes_and_open_errors_fail_requests() -> None:
    mistake = {"type": "mistake", "mistake": {"filling": "random", "maxOccurrences": 1, "maxLength": 9}}
    access = {
        "file": "a",
        "methods": ["open", "read"],
        "corruptResponse": "bad checksum",
        "corruptLog": "FATAL: bad checksum",
    }
    cluster = _start_cluster(access)
    _meet(cluster, "box", "/d", mistake)
    assert cluster.run(60.0).share("api", kind="SERVER") == 1.0
    assert "box failed: bad checksum" in _texts(cluster, "api")
    assert "FATAL: bad checksum" in _texts(cluster, "box")
    _meet(cluster, "box", "/d", {"type": "attrOverride", "path": "", "perm": 0})
    assert cluster.run(60.0).share("api", kind="SERVER") == 1.0
    assert "box failed: Permission denied" in _texts(cluster, "api")
    cluster = _start_cluster({**access, "corruptResponse": ""})
    _meet(cluster, "box", "/d", mistake)
    assert cluster.run(60.0).share("api", kind="SERVER") == 0.0


def test_snapshots_that_fail_stop_writing_until_one_succeeds() -> None:
    cluster = _start_cluster(
        snapshots={
            "file": "dump", "methods": ["create", "write"], "saveAfter": [[3600, 1], [60, 5]], "operations": ["get"],
            "log": "# {error}", "errorResponse": "MISCONF", "successLog": "* saved",
        },
    )  # fmt: skip
    _meet(cluster, "box", "/d", _EIO)
    cluster.run(90.0)
    assert cluster.run(60.0).share("api", kind="SERVER") == 1.0
    assert {"# Input/output error"} <= _texts(cluster, "box")
    assert "box failed: MISCONF" in _texts(cluster, "api")
    cluster.calm()
    cluster.run(15.0)
    assert "* saved" in _texts(cluster, "box")
    assert cluster.run(120.0).share("api") == 0.0


def test_background_file_access_follows_calls() -> None:
    access = {"file": "log", "methods": ["fsync"], "code": 1, "log": "PANIC"}
    cluster = _start_cluster(maintenance=[{"everySeconds": 15, "operations": ["get"], "files": [access]}])
    _meet(cluster, "box", "/d", _EIO)
    cluster.run(30.0)
    assert "PANIC" in _texts(cluster, "box")
    idle = _start_cluster(maintenance=[{"everySeconds": 15, "operations": ["put"], "files": [access]}])
    _meet(idle, "box", "/d", _EIO)
    idle.run(60.0)
    assert "PANIC" not in _texts(idle, "box")


@pytest.mark.parametrize(
    ("version", "store", "directory", "volume"),
    [
        ("2.2.0", "postgresql", "/var/lib/postgresql/data", "/var/lib/postgresql/data"),
        ("3.0.0", "astronomy-db", "/var/lib/postgresql/18/docker", "/var/lib/postgresql"),
    ],
)
def test_commits_wait_for_log_writes_and_reads_for_lengths(
    version: str, store: str, directory: str, volume: str
) -> None:
    shop = rendered(version, 10, {}, "steady", 120.0)
    spec = shop.pods(store)[0]["spec"]["containers"][0]
    assert volume in shop.twin.volumes(spec)
    assert shop.run(120.0).quantile(0.9, "accounting", span="postgresql") < 100
    _meet(shop, store, volume, {**_LATE, "path": f"{directory}/pg_wal/*"})
    window = shop.run(180.0)
    assert 2000 <= window.quantile(0.5, "accounting", span="postgresql") <= 5000
    assert window.quantile(0.9, "product-catalog") < 100
    _meet(shop, store, volume, {**_LATE, "path": f"{directory}/base/**/*", "methods": ["read", "write"]})
    shop.run(60.0)
    assert shop.run(120.0).quantile(0.9, "product-catalog") < 100
    _meet(shop, store, volume, {**_LATE, "delaySeconds": 0.05})
    assert shop.run(120.0).quantile(0.5, "product-catalog") > 100


def test_unwritable_log_stops_the_database() -> None:
    shop = rendered("2.2.0", 10, {}, "steady", 180.0)
    _meet(shop, "postgresql", "/var/lib/postgresql/data", {**_EIO, "methods": ["fsync"]})
    for _ in range(4):
        shop.run(15.0)
        if shop.last is not None and shop.last.exits:
            break
    assert shop.last is not None
    assert [e.code for e in shop.last.exits] == [139]
    assert any(text.startswith("PANIC:  could not fdatasync file") for text in _texts(shop, "postgresql"))


def test_valkey_serves_without_its_disk_until_a_snapshot_is_due() -> None:
    shop = rendered("2.2.0", 10, {}, "steady", 330.0)
    _meet(shop, "valkey-cart", "/data", _LATE)
    window = shop.run(330.0)
    assert (window.share("cart"), window.quantile(0.9, "cart") < 100) == (0.0, True)
    _meet(shop, "valkey-cart", "/data", _EIO)
    shop.run(330.0)
    window = shop.run(60.0)
    assert window.share("cart", span="POST /oteldemo.CartService/AddItem") == 1.0
    assert window.share("cart", span="POST /oteldemo.CartService/GetCart") == 0.0
    assert any("MISCONF Valkey is configured to save RDB snapshots" in text for text in _texts(shop, "cart"))
