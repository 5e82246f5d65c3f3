"""Data sources of the page: the lab server's worlds, their trials, objects, samples and logs. Read-only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import LabError, NotFound
from scenario_kit.lab.clock import send_request
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.page import document, health
from scenario_kit.lab.page.document import WorldSummary, WorldTrial
from scenario_kit.lab.page.graph import Drawing, draw_graph
from scenario_kit.lab.telemetry.prometheus_access import connect_metrics
from scenario_kit.model import AlertHistory, Object, Runbook, TrialSpec
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.results.trial import make_trial_reference
from scenario_kit.observe import AlertEvaluator, AlertScope, Owners, scope
from scenario_kit.observe.entities import find_by_name
from scenario_kit.ports import Cluster, LogLine, Metrics
from scenario_kit.trial import TrialStatus, list_alerts_now

#: Wall seconds for which a response is cached, for several windows on the same world.
_FRESH: Final = 1.0
#: Virtual seconds: the range of alerts, and of log lines.
_BACK, _LOGS = 3 * 3600.0, 600.0


@dataclass
class _World:
    """The constant properties of a trial's world."""

    uid: str
    runbook: Runbook
    drawing: Drawing
    evaluator: AlertEvaluator | None = None
    began: float = 0.0
    reported: float = 0.0
    answer: Object | None = None


