"""Striking a part of a lab while a trial runs in it, and putting the lab right afterwards."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.campaign import (
    TRY,
    Campaign,
    PlannedTrial,
    Polling,
    TrialResult,
    ValidationSubject,
    conclude,
    plan_trials,
    run,
)
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli.validation.lab_health import LabHealth
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import ScenarioKitError
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host.state import LabState
from scenario_kit.load import load_scenario
from scenario_kit.model import Reference, Scenario, Severity
from scenario_kit.render import resolve
from scenario_kit.trial import TrialStatus
from tools.resilience.cells import NAMESPACE, PAUSE_SECONDS, WHOLE, Cell, Outcome

#: A short incident, and one that the chaos manager makes, for strikes at that.
USUAL, OF_CHAOS = "cart-scaled-to-zero", "payment-pod-failure"
_PLAN: Final = msgspec.structs.replace(TRY, name="struck")
#: Wall seconds that a trial may stand still: shorter than for people, who may start their lab again meanwhile.
_PATIENCE: Final = 60.0
_LONGEST: Final = 300.0
#: Some stages are over after a tenth of a second.
_LOOK_SECONDS: Final = 0.02
_CLEAN: Final = 300.0


class StageWatch:
    """The stage and the namespace of a running trial, as its status reports them."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._reached = threading.Event()
        self.current = ""
        self.namespace = ""

    def observe(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """Note the current stage; a callback of the campaign."""
        current = status.step(status.current)
        self.current = current.step if current and not status.outcome else ""
        self.namespace = status.namespace
        if current and current.step.startswith(self._stage):
            self._reached.set()

    def wait(self) -> None:
        """Wait until the stage is reached, or the campaign has ended."""
        self._reached.wait(_LONGEST)

    def end(self) -> None:
        """End the wait: the campaign has ended."""
        self._reached.set()


class StruckCampaign(threading.Thread):
    """A campaign of one paired repeat, with its results or the error that ended it."""

    def __init__(self, lab: str, scenario: Scenario, seed: int, catalog: Catalog, watch: StageWatch) -> None:
        super().__init__(daemon=True)
        self._lab, self._scenario, self._catalog, self._watch = lab, scenario, catalog, watch
        self.sample = resolve(scenario, catalog, "app")
        self._planned = plan_trials(_PLAN, self.sample, seed)
        self.results: list[TrialResult] = []
        self.error: ScenarioKitError | None = None

    def run(self) -> None:
        """Run the trials of the campaign."""
        state = LabState.load(self._lab)
        sample = self.sample
        campaign = Campaign(
            KubeCluster(kubeconfig=Path(state.kubeconfig)), _PLAN, self._scenario.name, sample.digest, sample.app.name,
            lambda namespace, load: resolve(self._scenario, self._catalog, namespace),
        )  # fmt: skip
        polling = Polling(lambda _: time.sleep(_LOOK_SECONDS), patience=_PATIENCE)
        try:
            self.results = run(
                self._planned, campaign, parallel=1, health=LabHealth(state).find_problems,
                progress=self._watch.observe, polling=polling,
            )  # fmt: skip
        except ScenarioKitError as error:
            self.error = error
        finally:
            self._watch.end()


def disturb_campaign(lab: str, cell: Cell, seed: int, catalog: Catalog) -> Outcome:
    """Run one paired repeat, cause the failure during the cell's stage, and return the outcome."""
    name = OF_CHAOS if cell.part == "chaos-controller-manager" else USUAL
    file = find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml"
    scenario = load_scenario(file).scenario
    watch = StageWatch(cell.stage)
    campaign = StruckCampaign(lab, scenario, seed, catalog, watch)
    began = time.monotonic()
    campaign.start()
    watch.wait()
    struck = watch.current if campaign.is_alive() else ""
    if struck:
        _cause_failure(lab, cell, watch.namespace)
    campaign.join(_LONGEST)
    took, results = time.monotonic() - began, campaign.results
    subject = ValidationSubject(scenario.name, str(file), campaign.sample.digest, _PLAN)
    verdict = conclude(subject, results, [], took, promised=campaign.sample)
    restart_parts(lab)
    codes = sorted({f.code for f in verdict.findings if f.severity == Severity.ERROR})
    reported = campaign.error.args[0] if campaign.error else results[0].message if results else "no end"
    return Outcome(
        cell=cell, struck=struck, verdict=str(verdict.verdict), outcome=results[0].outcome if results else "",
        codes=tuple(codes), message=str(reported)[:300], seconds=round(took, 1), left=tuple(clear(lab)),
    )  # fmt: skip


def _cause_failure(lab: str, cell: Cell, namespace: str) -> None:
    if cell.part == NAMESPACE:
        KubeCluster(kubeconfig=Path(LabState.load(lab).kubeconfig)).delete(Reference("Namespace", namespace))
        return
    struck = [part.pid for part in LabState.load(lab).parts if cell.part in (WHOLE, part.name)]
    assert struck, f"the lab has no part {cell.part}"
    _send_signal(struck, signal.SIGKILL if cell.how in ("killed", "restarted") else signal.SIGSTOP)
    if cell.how == "restarted":
        lifecycle.bring_up(lab)
    if cell.how == "paused":
        threading.Timer(PAUSE_SECONDS, _send_signal, [struck, signal.SIGCONT]).start()


def _send_signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def restart_parts(lab: str) -> None:
    """Let what hangs go on, and start again what died."""
    _send_signal([part.pid for part in LabState.load(lab).parts], signal.SIGCONT)
    lifecycle.bring_up(lab)


def clear(lab: str) -> list[str]:
    """Remove what trials are left, and wait until nothing of them is; what stays nevertheless."""
    cluster = KubeCluster(kubeconfig=Path(LabState.load(lab).kubeconfig))
    deadline = time.monotonic() + _CLEAN
    while True:
        there = [t["metadata"] for t in cluster.list("Trial", "scenario-kit", group="scenariokit.io")]
        for metadata in there:
            if not metadata.get("deletionTimestamp"):
                cluster.delete(Reference("Trial", metadata["name"], "scenario-kit", "scenariokit.io"))
        apps = [n["metadata"]["name"] for n in cluster.list("Namespace")]
        left = [*(m["name"] for m in there), *(n for n in apps if n.startswith("otel-demo"))]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(1)
