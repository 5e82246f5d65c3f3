"""Run one incident in a dedicated lab, from deployment to an empty cluster."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from operators.access.trial_objects import delete_records
from operators.scenario.environment import Environment, Settings
from operators.scenario.trial_context import TrialCallbacks, build_context
from scenario_kit.campaign.interventions.programs import build_handover
from scenario_kit.campaign.planning.derived_names import derive_namespace
from scenario_kit.campaign.planning.duration import estimate_trial, format_duration
from scenario_kit.campaign.planning.plans import PlannedTrial, build_trial_spec
from scenario_kit.catalog import Catalog
from scenario_kit.cli.solving.incidents import PREFIX, PlayedIncident
from scenario_kit.cli.solving.lab_traces import LabTraces
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.lab import lifecycle, toolchain
from scenario_kit.lab.host.state import LabState
from scenario_kit.model import Runbook, Scenario, TrialStep
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.render import resolve
from scenario_kit.solver.gateway.kubectl_process import KubectlProcess
from scenario_kit.solver.gateway.tools import Sources
from scenario_kit.solver.live_incident import LiveIncident
from scenario_kit.trial import TrialStatus

#: Seconds that an app without an incident runs before the hand-over.
_NOTHING_SECONDS: Final = 600


def show_steps(
    steps: Sequence[TrialStep], runbook: Runbook, say: Callable[[str], None]
) -> Callable[[TrialStatus], None]:
    """Report the duration up to the hand-over in wall time, and return a function that reports starting steps."""
    usual, longest = (format_duration(seconds) for seconds in estimate_trial(steps, runbook))
    say(f"in wall time, about {usual} to the hand-over, {longest} by its deadlines")

    def show(status: TrialStatus) -> None:
        running = next((step for step in status.steps if step.outcome == "Running"), None)
        if running is not None:
            say(f"{datetime.fromtimestamp(running.started_at, UTC):%H:%M:%S} {running.step}")

    return show


class LabStage:
    """A lab that runs one incident at a time. ``say`` reports progress."""

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        self._name = name
        self._say = say
        self._lab = lifecycle.bring_up(name, say=say)

    @property
    def lab(self) -> LabState:
        """Return the state of the lab."""
        return self._lab

    @contextmanager
    def play(self, scenario: Scenario, file: Path, trial: str, seed: int, clock: ClockMode) -> Iterator[PlayedIncident]:
        """Run a scenario up to its hand-over; on exit, everything is undone and removed.

        Raises:
            AuthoringError: the incident does not occur as declared, or requires another clock.
            InfrastructureError: the lab failed.
        """
        self._require_empty()
        catalog = Catalog()
        namespace = derive_namespace(scenario.spec.app.name, uuid.uuid4().hex)
        runbook = resolve(scenario, catalog, namespace, beside=file.parent)
        steps = build_handover(runbook.outcome, _NOTHING_SECONDS)
        planned = PlannedTrial(purpose="solve", describe="", steps=steps, seed=seed)
        spec = build_trial_spec(planned, runbook, "solve", clock)
        environment = Environment.of_lab(self._name, Settings(clock=clock))
        callbacks = TrialCallbacks(
            stopping=lambda: False,
            pause=time.sleep,
            tell=lambda _now, _history: None,
            show=lambda _answer, _reasons: None,
        )
        world = environment.platform.open_clock(trial, spec)
        context = build_context(environment, trial, spec, world, callbacks, None)
        incident = LiveIncident(context, time.sleep)
        traces = LabTraces(self._lab, namespace)
        reader = KubeCluster(kubeconfig=Path(self._lab.solver_kubeconfig))
        try:
            incident.begin(show_steps(steps, runbook, self._say) if clock == "Wall" else lambda _: None)
            sources = Sources(
                namespaces=runbook.everywhere,
                cluster=reader,
                kubectl=KubectlProcess(toolchain.resolve("kubectl"), Path(self._lab.solver_kubeconfig), namespace),
                metrics=environment.metrics,
                traces=traces,
                alerts=context.history,
                now=world.now,
            )
            truth = runbook.ground_truth.root_causes if runbook.outcome == "Incident" else ()
            yield PlayedIncident(incident, sources, tuple(each.entity for each in truth if each.entity), runbook.digest)
        finally:
            traces.close()
            reader.close()
            self._end(environment, incident, trial)

    def _end(self, environment: Environment, incident: LiveIncident, trial: str) -> None:
        """Undo the incident; if that fails, reset the lab."""
        try:
            incident.end()
            environment.platform.close_clock(trial)
            delete_records(environment, trial)
        except InfrastructureError as error:
            self._say(f"cannot undo {trial} ({error.message}); resetting the lab")
            with suppress(InfrastructureError):  # the next run finds the trial and resets the lab again
                self._lab = lifecycle.reset(self._name, force=True, say=self._say)

    def _require_empty(self) -> None:
        """Require a lab without trials; leftovers of an earlier run are removed.

        Raises:
            UsageError: other trials are running in the lab.
        """
        self._lab = lifecycle.bring_up(self._name, say=self._say)
        names = sorted(str(world["trial"]) for world in lifecycle.list_worlds(self._lab))
        if not names:
            return
        if others := [name for name in names if not name.startswith(PREFIX)]:
            raise UsageError(
                f"lab {self._name!r} runs other trials: {', '.join(others)}",
                fix="solvers need a dedicated lab: omit --name, or choose another",
            )
        self._say(f"an earlier run was interrupted ({', '.join(names)}); resetting the lab")
        self._lab = lifecycle.reset(self._name, force=True, say=self._say)