class PageSource:
    """The worlds of one lab; thread-safe.

    Args:
        worlds: lists the lab server's worlds, as ``describe`` renders them.
        cluster: the lab's API server, for trials.
        eyes: a cluster client with the viewer's permissions, for objects of apps, events and logs.
        metrics: its Prometheus.
        spoilers: whether to show trials, their scenarios and steps.

    All methods raise ``LabError`` if the lab is gone, and ``InfrastructureError`` if a component does not respond.
    """

    def __init__(
        self,
        worlds: Callable[[], list[Object]],
        cluster: Cluster,
        eyes: Cluster,
        metrics: Metrics,
        *,
        spoilers: bool = True,
    ) -> None:
        self._worlds = worlds
        self._cluster = cluster
        self._eyes = eyes
        self._metrics = metrics
        self._spoilers = spoilers
        self._lock = threading.Lock()
        self._known: dict[str, _World] = {}

    @classmethod
    def of_lab(cls, name: str, *, spoilers: bool = True) -> PageSource:
        """Open the lab of that name. Resets and repairs of the lab keep its ports."""

        def worlds() -> list[Object]:
            state = LabState.load(name)
            found: list[Object] = send_request(state.server_url, state.server_token, "GET", "/worlds")["worlds"]
            return found

        state = LabState.load(name)
        cluster, metrics = KubeCluster(Path(state.kubeconfig)), connect_metrics(state)
        eyes = cluster if spoilers else KubeCluster(Path(state.solver_kubeconfig))
        return cls(worlds, cluster, eyes, metrics, spoilers=spoilers)

    def worlds(self) -> list[Object]:
        """Return all worlds, by namespace."""
        return [self._summarise_world(world, self._runbook(world)).to_json() for world in self._open()]

    def world(self, namespace: str) -> Object:
        """Return one world; ``NotFound`` if there is none."""
        found = self._find(namespace)
        trial = self._trial(found["trial"])
        with self._lock:
            known = self._get_world(found["trial"], trial)
            if known.answer is None or time.monotonic() - known.reported > _FRESH:
                known.answer = self._look(found, trial, known)
                known.reported = time.monotonic()
            return known.answer

    def alerts(self) -> list[Object]:
        """Return pending and firing alerts of every world (``trial.AlertNow``), with the world's times."""
        found = []
        for world in self._open():
            try:
                trial = self._trial(world["trial"])
            except LabError:
                continue  # it is closing
            with self._lock:
                known = self._get_world(world["trial"], trial)
                run, history = self._history(world, trial, known)
            found.append(
                {
                    **self._summarise_world(world, known.runbook).to_json(),
                    "namespaces": list(known.runbook.everywhere),
                    "startedAt": run.started_at,
                    "injectedAt": run.injected_at,
                    "alerts": [alert.to_json() for alert in list_alerts_now(history)],
                }
            )
        return found

    def logs(self, namespace: str, component: str) -> list[Object]:
        """Return the last lines of a component's pods; ``NotFound`` if the world or component does not exist."""
        found = self._find(namespace)
        runbook = self._runbook(found)
        app = runbook.app
        desired = app.component(component)
        if desired is None:
            raise NotFound(f"the app {app.name} has no component {component!r}", status=404)
        lines: list[LogLine] = []
        for place in runbook.everywhere:
            for pod in self._eyes.list("Pod", place):
                if find_by_name(pod["metadata"]["name"], app) == desired.workload:
                    try:
                        lines += self._eyes.logs(pod, since=found["now"] - _LOGS)
                    except NotFound:
                        continue  # deleted in the meantime
        return document.merge_lines(lines)

    def _look(self, found: Object, trial: Object, known: _World) -> Object:
        runbook = known.runbook
        run, history = self._history(found, trial, known)
        objects = {k: self._list_objects(k, runbook) for k in (*WORKLOADS, "Pod", "Event")}
        pods = health.group_pods([w for k in WORKLOADS for w in objects[k]], objects["Pod"], runbook.app)
        served = health.summarise_served(
            *(self._metrics.instant(self._scope(e, runbook), found["stored"]) for e in _QUERIES)
        )
        components = health.assess_components(runbook.app, pods, served, history.timelines)
        shown = self._summarise_world(found, runbook)
        return document.document(shown, run, known.drawing, components, history, objects["Event"])

    def _history(self, found: Object, trial: Object, known: _World) -> tuple[WorldTrial, AlertHistory]:
        status = TrialStatus.from_json(trial.get("status") or {})
        started = status.started_at if status.started_at is not None else float(found["now"])
        history = self._evaluator(known, found, started).advance(float(found["stored"]))
        steps = status.steps if self._spoilers else ()
        return WorldTrial(started_at=started, steps=steps, outcome=status.outcome), history

    def _evaluator(self, known: _World, found: Object, started: float) -> AlertEvaluator:
        began = max(started, float(found["now"]) - _BACK)
        if known.evaluator is None or began - known.began > _BACK or started > known.began:
            runbook = known.runbook
            known.began = began
            known.evaluator = AlertEvaluator(
                self._metrics,
                runbook.rules,
                AlertScope(runbook.app, runbook.namespace, tuple(runbook.namespaces.values())),
                Owners(self._eyes, *runbook.everywhere),
                start=began,
            )
        return known.evaluator

    def _list_objects(self, kind: str, runbook: Runbook) -> list[Object]:
        return [obj for place in runbook.everywhere for obj in self._eyes.list(kind, place)]

    @staticmethod
    def _scope(expr: str, runbook: Runbook) -> str:
        return scope(expr, runbook.namespace, *runbook.namespaces.values())

    def _open(self) -> list[Object]:
        found = self._worlds()
        with self._lock:
            gone = self._known.keys() - {world["trial"] for world in found}
            for trial in gone:
                del self._known[trial]
        return sorted(found, key=lambda world: str(world["namespace"]))

    def _find(self, namespace: str) -> Object:
        found = next((w for w in self._open() if w["namespace"] == namespace), None)
        if found is None:
            raise NotFound(f"there is no world in the namespace {namespace!r}", status=404)
        return found

    def _trial(self, name: str) -> Object:
        trial = self._cluster.get(make_trial_reference(name))
        if trial is None:
            raise LabError(f"the trial {name} is gone, and its world has not ended yet", fix="wait a moment")
        return trial

    def _runbook(self, world: Object) -> Runbook:
        with self._lock:
            known = self._known.get(world["trial"])
        if known is None:
            trial = self._trial(world["trial"])
            with self._lock:
                known = self._get_world(world["trial"], trial)
        return known.runbook

    def _get_world(self, name: str, trial: Object) -> _World:
        known = self._known.get(name)
        if known is None or known.uid != trial["metadata"]["uid"]:
            runbook = TrialSpec.from_json(trial["spec"]).runbook()
            known = self._known[name] = _World(trial["metadata"]["uid"], runbook, draw_graph(runbook.app))
        return known

    def _summarise_world(self, world: Object, runbook: Runbook) -> WorldSummary:
        return WorldSummary(
            namespace=world["namespace"],
            mode=world["mode"],
            now=world["now"],
            trial=world["trial"] if self._spoilers else "",
            scenario=runbook.scenario if self._spoilers else "",
            app=f"{runbook.app.name} {runbook.app.version}",
        )


_QUERIES: Final = (health.CALLS, health.LATENCY)
