"""The context of a step: ports, runbook, and time that maintains faults and noise as it passes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scenario_kit.changes import TRIAL_LABEL, Engine
from scenario_kit.errors import InfrastructureError
from scenario_kit.judge.alerts.missing_alerts import UnusedRules
from scenario_kit.model import AlertHistory, Answer, Fault, Object, Reference, Runbook, TrialSpec, TrialStep
from scenario_kit.model.authored.fault import FAULT_GROUPS, name_fault_group
from scenario_kit.model.grid import GRID_SECONDS, TRAFFIC_SECONDS
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.observe import AlertEvaluator
from scenario_kit.ports import Clock, Cluster, Metrics
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.progress import TrialProgress

TICK: Final = GRID_SECONDS
TRAFFIC_WINDOW: Final = TRAFFIC_SECONDS


class Stopped(Exception):
    """The run was stopped; it resumes at this step."""


def _show_nothing(answer: Answer, reasons: Sequence[str]) -> None:
    del answer, reasons


def join_uids(homes: Iterable[Object | None]) -> str:
    """Join the UIDs of namespaces; empty where one of them is missing."""
    found = list(homes)
    return "" if None in found else " ".join(home["metadata"]["uid"] for home in found if home is not None)


@dataclass(slots=True)
class TrialContext:
    """A running trial. ``stopping`` ends the run early, ``idle`` sleeps for wall seconds.

    ``health`` describes unhealthy infrastructure; ``diagnose`` also detects hangs, and takes seconds.

    ``beside`` evaluates, by pack, the rules of the packs that the scenario does not use, from the start of the trial.

    ``solver`` is the cluster read with the solver's permissions. ``tell`` is called as time passes with the current
    time and the alert history, ``show`` with whether the incident is over and what is missing for that. ``warned``
    holds the messages that this process has logged already. ``lost`` returns whether the trial's world is gone.
    """

    name: str
    spec: TrialSpec
    runbook: Runbook
    cluster: Cluster
    solver: Cluster
    metrics: Metrics
    clock: Clock
    engine: Engine
    evaluator: AlertEvaluator
    management: str
    health: Callable[[], Sequence[str]]
    stopping: Callable[[], bool]
    idle: Callable[[float], None]
    tell: Callable[[float, AlertHistory], None]
    warned: set[str] = field(default_factory=set)
    diagnose: Callable[[], Sequence[str]] = tuple
    lost: Callable[[], bool] = bool
    show: Callable[[Answer, Sequence[str]], None] = _show_nothing
    beside: Callable[[], Mapping[str, UnusedRules]] = dict

    @property
    def namespace(self) -> str:
        """The real namespace of the app."""
        return self.spec.namespace

    @property
    def everywhere(self) -> tuple[str, ...]:
        """The real names of all namespaces of the app."""
        return (self.namespace, *self.runbook.namespaces.values())

    @property
    def virtual(self) -> bool:
        """Whether time moves only when this trial lets it."""
        return self.spec.clock == "Virtual"

    def homes(self) -> dict[str, Object | None]:
        """Return the live Namespace objects of the app, by name; None where there is none."""
        return {name: self.cluster.get(Reference("Namespace", name)) for name in self.everywhere}

    def identity(self) -> str:
        """Return the UIDs of the app's namespaces; empty where one of them is missing."""
        return join_uids(self.homes().values())

    def contents(self, *kinds: str) -> list[Object]:
        """Return the live objects of these kinds in all namespaces of the app."""
        return [o for name in self.everywhere for kind in kinds for o in self.cluster.list(kind, name)]

    def guarded(self) -> list[Object]:
        """Return the live objects that an honest repair leaves in place (see ``judge.repair.invariants``)."""
        flags = self.runbook.app.flags
        store = self.cluster.get(Reference("ConfigMap", flags.config_map, self.namespace)) if flags else None
        return [*self.contents(*WORKLOADS, "Service"), *([store] if store else [])]

    def wait(self, until: float) -> float:
        """Wait until ``until``, keeping lasting faults bound to the current pods and playing noise.

        Raises:
            Stopped: the run is to stop.
            InfrastructureError: infrastructure of the trial is unhealthy.
        """
        while True:
            if self.stopping():
                raise Stopped
            if problems := self.health():
                raise InfrastructureError("; ".join(problems))
            lasting = self.persistent()
            self.engine.maintain(lasting)
            look = min(until, noise.play(self), self.end_stages())
            if (end := self.engine.record_expired(self.clock.now())) is not None:
                look = min(look, end)
            if self.virtual and self.engine.needs_maintenance(
                lasting
            ):  # new processes are unaffected until the next `maintain`
                look = min(look, self.clock.now() + TICK)
            now = self.clock.wait(look)
            if now >= until:
                return now

    def end_stages(self) -> float:
        """Undo the faults whose time is over; return when the next one ends."""
        ahead = []
        for fault in self.runbook.faults:
            if fault.lasts_seconds is None or not self.engine.list_active(fault.group):
                continue
            injected = self.injected_at(fault.name)
            end = (self.clock.now() if injected is None else injected) + fault.lasts_seconds
            if end > self.clock.now():
                ahead.append(end)
            else:
                self.engine.undo_group(fault.group)  # what is blocked is retried by the next wait
        return min(ahead, default=noise.NEVER)

    def has_ended(self, name: str) -> bool:
        """Check whether a fault was injected, and taken back because its time was over."""
        fault = self.runbook.fault(name)
        injected = self.injected_at(name)
        ended = fault.lasts_seconds is not None and injected is not None and not self.engine.list_active(fault.group)
        return ended and self.clock.now() >= (injected or 0) + (fault.lasts_seconds or 0)

    def settle(self) -> float:
        """Let the cluster settle without advancing time (virtual), or wait a second (wall)."""
        now = self.clock.now()
        return self.wait(now if self.virtual else now + 1)

    def history(self) -> AlertHistory:
        """Return every alert since the trial began, up to now."""
        now = self.clock.now()
        history = self.evaluator.advance(now)
        self.tell(now, history)
        return history

    def persistent(self) -> list[str]:
        """Return the receipt groups of faults that persist across pods."""
        return [f.group for f in self.runbook.faults if f.persistence == "Workload"]

    def injected_at(self, fault: str = "") -> float | None:
        """Return when the first change of a fault (or of any fault) was recorded."""
        prefix = name_fault_group(fault) if fault else FAULT_GROUPS
        times = [r.at for r in self.engine.list_receipts(prefix) if r.causal and (not fault or r.group == prefix)]
        return min(times, default=None)

    def last_injected_at(self) -> float | None:
        """Return when the first change of the latest fault was recorded."""
        firsts = [at for f in self.runbook.faults if (at := self.injected_at(f.name)) is not None]
        return max(firsts, default=None)

    def chosen_faults(self, step: TrialStep) -> list[Fault]:
        """Return the faults that an inject step names, in the runbook's order; no names mean all but its exceptions."""
        named = [f for f in self.runbook.faults if not step.faults or f.name in step.faults]
        return [f for f in named if f.name not in step.except_]

    def save_progress(self, progress: TrialProgress) -> None:
        """Save what steps have established, beside the receipts."""
        self.cluster.apply(self._document("progress", json.dumps(progress.to_json())))

    def progress(self) -> TrialProgress:
        """Return what steps have established so far."""
        found = self.cluster.get(Reference("ConfigMap", f"{self.name}-progress", self.management))
        return TrialProgress.from_json(json.loads(found["data"]["document"])) if found else TrialProgress()

    def save_baseline(self, baseline: Baseline) -> None:
        """Save the baseline beside the receipts."""
        self.cluster.apply(self._document("baseline", json.dumps(baseline.to_json())))

    def baseline(self) -> Baseline | None:
        """Return the baseline, once the deploy step has begun."""
        found = self.cluster.get(Reference("ConfigMap", f"{self.name}-baseline", self.management))
        return Baseline.from_json(json.loads(found["data"]["document"])) if found else None

    def save_evidence(self, document: Object) -> str:
        """Save the observations; return the ConfigMap's name."""
        self.cluster.apply(self._document("evidence", json.dumps(document)))
        return f"{self.name}-evidence"

    def _document(self, suffix: str, text: str) -> Object:
        metadata = {"name": f"{self.name}-{suffix}", "namespace": self.management, "labels": {TRIAL_LABEL: self.name}}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"document": text}}
