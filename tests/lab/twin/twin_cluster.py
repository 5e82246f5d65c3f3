"""A small fake cluster: workloads become running pods and endpoints at once."""

import copy
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Literal

from scenario_kit.lab.twin import ClusterDns, Telemetry, Twin, View
from scenario_kit.model import App, ContainerEffect, Ledger, NetworkEffect

EPOCH = 1_790_000_000.0
TICK = 15.0


def stamp(t: float) -> str:
    return datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class TwinCluster:
    """Objects of one namespace, its twin, and the time. ``salt`` changes every generated name, UID and address."""

    def __init__(
        self, app: App, objects: Iterable[dict[str, Any]], seed: int = 1, salt: int = 0, namespace: str = "shop"
    ) -> None:
        self.twin = Twin(app, seed)
        self.namespace = namespace
        self.salt = salt
        self.now = EPOCH
        self.version = 0
        self.serial = 0
        self.restarts = 0
        self.kinds: dict[str, dict[str, Any]] = {
            "Namespace": {namespace: {"metadata": {"name": namespace, "labels": {}}}}
        }
        self.effects: tuple[NetworkEffect, ...] = ()
        self.stress: tuple[ContainerEffect, ...] = ()
        self.dns: ClusterDns | None = None
        self.samples: dict[Any, float] = {}
        self.last: Telemetry | None = None
        self.logs: list[Any] = []
        for obj in objects:
            self.put(obj)
        self.settle()

    def put(self, obj: dict[str, Any]) -> None:
        self.kinds.setdefault(obj["kind"], {})[obj["metadata"]["name"]] = copy.deepcopy(obj)

    def get(self, kind: str, name: str) -> dict[str, Any]:
        return self.kinds[kind][name]

    def change(self, kind: str, name: str, edit: Callable[[dict[str, Any]], Any]) -> None:
        edit(self.kinds[kind][name])
        self.settle()

    def delete(self, kind: str, name: str) -> None:
        del self.kinds[kind][name]
        self.settle()

    def scale(self, name: str, replicas: int) -> None:
        self.change("Deployment", name, lambda d: d["spec"].update(replicas=replicas))

    def restart(self, name: str) -> None:
        for pod in self.pods(name):
            del self.kinds["Pod"][pod["metadata"]["name"]]
        self.settle()

    def env(self, workload: str, name: str, value: str | None, restart: bool = True) -> None:
        spec = self.get("Deployment", workload)["spec"]["template"]["spec"]["containers"][0]
        spec["env"] = [e for e in spec.get("env", []) if e["name"] != name]
        if value is not None:
            spec["env"].append({"name": name, "value": value})
        if restart:
            self.restart(workload)

    def afflict(self, workload: str, kind: Literal["Time", "JVM"], *arguments: dict[str, Any]) -> None:
        """Chaos in the first container of a workload's one pod, one effect for each set of arguments."""
        (pod,) = self.pods(workload)
        container = pod["status"]["containerStatuses"][0]["containerID"]
        self.stress = tuple(
            ContainerEffect(kind=kind, pod_uid=pod["metadata"]["uid"], container_id=container, arguments=each)
            for each in arguments
        )
        self.version += 1

    def pods(self, workload: str) -> list[dict[str, Any]]:
        return [p for p in self.kinds.get("Pod", {}).values() if p["metadata"]["annotations"]["workload"] == workload]

    def settle(self) -> None:
        """What controllers, scheduler and kubelet would do."""
        self.version += 1
        for name, workload in self.kinds.get("Deployment", {}).items():
            pods = self.pods(name)
            for pod in pods[workload["spec"].get("replicas", 1) :]:
                del self.kinds["Pod"][pod["metadata"]["name"]]
            for _ in range(workload["spec"].get("replicas", 1) - len(pods)):
                self._create(name, workload)
        self._slices()
        self.twin.observe(self.view())
        self._kubelet()

    def _create(self, workload: str, obj: dict[str, Any]) -> None:
        self.serial += 1
        number = self.serial * (7 if self.salt else 1) + self.salt
        name = f"{workload}-{number:05x}"
        pod = {
            "kind": "Pod",
            "metadata": {
                "name": name,
                "generateName": f"{workload}-",
                "namespace": obj["metadata"].get("namespace", self.namespace),
                "uid": f"uid-{number}",
                "labels": dict(obj["spec"]["template"]["metadata"]["labels"]),
                "annotations": {"workload": workload},
                "creationTimestamp": stamp(self.now),
            },
            "spec": copy.deepcopy(obj["spec"]["template"]["spec"]) | {"nodeName": f"node-{number % 3}"},
            "status": {
                "phase": "Running",
                "startTime": stamp(self.now),
                "podIP": f"10.{self.salt}.{number // 250}.{number % 250 + 1}",
                "containerStatuses": [],
            },
        }
        self.kinds.setdefault("Pod", {})[name] = pod

    def _kubelet(self) -> None:
        for pod in self.kinds.get("Pod", {}).values():
            known = {s["name"] for s in pod["status"]["containerStatuses"]}
            for spec in pod["spec"]["containers"]:
                if spec["name"] in known or not self.twin.image_exists(spec["image"]):
                    continue
                begun = self.twin.start(pod, spec["name"], self.now)
                running = (
                    {"running": {"startedAt": stamp(self.now)}}
                    if begun.exit is None
                    else {"waiting": {"reason": "CrashLoopBackOff"}}
                )
                number = pod["metadata"]["uid"]
                pod["status"]["containerStatuses"].append(
                    {
                        "name": spec["name"],
                        "containerID": f"containerd://{number}-{spec['name']}"
                        + (f"-{self.restarts}" * (self.restarts > 0)),
                        "restartCount": 0,
                        "state": running,
                    }
                )
                self.version += 1

    def revive(self) -> int:
        """Start containers again that ended, without any back-off; how many there were."""
        ended = {(e.pod_uid, e.container) for e in (self.last.exits if self.last else ())}
        count = 0
        for pod in self.kinds.get("Pod", {}).values():
            for status in list(pod["status"]["containerStatuses"]):
                if "waiting" in status["state"] or (pod["metadata"]["uid"], status["name"]) in ended:
                    pod["status"]["containerStatuses"].remove(status)
                    self.restarts += 1
                    count += 1
        self.version += 1
        self.twin.observe(self.view())
        self._kubelet()
        return count

    def _slices(self) -> None:
        self.kinds["EndpointSlice"] = {}
        for name, service in self.kinds.get("Service", {}).items():
            selector = service["spec"].get("selector")
            if not selector:
                continue
            chosen = [
                p
                for p in self.kinds.get("Pod", {}).values()
                if all(p["metadata"]["labels"].get(k) == v for k, v in selector.items())
            ]
            self.kinds["EndpointSlice"][name] = {
                "kind": "EndpointSlice",
                "metadata": {
                    "name": name,
                    "namespace": service["metadata"].get("namespace", self.namespace),
                    "labels": {"kubernetes.io/service-name": name},
                },
                "ports": [
                    {"name": p.get("name", ""), "port": self._target(p, chosen)}
                    for p in service["spec"].get("ports", [])
                ],
                "endpoints": [
                    {
                        "addresses": [p["status"]["podIP"]],
                        "conditions": {"ready": True},
                        "nodeName": p["spec"]["nodeName"],
                    }
                    for p in chosen
                ],
            }
            service["spec"].setdefault("clusterIP", f"10.96.{len(self.kinds['EndpointSlice'])}.1")

    @staticmethod
    def _target(port: dict[str, Any], pods: list[dict[str, Any]]) -> int | None:
        target = port.get("targetPort", port["port"])
        if isinstance(target, int):
            return target
        named = {
            p.get("name"): p["containerPort"]
            for pod in pods
            for c in pod["spec"]["containers"]
            for p in c.get("ports", [])
        }
        return named.get(target)

    def view(self) -> View:
        ledger = Ledger(version=self.version, network=self.effects, containers=self.stress)
        homes: dict[str, dict[str, dict[str, Any]]] = {self.namespace: {}}
        for kind, objects in self.kinds.items():
            for name, obj in objects.items():
                home = name if kind == "Namespace" else obj["metadata"].get("namespace", self.namespace)
                homes.setdefault(home, {}).setdefault(kind, {})[name] = obj
        return View(self.namespace, homes.pop(self.namespace), ledger, self.version, homes, self.dns)

    def chaos(self, workload: str, **effect: Any) -> None:
        self.effects = (
            *self.effects,
            *(NetworkEffect(pod_uid=p["metadata"]["uid"], **effect) for p in self.pods(workload)),
        )
        self.version += 1

    def calm(self) -> None:
        self.effects, self.stress = (), ()
        self.version += 1

    def run(self, seconds: float) -> "Span":
        """Let time pass; answers what was counted meanwhile."""
        before = self.samples
        for _ in range(round(seconds / TICK)):
            self.now += TICK
            self.last = self.twin.step(self.view(), self.now, TICK)
            self.samples = self.last.samples
            self.logs += self.last.logs
        return Span(before, self.samples, seconds)


