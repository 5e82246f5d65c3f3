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
from scenario_kit.model import Reference, Severity
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


def disturb_campaign(lab: str, cell: Cell, seed: int, catalog: Catalog) -> Outcome:
    """Run one paired repeat, cause the failure during the cell's stage, and return the outcome."""
    name = OF_CHAOS if cell.part == "chaos-controller-manager" else USUAL
    file = find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml"
    scenario = load_scenario(file).scenario
    sample = resolve(scenario, catalog, "app")
    planned = plan_trials(_PLAN, sample, seed)
    found: list[TrialResult] = []
    problems: list[BaseException] = []
    reached = threading.Event()
    stage: list[str] = []
    home: list[str] = []

    def watch(planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        current = status.step(status.current)
        stage[:] = [current.step] if current and not status.outcome else []
        home[:] = [status.namespace]
        if current and current.step.startswith(cell.stage):
            reached.set()

    def campaign() -> None:
        state = LabState.load(lab)
        try:
            found.extend(
                run(
                    planned,
                    Campaign(
                        KubeCluster(kubeconfig=Path(state.kubeconfig)), _PLAN, scenario.name, sample.digest,
                        sample.app.name, lambda namespace, load: resolve(scenario, catalog, namespace),
                    ),
                    parallel=1, health=LabHealth(state).find_problems, progress=watch,
                    polling=Polling(lambda _: time.sleep(_LOOK_SECONDS), patience=_PATIENCE),
                )
            )  # fmt: skip
        except ScenarioKitError as problem:
            problems.append(problem)
        finally:
            reached.set()

    began = time.monotonic()
    thread = threading.Thread(target=campaign, daemon=True)
    thread.start()
    reached.wait(_LONGEST)
    struck = stage[0] if thread.is_alive() and stage else ""
    if struck:
        _cause_failure(lab, cell, home[0])
    thread.join(_LONGEST)
    took = time.monotonic() - began
    subject = ValidationSubject(scenario.name, str(file), sample.digest, _PLAN)
    verdict = conclude(subject, found, [], took, promised=sample)
    restart_parts(lab)
    codes = sorted({f.code for f in verdict.findings if f.severity == Severity.ERROR})
    reported = problems[0].args[0] if problems else found[0].message if found else "no end"
    return Outcome(
        cell=cell, struck=struck, verdict=str(verdict.verdict), outcome=found[0].outcome if found else "",
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
