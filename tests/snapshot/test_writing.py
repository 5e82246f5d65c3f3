"""Two runs of one seed differ in names, addresses, nodes, identifiers and wall times; their snapshots do not."""

import json
import random
import sys
import uuid
from pathlib import Path

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load import load_scenario
from scenario_kit.model import AlertHistory, AlertTimeline, Interval
from scenario_kit.model.runtime.recording import RecordedLine, RecordedTick, RemovedObject
from scenario_kit.model.runtime.trace import Span, Trace
from scenario_kit.render import resolve
from scenario_kit.snapshot import Recording, SnapshotPlace, SnapshotSettings, SnapshotSource, write_snapshot
from scenario_kit.snapshot.reader import SnapshotFolder, parse_map, parse_timestamp
from scenario_kit.testing import FakeMetrics

sys.path.insert(0, str(Path(__file__).parent))
import itbench_reader

SCENARIO = Path("catalog/scenarios/cart-scaled-to-zero/scenario.yaml")
START = 1_795_392_000.0
HANDOVER = START + 420
INJECTED = START + 120


class Run:
    """What chance makes of one run: everything here is drawn anew, and nothing of it may be seen."""

    def __init__(self, chance: int, epoch: float = START) -> None:
        self.random = random.Random(chance)
        self.namespace = "otel-demo-" + "".join(self.random.choices("bcdfgh", k=4))
        self.ips = iter(self.random.sample([f"10.244.{a}.{b}" for a in range(3) for b in range(2, 250)], 40))
        self.nodes = {f"worker-{i}": f"10.0.1.{10 + i}" for i in (1, 2, 3)}
        self.wall = 1_795_700_000 + chance * 977
        self.epoch = epoch
        self.version = 100

    def suffix(self, length: int) -> str:
        return "".join(self.random.choices("bcdfghjklmnpqrstvwxz2456789", k=length))

    def stamp(self) -> str:
        self.wall += self.random.randrange(3)
        return _stamp(self.wall)

    def meta(self, name: str, owner: dict | None = None, **more: object) -> dict:
        self.version += self.random.randrange(1, 9)
        owners = [{**_ref(owner), "controller": True}] if owner else []
        return {
            "name": name,
            "namespace": self.namespace,
            "uid": str(uuid.UUID(int=self.random.getrandbits(128))),
            "resourceVersion": str(self.version),
            "creationTimestamp": self.stamp(),
            **({"ownerReferences": owners} if owners else {}),
            **more,
        }


def _stamp(at: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ref(obj: dict) -> dict:
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": obj["metadata"]["name"],
        "uid": obj["metadata"]["uid"],
    }


def workload(run: Run, name: str) -> list[dict]:
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": run.meta(name), "spec": {"replicas": 1}}
    condition = {
        "type": "Available",
        "status": "True",
        "reason": "MinimumReplicasAvailable",
        "message": "",
        "lastUpdateTime": run.stamp(),
        "lastTransitionTime": run.stamp(),
    }
    deployment["status"] = {"replicas": 1, "conditions": [condition]}
    digest = run.suffix(10)
    labels = {"app": name, "pod-template-hash": digest}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": run.meta(f"{name}-{digest}", deployment, labels=labels),
        "spec": {"replicas": 1},
    }
    node = run.random.choice(sorted(run.nodes))
    meta = run.meta(f"{name}-{digest}-{run.suffix(5)}", owner, labels=labels)
    status = {
        "podIPs": [{"ip": next(run.ips)}],
        "hostIP": run.nodes[node],
        "startTime": _stamp(run.epoch),
        "containerStatuses": [
            {"name": name, "restartCount": 0, "containerID": f"containerd://{run.random.getrandbits(256):064x}"}
        ],
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"nodeName": node, "containers": [{"name": name}]},
        "status": status,
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": run.meta(name),
        "spec": {
            "selector": {"app": name},
            "clusterIPs": [f"10.96.{run.random.randrange(255)}.{run.random.randrange(255)}"],
        },
    }
    endpoint = {
        "addresses": [status["podIPs"][0]["ip"]],
        "nodeName": node,
        "targetRef": {"kind": "Pod", "name": meta["name"], "uid": meta["uid"]},
    }
    piece = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "endpoints": [endpoint],
        "metadata": {
            **run.meta(f"{name}-{run.suffix(5)}", service),
            "generateName": f"{name}-",
            "generation": run.random.randrange(9),
        },
    }
    return [deployment, owner, pod, service, piece]


