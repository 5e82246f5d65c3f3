"""Act on the objects of a live incident in a lab, and wait for the required final state."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from scenario_kit.catalog import find_data_root
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import AlreadyExists, NotFound
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host.state import LabState
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.trial import TrialStatus
from tools.crash.play import await_true
from tools.resilience.live_cells import ENDS, LiveCell, LiveOutcome

_SCENARIO: Final = "product-catalog-wrong-target-port"
_BESIDE: Final = "cart-scaled-to-zero"
_APP_NAMESPACE: Final = Reference("Namespace", "otel-demo")
#: Timeouts in wall seconds: until a stage is reached, until the final state, and until everything is removed.
_STAGE_SECONDS: Final = 180.0
#: Attempts of a live incident are up to five minutes apart.
_END_SECONDS: Final = 400.0
_CLEAN_SECONDS: Final = 120.0


class LiveIncident:
    """A Scenario of a lab in virtual time, and its objects."""

    def __init__(self, lab: str, name: str = _SCENARIO) -> None:
        self._state = LabState.load(lab)
        self.cluster = KubeCluster(kubeconfig=Path(self._state.kubeconfig))
        self.ref = Reference("Scenario", name, MANAGEMENT_NAMESPACE, GROUP)

    def apply(self) -> None:
        """Apply the Scenario of the catalogue."""
        file = find_data_root() / "catalog" / "scenarios" / self.ref.name / "scenario.yaml"
        document = read_document(file).data
        document["metadata"].setdefault("annotations", {})["scenariokit.io/clock"] = "Virtual"
        document["metadata"]["namespace"] = self.ref.namespace
        with suppress(AlreadyExists):
            self.cluster.create(document)

    def read(self) -> dict[str, Any]:
        """Read the status; empty if the Scenario is gone or has not been reconciled."""
        found: dict[str, Any] = (self.cluster.get(self.ref) or {}).get("status") or {}
        return found

    def describe(self) -> tuple[str, str]:
        """Return reason and message of its condition Ready; ``gone`` if the Scenario does not exist."""
        obj = self.cluster.get(self.ref)
        if obj is None:
            return "gone", ""
        status = obj.get("status") or {}
        if status.get("observedGeneration") != obj["metadata"]["generation"]:
            return "", "not looked at since it was changed"
        ready: dict[str, str] = next((c for c in status.get("conditions") or [] if c["type"] == "Ready"), {})
        return ready.get("reason", ""), ready.get("message", "")

    def list_trials(self) -> list[Object]:
        """List its trials."""
        return self.cluster.list(
            "Trial", MANAGEMENT_NAMESPACE, group=GROUP, labels={"scenariokit.io/scenario": self.ref.name}
        )

    def find_step(self) -> tuple[str, str]:
        """Return the running trial and the kind of its current step; empty if there is none."""
        for trial in self.list_trials():
            status = TrialStatus.from_json(trial.get("status") or {})
            step = status.step(status.current)
            if step is not None and not status.outcome and not is_terminating(trial):
                return trial["metadata"]["name"], step.step.split()[0]
        return "", ""

    def list_left(self, known: set[str]) -> list[str]:
        """List the remaining objects of these trials and of the app."""
        found = [f"Trial/{each['metadata']['name']}" for each in self.list_trials()]
        for kind in ("ConfigMap", "Secret"):
            listed = self.cluster.list(kind, MANAGEMENT_NAMESPACE)
            owners = {each["metadata"]["name"]: (each["metadata"].get("labels") or {}) for each in listed}
            found += [f"{kind}/{name}" for name, labels in owners.items() if labels.get(TRIAL_LABEL) in known]
        if self.cluster.get(_APP_NAMESPACE) is not None:
            found.append(str(_APP_NAMESPACE))
        return found + [f"World/{w['trial']}" for w in lifecycle.list_worlds(self._state) if w["trial"] in known]


def disturb_live(lab: str, cell: LiveCell) -> LiveOutcome:
    """Apply a Scenario, act during the cell's step of its trial, wait for the final state, and delete it."""
    began = time.monotonic()
    incident, beside = LiveIncident(lab), LiveIncident(lab, _BESIDE)
    known: set[str] = set()
    broken: list[str] = []

    def note() -> bool:
        """Record the trials, which may be deleted later; return True."""
        for trial in (*incident.list_trials(), *beside.list_trials()):
            known.add(trial["metadata"]["name"])
            status = TrialStatus.from_json(trial.get("status") or {})
            text = f"{trial['metadata']['name']}: {next((f.message for f in status.findings), '')}"
            if status.outcome == "Broken" and text not in broken:
                broken.append(text)
        return True

    incident.apply()
    struck = ""
    if await_true(lambda: note() and incident.find_step()[1] == cell.stage, _STAGE_SECONDS):
        trial, struck = incident.find_step()
        _perform_action(incident, beside, cell, trial)
    wanted = ENDS[cell.action]
    await_true(lambda: note() and incident.describe()[0] == wanted, _END_SECONDS)
    reached, message = incident.describe()
    if cell.action == "app-occupied" and reached == wanted:  # then it is the other one's turn, without anybody's help
        incident.cluster.delete(incident.ref)
        await_true(lambda: note() and beside.describe()[0] == wanted, _END_SECONDS)
        reached, message = beside.describe()
    for each in (incident, beside):
        each.cluster.delete(each.ref)
    left: list[str] = []

    def is_clean() -> bool:
        left[:] = [str(each.ref) for each in (incident, beside) if each.cluster.get(each.ref)]
        left.extend([*incident.list_left(known), *beside.list_left(known)])
        return not left

    await_true(is_clean, _CLEAN_SECONDS)
    return LiveOutcome(
        cell=cell, struck=struck, reached=reached, message=message[:300], left=tuple(dict.fromkeys(left)),
        broken=tuple(broken), seconds=round(time.monotonic() - began, 1),
    )  # fmt: skip


def _perform_action(incident: LiveIncident, beside: LiveIncident, cell: LiveCell, trial: str) -> None:
    cluster = incident.cluster
    match cell.action:
        case "scenario-deleted":
            cluster.delete(incident.ref)
        case "scenario-edited":
            cluster.patch(incident.ref, {"spec": {"app": {"load": {"users": 40}}}})
        case "scenario-suspended":
            cluster.patch(incident.ref, {"spec": {"suspend": True}})
        case "trial-deleted":
            cluster.delete(Reference("Trial", trial, MANAGEMENT_NAMESPACE, GROUP))
        case "namespace-deleted":
            with suppress(NotFound):
                cluster.delete(_APP_NAMESPACE)
        case "app-occupied":
            beside.apply()