class Span:
    """Differences of counters over a stretch of time."""

    def __init__(self, before: dict[Any, float], after: dict[Any, float], seconds: float) -> None:
        self.rows = [
            (name, dict(labels), value - before.get((name, labels), 0.0)) for (name, labels), value in after.items()
        ]
        self.seconds = seconds

    def calls(self, service: str, span: str | None = None, kind: str | None = None, error: bool | None = None) -> float:
        total = 0.0
        for name, labels, value in self.rows:
            if name != "traces_span_metrics_calls_total" or labels["service_name"] != service:
                continue
            if span not in (None, labels["span_name"]):
                continue
            if kind is not None and labels["span_kind"] != f"SPAN_KIND_{kind}":
                continue
            if error is None or error == (labels["status_code"] == "STATUS_CODE_ERROR"):
                total += value
        return total

    def rate(self, service: str, **match: Any) -> float:
        return self.calls(service, **match) / self.seconds

    def share(self, service: str, **match: Any) -> float:
        """Share of errors."""
        total = self.calls(service, **match)
        return self.calls(service, **match, error=True) / total if total else 0.0

    def silent(self, service: str) -> bool:
        """No span that is not an error: what NoRequestsReceived sees."""
        return self.calls(service, error=False) == 0

    def services(self) -> set[str]:
        return {labels["service_name"] for name, labels, _ in self.rows if name == "traces_span_metrics_calls_total"}

    def quantile(self, q: float, service: str, span: str | None = None) -> float:
        """As histogram_quantile over all spans of a service, or those of a name, in milliseconds."""
        buckets: dict[float, float] = {}
        for name, labels, value in self.rows:
            if name == "traces_span_metrics_duration_milliseconds_bucket" and labels["service_name"] == service:
                if span not in (None, labels["span_name"]):
                    continue
                bound = float(labels["le"].replace("+Inf", "inf"))
                buckets[bound] = buckets.get(bound, 0.0) + value
        bounds = sorted(buckets)
        rank, low, below = q * buckets[bounds[-1]], 0.0, 0.0
        for bound in bounds:
            if buckets[bound] >= rank:
                if bound == float("inf"):
                    return low
                return low + (bound - low) * (rank - below) / max(buckets[bound] - below, 1e-9)
            low, below = bound, buckets[bound]
        return low