def event(run: Run, about: dict, reason: str, message: str, *, at: float | None = None) -> dict:
    stamp = _stamp(at) if at is not None else run.stamp()
    speaker = "kubelet" if at is not None else "replicaset-controller"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": run.meta(f"{about['metadata']['name']}.{run.suffix(9)}"),
        "involvedObject": {**_ref(about), "namespace": run.namespace, "resourceVersion": str(run.version)},
        "reason": reason,
        "message": message,
        "type": "Normal",
        "count": 1 if at is not None else run.random.randrange(1, 5),
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "source": {"component": speaker},
        "reportingComponent": speaker,
        "reportingInstance": about["spec"]["nodeName"] if at is not None else f"{speaker}-{run.suffix(6)}",
    }


def play(chance: int, shift: float = 0.0) -> tuple[Recording, Run]:
    """An incident of seven minutes; ``cart`` goes to zero after two of them."""
    run = Run(chance, START + shift)
    start = START + shift
    cart, frontend = workload(run, "cart"), workload(run, "frontend")
    node = {"apiVersion": "v1", "kind": "Node", "spec": {}, "metadata": {**run.meta("worker-1"), "namespace": ""}}
    node["status"] = {
        "addresses": [{"type": "InternalIP", "address": run.nodes["worker-1"]}],
        "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": run.stamp()}],
    }
    nodes = [
        {
            **node,
            "metadata": {**node["metadata"], "name": n, "uid": str(uuid.UUID(int=run.random.getrandbits(128)))},
            "status": {**node["status"], "addresses": [{"type": "InternalIP", "address": ip}]},
        }
        for n, ip in run.nodes.items()
    ]
    objects = [*nodes, *cart, *frontend]
    run.random.shuffle(objects)
    pod, front = cart[2], frontend[2]
    name, front_name = pod["metadata"]["name"], front["metadata"]["name"]
    resource = {
        "service.name": "frontend",
        "k8s.pod.name": front_name,
        "k8s.pod.uid": front["metadata"]["uid"],
        "k8s.namespace.name": run.namespace,
        "k8s.pod.ip": front["status"]["podIPs"][0]["ip"],
        "k8s.node.name": front["spec"]["nodeName"],
    }

    def tick(at: float) -> RecordedTick:
        lines = [
            RecordedLine(
                run.namespace, front_name, "frontend", at - 3, f"INFO calling {name}.{run.namespace} at {_stamp(at)}"
            )
        ]
        if at > INJECTED + shift:
            lines.append(
                RecordedLine(
                    run.namespace,
                    front_name,
                    "frontend",
                    at - 2,
                    f"dial tcp {cart[3]['spec']['clusterIPs'][0]}:8080: refused",
                )
            )
        failed = at > INJECTED + shift
        spans = tuple(
            Span(
                "ab" * 16,
                f"{int(at - start):016x}",
                "",
                "frontend",
                "GET /",
                "SERVER",
                at - 5 + i,
                0.2,
                failed,
                f"{name} is gone" if failed else "",
                {"server.address": "cart"},
                resource,
            )
            for i in range(2)
        )
        return RecordedTick(at=at, lines=tuple(lines), traces=(Trace("ab" * 16, spans),))

    ticks = [tick(start + 15 * n) for n in range(1, 30)]
    created = event(run, cart[1], "SuccessfulCreate", f"Created pod: {name}")
    late = run.random.randrange(2)  # a controller's statement comes when it comes
    ticks[0] = msgspec.structs.replace(
        ticks[0], objects=tuple(objects), events=(event(run, pod, "Started", "Started container cart", at=start + 4),)
    )
    ticks[late] = msgspec.structs.replace(ticks[late], events=(*ticks[late].events, created))
    scaled = {**cart[0], "spec": {"replicas": 0}, "metadata": {**cart[0]["metadata"], "resourceVersion": "9999"}}
    gone = event(run, cart[1], "SuccessfulDelete", f"Deleted pod: {name}")
    ticks[8] = msgspec.structs.replace(
        ticks[8], objects=(scaled,), removed=(RemovedObject("Pod", run.namespace, name),), events=(gone,)
    )
    # What happens after hand-over is nobody's to see.
    ticks[-1] = msgspec.structs.replace(
        ticks[-1], events=(event(run, front, "Killing", "Stopping", at=HANDOVER + shift),)
    )
    labels = {"namespace": run.namespace, "service_name": "frontend", "severity": "critical"}
    timeline = AlertTimeline(
        name="HighRequestErrorRate",
        entity="Deployment/frontend",
        labels=labels,
        pending=(Interval(start=INJECTED + shift + 60, end=INJECTED + shift + 240),),
        firing=(Interval(start=INJECTED + shift + 240),),
    )

    def series(at: float) -> list[tuple[dict[str, str], float]]:
        pods = [p for p in (pod, front) if p is front or at <= INJECTED + shift]
        found = [
            (
                {
                    "__name__": "container_memory_rss",
                    "pod": p["metadata"]["name"],
                    "namespace": run.namespace,
                    "node": p["spec"]["nodeName"],
                    "id": f"/kubepods/pod{p['metadata']['uid']}",
                },
                at - start,
            )
            for p in pods
        ]
        found += [
            (
                {
                    "__name__": "traces_span_metrics_calls_total",
                    "service_name": "frontend",
                    "namespace": run.namespace,
                    "status_code": f"STATUS_CODE_{code}",
                },
                at - start,
            )
            for code in ("ERROR", "UNSET")
        ]
        return found

    def respond(expr: str, at: float) -> list[tuple[dict[str, str], float]]:
        for label in ("pod", "service_name"):
            if expr.startswith(f"count by ({label})"):
                return [({label: v}, 1.0) for v in {s[label] for s, _ in series(at) if label in s}]
            if f'{label}="' in expr and expr.startswith("{"):
                return [(s, v) for s, v in series(at) if s.get(label) == expr.split(f'{label}="')[1].split('"')[0]]
        return [(labels, 0.4)] if "> 0.05" in expr or "ERROR" in expr else []

    scenario = load_scenario(SCENARIO).scenario
    runbook = resolve(scenario, Catalog(), run.namespace, beside=SCENARIO.parent)
    recording = Recording(
        runbook=runbook,
        seed=7,
        start=start,
        injected=INJECTED + shift,
        handover=HANDOVER + shift,
        history=AlertHistory(start=start, end=HANDOVER + shift, timelines=(timeline,)),
        read_ticks=lambda: ticks,
        metrics=FakeMetrics(respond),
        injections={"scale": INJECTED + shift},
    )
    return recording, run


