"""An incident on the real node: apply, symptoms, repair with a solver's rights, resolution."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.cli.operator import build_solver_kubeconfig
from scenario_kit.errors import LabError
from scenario_kit.exporters.kubectl_repair import list_repair_calls
from scenario_kit.load import load_scenario
from scenario_kit.model import AlertHistory, Object, Reference, Runbook
from scenario_kit.model.base import Value
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.observe.alert_evaluator import AlertEvaluator, AlertScope
from scenario_kit.observe.entities import Owners
from scenario_kit.render import resolve
from scenario_kit.schema.solver import SOLVER
from scenario_kit.trial.status import TrialStatus
from tools.realnode.node.cluster import RealCluster
from tools.realnode.node.installation import open_metrics

#: Timeouts of the stages of an incident, in seconds.
_SYMPTOMS: Final = 1200.0
_RESOLVED: Final = 1500.0
_GONE: Final = 600.0
_TOKEN: Final = 3600


class Incident(Value, frozen=True, kw_only=True):
    """A completed incident. Times are in seconds since 1970; ``history`` has the alerts of its rules."""

    scenario: str
    applied_at: float
    injected_at: float
    symptoms_at: float
    repaired_at: float
    resolved_at: float
    gone_at: float
    history: AlertHistory


class OnCall:
    """Repairs with kubectl and a solver's rights, as ``operator kubeconfig --as solver`` grants them."""

    def __init__(self, cluster: RealCluster, namespace: str, kubectl: Path) -> None:
        account = Reference("ServiceAccount", SOLVER, MANAGEMENT_NAMESPACE)
        token = cluster.client.request_token(account, _TOKEN)
        endpoint = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]
        document = build_solver_kubeconfig(endpoint, token, namespace)
        self._kubeconfig = cluster.folder / f"{namespace}.kubeconfig"
        self._kubeconfig.write_text(yaml.safe_dump(document))
        self._kubectl = kubectl

    def run(self, command: str, stdin: str = "") -> None:
        """Run a kubectl command line.

        Raises:
            LabError: it fails.
        """
        words = shlex.split(command)[1:]
        done = subprocess.run(
            [str(self._kubectl), "--kubeconfig", str(self._kubeconfig), *words],
            input=stdin, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise LabError(f"{command}: {done.stderr.strip()}")


@dataclass(frozen=True)
class AppliedScenario:
    """A Scenario object in the cluster, and its conditions."""

    cluster: RealCluster
    name: str

    @property
    def ref(self) -> Reference:
        """Its reference."""
        return Reference("Scenario", self.name, MANAGEMENT_NAMESPACE, GROUP)

    def apply(self, file: Path) -> float:
        """Apply the file; returns the time, in seconds since 1970."""
        document: Object = yaml.safe_load(file.read_text(encoding="utf-8"))
        document["metadata"]["namespace"] = MANAGEMENT_NAMESPACE
        applied_at = time.time()
        self.cluster.run_kubectl("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump(document))
        return applied_at

    def await_condition(self, name: str, seconds: float) -> float:
        """Wait until a condition is true; returns the time, in seconds since 1970.

        Raises:
            LabError: it is not true in time.
        """
        self.cluster.processes.wait(
            lambda: self._get_condition(name).get("status") == "True", seconds, lambda: self._explain(name)
        )
        return time.time()

    def read_trial(self) -> TrialStatus:
        """Read the status of its trial."""
        trials = self.cluster.client.list("Trial", MANAGEMENT_NAMESPACE, group=GROUP)
        trial = next(t for t in trials if t["metadata"]["name"].startswith(f"{self.name}-g"))
        return TrialStatus.from_json(trial.get("status") or {})

    def delete(self) -> float:
        """Delete it, and wait until it is gone; returns the time, in seconds since 1970.

        Raises:
            LabError: it is not gone in time.
        """
        self.cluster.client.delete(self.ref)
        self.cluster.processes.wait(
            lambda: self.cluster.client.get(self.ref) is None, _GONE, lambda: f"{self.name} is not gone"
        )
        return time.time()

    def _get_condition(self, name: str) -> Object:
        conditions = ((self.cluster.client.get(self.ref) or {}).get("status") or {}).get("conditions") or []
        return next((c for c in conditions if c["type"] == name), {})

    def _explain(self, name: str) -> str:
        messages = [self._get_condition(each).get("message") for each in (name, "Ready")]
        return f"{self.name} is not {name}: {messages[0]}; {messages[1]}"


def play_incident(cluster: RealCluster, file: Path, kubectl: Path, say: Callable[[str], None]) -> Incident:
    """Apply a scenario, wait for its symptoms, repair it, wait until it is resolved, and delete it.

    Raises:
        LabError: a stage times out; the message has the operator's explanation.
    """
    scenario = load_scenario(file).scenario
    applied = AppliedScenario(cluster, scenario.name)
    applied_at = applied.apply(file)
    applied.await_condition("Accepted", 60)
    say(f"{scenario.name}: accepted")
    applied.await_condition("FaultsInjected", _SYMPTOMS)
    say(f"{scenario.name}: injected")
    symptoms_at = applied.await_condition("SymptomsPresent", _SYMPTOMS)
    say(f"{scenario.name}: its alerts fire")
    status = applied.read_trial()
    runbook = resolve(scenario, Catalog(), status.namespace)
    repaired_at = _repair(cluster, runbook, kubectl)
    say(f"{scenario.name}: repaired by {SOLVER}")
    resolved_at = applied.await_condition("Resolved", _RESOLVED)
    say(f"{scenario.name}: resolved")
    injected = next(s.started_at for s in status.steps if s.step == "inject")
    return Incident(
        scenario=scenario.name,
        applied_at=applied_at,
        injected_at=injected or applied_at,
        symptoms_at=symptoms_at,
        repaired_at=repaired_at,
        resolved_at=resolved_at,
        history=evaluate_alerts(cluster, runbook, status.started_at or applied_at, resolved_at),
        gone_at=applied.delete(),
    )


def evaluate_alerts(cluster: RealCluster, runbook: Runbook, start: float, end: float) -> AlertHistory:
    """Evaluate the rules of a runbook over the data of the cluster's Prometheus."""
    with open_metrics(cluster) as metrics:
        scope = AlertScope(runbook.app, runbook.namespace, tuple(runbook.namespaces.values()))
        owners = Owners(cluster.client, *runbook.everywhere)
        return AlertEvaluator(metrics, runbook.rules, scope, owners, start=start).advance(end)


def _repair(cluster: RealCluster, runbook: Runbook, kubectl: Path) -> float:
    calls = list_repair_calls(runbook)
    if calls is None:
        raise LabError(f"{runbook.scenario}: no documented solution is made of commands of kubectl alone")
    on_call = OnCall(cluster, runbook.namespace, kubectl)
    for call in calls:
        on_call.run(call["arguments"]["cmd"], call["arguments"].get("stdin", ""))
    return time.time()
