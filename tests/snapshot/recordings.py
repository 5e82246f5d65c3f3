"""Randomly generated recordings of an incident, and their snapshots."""

import random
import uuid
from pathlib import Path

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.load import load_scenario
from scenario_kit.model import AlertHistory, AlertTimeline, Interval, Reference
from scenario_kit.model.runtime.recording import RecordedLine, RecordedTick, RemovedObject
from scenario_kit.model.runtime.trace import Span, Trace
from scenario_kit.render import resolve
from scenario_kit.render.scenarios.control_twin import build_control_twin
from scenario_kit.snapshot import Recording, SnapshotPlace, SnapshotSettings, SnapshotSource, write_snapshot
from scenario_kit.testing import FakeMetrics

SCENARIO = Path("catalog/scenarios/cart-scaled-to-zero/scenario.yaml")
#: An annotation that the controller of endpoints writes, or takes away again.
TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
START = 1_795_392_000.0
HANDOVER = START + 420
INJECTED = START + 120


class Run:
    """The random values of one run, none of which may be visible in the snapshot."""

    def __init__(self, chance: int, epoch: float = START) -> None:
        self.chance, self.random = chance, random.Random(chance)
        self.namespace = "otel-demo-" + "".join(self.random.choices("bcdfgh", k=4))
        self.ips = iter(self.random.sample([f"10.244.{a}.{b}" for a in range(3) for b in range(2, 250)], 40))
        self.nodes = {f"worker-{i}": f"10.0.1.{10 + i}" for i in (1, 2, 3)}
        self.wall = 1_795_700_000 + chance * 977
        self.epoch = epoch
        self.version = 100

    def suffix(self, length: int) -> str:
        return "".join(self.random.choices("bcdfghjklmnpqrstvwxz2456789", k=length))

    def order(self, obj: dict) -> dict:
        """Objects of a list and of a watch have their kind in different places."""
        first = self.random.choice((("apiVersion", "kind"), ("kind", "apiVersion")))
        return {key: obj[key] for key in first} | obj

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
            **({"annotations": {}}, {}, {"annotations": {TRIGGER: run.stamp()}})[run.chance % 3],
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


def play(chance: int, shift: float = 0.0, root: str = "") -> tuple[Recording, Run]:
    """An incident of seven minutes; ``cart`` goes to zero after two of them. ``root`` is another label than the right
    one.
    """
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
        ticks[0],
        objects=tuple(map(run.order, objects)),
        events=(event(run, pod, "Started", "Started container cart", at=start + 4),),
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
        entity=Reference("Deployment", "frontend"),
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
    if root:
        causes = (msgspec.structs.replace(runbook.ground_truth.root_causes[0], entity=Reference.parse(root)),)
        truth = msgspec.structs.replace(runbook.ground_truth, root_causes=causes)
        runbook = msgspec.structs.replace(runbook, ground_truth=truth)
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


def play_control(chance: int) -> Recording:
    """The control twin: the same app, of which only the first two minutes are played, over and over."""
    recording, run = play(chance)
    twin = build_control_twin(load_scenario(SCENARIO).scenario)
    quiet = [tick for tick in recording.read_ticks() if tick.at < INJECTED]
    ticks = [*quiet, *(msgspec.structs.replace(quiet[-1], at=quiet[-1].at + 15 * n) for n in range(1, 22))]
    return Recording(**{
        **vars(recording), "runbook": resolve(twin, Catalog(), run.namespace, beside=SCENARIO.parent), "injected": None,
        "injections": {}, "history": msgspec.structs.replace(recording.history, timelines=()),
        "read_ticks": lambda: ticks,
    })  # fmt: skip


def write(
    recording: Recording, out: Path, settings: SnapshotSettings | None = None, *, name: str = "Scenario-1",
    control: bool = False,
) -> Path:  # fmt: skip
    place = SnapshotPlace(out / name, out / "truths" / name)
    scenario = load_scenario(SCENARIO).scenario
    spec = (build_control_twin(scenario) if control else scenario).spec
    write_snapshot(recording, SnapshotSource(spec, {}, {}, settings=settings or SnapshotSettings()), place)
    return place.folder