def write(recording: Recording, out: Path, settings: SnapshotSettings | None = None) -> Path:
    place = SnapshotPlace(out / "Scenario-1", out / "truths" / "Scenario-1")
    spec = load_scenario(SCENARIO).scenario.spec
    write_snapshot(recording, SnapshotSource(spec, {}, {}, settings=settings or SnapshotSettings()), place)
    return place.folder


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_chance_and_the_clock_on_the_wall_leave_no_trace(tmp_path):
    """Another chance, and another epoch: the same bytes, and nothing of either in them."""
    one, run = play(1)
    other, _ = play(2, shift=5 * 86400.0)
    a, b = contents(write(one, tmp_path / "a")), contents(write(other, tmp_path / "b"))
    assert a.keys() == b.keys()
    assert [name for name in a if a[name] != b[name]] == []
    everything = b"".join(a.values()) + " ".join(a).encode()
    assert run.namespace.encode() not in everything
    assert b"2026" not in everything
    assert contents(tmp_path / "a" / "truths") == contents(tmp_path / "b" / "truths")


def test_a_stranger_reads_it(tmp_path):
    folder = write(play(3)[0], tmp_path)
    looks, state = itbench_reader.read_alerts(folder)
    assert [len(alerts) for _, alerts in looks] == [0] * 6 + [1, 1]
    assert state[0]["activeAt"] == "2025-01-06T00:03:00.000000000Z"
    events = itbench_reader.read_events(folder)
    assert sorted(e["reason"] for e in events) == ["Started", "SuccessfulCreate", "SuccessfulDelete"]
    when = {e["reason"]: e["firstTimestamp"] for e in events}
    assert when == {
        "Started": "2025-01-06T00:00:04Z",
        "SuccessfulCreate": "2025-01-06T00:00:00Z",
        "SuccessfulDelete": "2025-01-06T00:02:00Z",
    }
    objects = itbench_reader.read_objects(folder)
    assert [o["spec"]["replicas"] for _, o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "cart"][
        -1
    ] == 0
    names = {o["metadata"]["name"] for _, o in objects if o["kind"] == "Pod"}
    metrics = itbench_reader.read_metrics(folder)
    assert {name for kind, name, _ in metrics if kind == "pod"} == names
    assert len(next(rows for kind, _, rows in metrics if kind == "service")) == 29, "of calls, those that failed"
    assert len(itbench_reader.read_spans(folder)) == 56
    assert {row["ServiceName"] for row in itbench_reader.read_logs(folder)} == {"frontend"}
    itbench_reader.read_topologies(folder)
    itbench_reader.read_lite(folder)


def test_what_is_left_out_is_not_there(tmp_path):
    settings = SnapshotSettings(without=("traces", "metrics", "events", "logs"), lite=False)
    folder = write(play(4)[0], tmp_path, settings)
    assert {p.name for p in folder.iterdir()} == {
        "alerts",
        "k8s_objects_raw.tsv",
        "manifest.json",
        "topology_information",
    }
    snapshot = SnapshotFolder(folder)
    snapshot.verify()
    assert list(snapshot.read_logs()) == list(snapshot.read_spans()) == snapshot.list_metrics() == []
    assert snapshot.manifest.settings["without"] == ["traces", "metrics", "events", "logs"]


def test_fewer_samples_and_traces(tmp_path):
    folder = write(play(5)[0], tmp_path, SnapshotSettings(trace_share=0.0, metric_seconds=60))
    assert itbench_reader.read_spans(folder) == []
    rows = next(rows for kind, _, rows in itbench_reader.read_metrics(folder) if kind == "service")
    assert {row["timestamp"][17:] for row in rows} == {"00.000"}


def test_an_answer_in_a_log_line_stops_everything(tmp_path):
    recording, run = play(6)
    ticks = list(recording.read_ticks())
    leak = RecordedLine(run.namespace, "frontend", "frontend", START + 20, "now Cart_Scaled.to-zero, said somebody")
    ticks[3] = msgspec.structs.replace(ticks[3], lines=(*ticks[3].lines, leak))
    with pytest.raises(AuthoringError) as refused:
        write(Recording(**{**vars(recording), "read_ticks": lambda: ticks}), tmp_path)
    assert [f.code for f in refused.value.findings] == ["SK441"]
    assert "otel_logs_raw.tsv" in refused.value.findings[0].observed
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_complete_or_not_at_all(tmp_path):
    """Whatever fails, no folder is there; one that is there is not touched."""
    recording, _ = play(7)
    recording.metrics.down = True
    with pytest.raises(Exception, match="connection refused"):
        write(recording, tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    recording.metrics.down = False
    before = contents(write(recording, tmp_path))
    with pytest.raises(UsageError, match="exists already"):
        write(recording, tmp_path)
    assert contents(tmp_path / "Scenario-1") == before


def test_the_reader_finds_what_was_changed_lost_and_added(tmp_path):
    folder = write(play(8)[0], tmp_path)
    SnapshotFolder(folder).verify()
    (folder / "otel_logs_raw.tsv").write_text("changed")
    (folder / "k8s_events_raw.tsv").unlink()
    (folder / "alerts" / "more.json").write_text("[]")
    with pytest.raises(AuthoringError) as refused:
        SnapshotFolder(folder).verify()
    messages = sorted(f.message for f in refused.value.findings)
    assert messages == [
        "k8s_events_raw.tsv is missing",
        "more.json is not in the manifest",
        "otel_logs_raw.tsv was changed",
    ]


def test_the_reader_reads_what_others_publish(tmp_path):
    """Other names of files and folders, no manifest, the envelope of the API."""
    raw = tmp_path / "observability_information_from_clickhouse" / "raw"
    (raw / "metrics_pod").mkdir(parents=True)
    (tmp_path / "alerts").mkdir()
    (raw / "metrics_pod" / "pod_a_raw.tsv").write_text("metric_name\ttags\ncpu\t{'pod': 'a'}\n")
    (raw / "k8s_events.tsv").write_text('Timestamp\tBody\n2025-01-06 00:00:01.500000000\t"{""a"": 1,\n""b"": 2}"\n')
    envelope = {"status": "success", "data": {"alerts": [{"labels": {}}]}}
    (tmp_path / "alerts" / "alerts_at_2025-01-06T00-01-00.000000.json").write_text(json.dumps(envelope))
    snapshot = SnapshotFolder(tmp_path)
    assert snapshot.manifest is None
    (row,) = snapshot.read_events()
    assert json.loads(row["Body"]) == {"a": 1, "b": 2}
    assert parse_timestamp(row["Timestamp"]) == 1736121601.5
    (file,) = snapshot.list_metrics()
    assert (file.kind, file.name) == ("pod", "a")
    assert [parse_map(row["tags"]) for row in snapshot.read_metrics(file)] == [{"pod": "a"}]
    assert [len(look.alerts) for look in snapshot.read_alerts()] == [1]
    with pytest.raises(UsageError, match="nothing to verify"):
        snapshot.verify()


def test_the_reader_says_where_a_table_is_broken(tmp_path):
    (tmp_path / "alerts").mkdir()
    (tmp_path / "otel_logs_raw.tsv").write_text("Timestamp\tBody\na\tb\nonly one\n")
    with pytest.raises(AuthoringError, match=r"otel_logs_raw\.tsv:3: a row has 1 cells, expected 2"):
        list(SnapshotFolder(tmp_path).read_logs())
    with pytest.raises(UsageError, match="holds no snapshot"):
        SnapshotFolder(tmp_path / "alerts")
