"""The player of an incident: it runs its trial at a place and reads the recording (``snapshot``)."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import typer

from scenario_kit.campaign import TRY, Campaign, PlannedTrial, TrialResult
from scenario_kit.campaign.interventions.programs import build_control, build_recorded
from scenario_kit.campaign.planning.plans import count_users
from scenario_kit.catalog import Catalog
from scenario_kit.cli.validation.recording_places import RecordedTrial, RecordingPlace
from scenario_kit.errors import AuthoringError, InfrastructureError, UsageError
from scenario_kit.model import Runbook, Scenario
from scenario_kit.ports import Cluster
from scenario_kit.publication.hashed_name import is_hashed_name
from scenario_kit.render import resolve
from scenario_kit.render.scenarios.runbook import render_as_written
from scenario_kit.render.scenarios.version import compute_version_key
from scenario_kit.snapshot import Recording, SnapshotPlace, SnapshotSettings, SnapshotSource
from scenario_kit.snapshot.distortion.alerts import check_control, distort_recording
from scenario_kit.snapshot.distortion.apply import Distortion
from scenario_kit.snapshot.distortion.policy import TelemetryPolicy, read_policies

#: Plan name that distinguishes trials of snapshots from those of validations.
_PLAN = "snapshot"
_MINUTE = 60


@dataclass(frozen=True)
class SnapshotOptions:
    """Options of the command. ``quiet`` and ``hold`` are minutes; None uses the scenario's windows."""

    out: Path
    seed: int
    first_day: date
    settings: SnapshotSettings
    quiet: int | None = None
    hold: int | None = None
    policies: Path | None = None
    as_json: bool = False
    control: bool = False


def build_name(scenario: str, number: int) -> str:
    """Build the name of a snapshot: a number, prefixed by the public hash of a held-out scenario."""
    return f"{scenario}-{number}" if is_hashed_name(scenario) else f"Scenario-{number}"


class IncidentPlayer:
    """Runs one scenario at a place and records its telemetry."""

    def __init__(
        self, scenario: Scenario, file: Path, catalog: Catalog, options: SnapshotOptions, place: RecordingPlace
    ) -> None:
        self._scenario = scenario
        self._file = file
        self._catalog = catalog
        self._options = options
        self._place = place
        self._missed: int | None = None
        self._sample = self._resolve("app", 100)

    def choose_place(self) -> SnapshotPlace:
        """Choose the folders, whose name does not reveal the scenario.

        Raises:
            UsageError: one of them already exists.
        """
        options = self._options
        text = f"{self._sample.digest} {options.seed} {options.quiet} {options.hold}"
        number = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 1_000_000
        name = build_name(self._scenario.name, number)
        place = SnapshotPlace(options.out / name, options.out / "truths" / name)
        for folder in place:
            if folder.exists():
                raise UsageError(f"{folder} already exists", fix="remove it, or choose another folder with --out")
        return place

    def read_policies(self) -> tuple[TelemetryPolicy, ...]:
        """Read the telemetry defects before anything runs.

        Raises:
            AuthoringError: the file is invalid; one finding per error.
            UsageError: no such file.
        """
        file = self._options.policies
        return read_policies(file, [c.name for c in self._sample.app.components]) if file else ()

    def play(self) -> Recording:
        """Run the incident to the end of the hold, and clean up.

        Raises:
            AuthoringError: it did not occur as declared.
            InfrastructureError: infrastructure failed.
        """
        return self._play(self._plan(), "hold")

    def distort(self, recording: Recording, policies: tuple[TelemetryPolicy, ...]) -> Recording:
        """Apply telemetry defects to a recording after a control run has shown that they raise no alert by themselves.

        Raises:
            AuthoringError: they raise an alert.
            InfrastructureError: the control run failed.
        """
        if any(policy.distorts_metrics for policy in policies):
            control = self._play(self._plan_control(recording), "expectQuiet")
            check_control(control, self._distort(control, policies), str(self._options.policies))
        return self._distort(recording, policies)

    def _distort(self, recording: Recording, policies: tuple[TelemetryPolicy, ...]) -> Recording:
        copies = {name: f"{name}-{uuid.uuid4().hex[:8]}" for name in recording.runbook.everywhere}
        distortion = Distortion(policies, recording.seed, recording.start)
        return distort_recording(recording, distortion, copies, self._place.create_writer)

    def _play(self, planned: PlannedTrial, last: str) -> Recording:
        try:
            recorded = self._place.record(planned, self._build_campaign, self._sample)
        except KeyboardInterrupt:
            raise typer.Abort("interrupted; the trial was undone, and nothing was written") from None
        if recorded.result.outcome != "Held":
            _raise_failure(recorded.result)
        self._missed = recorded.missed
        return self._read(recorded, last)

    def drop(self) -> None:
        """Delete the recordings."""
        self._place.close()

    def _resolve(self, namespace: str, load_percent: int) -> Runbook:
        users = count_users(self._scenario, load_percent)
        return resolve(self._scenario, self._catalog, namespace, users=users, beside=self._file.parent)

    def _plan(self) -> PlannedTrial:
        quiet, hold = (None if m is None else m * _MINUTE for m in (self._options.quiet, self._options.hold))
        steps = build_recorded(self._sample.outcome, quiet=quiet, hold=hold)
        return PlannedTrial(
            purpose=_PLAN, describe="what is to be seen of it is written down", steps=steps, seed=self._options.seed
        )

    def _plan_control(self, recording: Recording) -> PlannedTrial:
        """Plan a run without a fault, of the same length and seed."""
        steps = build_control(int(recording.handover - recording.start))
        describe = "what is wrong with telemetry raises no alert by itself"
        return PlannedTrial(purpose="control", describe=describe, steps=steps, seed=self._options.seed)

    def _build_campaign(self, cluster: Cluster) -> Campaign:
        sample = self._sample
        return Campaign(
            cluster, TRY, self._scenario.name, sample.digest, sample.app.name, self._resolve, self._place.clock,
            identity=uuid.uuid4().hex,
        )  # fmt: skip

    def _read(self, recorded: RecordedTrial, last: str) -> Recording:
        result, history = recorded.result, recorded.result.history
        handover = next((s.finished_at for s in result.steps if s.kind == last), None)
        if history is None or result.started_at is None or handover is None:
            raise InfrastructureError("the trial left no evidence", fix="run the same command again")
        return Recording(
            runbook=self._resolve(recorded.namespace, 100),
            seed=result.seed,
            start=result.started_at,
            injected=min(result.injections.values(), default=None),
            handover=handover,
            history=history,
            read_ticks=recorded.read_ticks,
            metrics=recorded.metrics,
            virtual=self._place.clock == "Virtual",
            injections=result.injections,
        )

    def describe_source(self, policies: tuple[TelemetryPolicy, ...]) -> SnapshotSource:
        """Describe the source and the settings of the snapshot."""
        spec, sample, options = self._scenario.spec, self._sample, self._options
        objects = render_as_written(spec, sample.app, self._catalog.templates(sample.app.name))
        key = compute_version_key(spec, sample, objects, *self._place.describe())
        return SnapshotSource(
            spec,
            {"app": key.app_digest, "images": key.images, "alerts": key.alerts},
            {"kubernetes": key.kubernetes, "contract": key.contract.rpartition("/")[2]},
            options.first_day,
            options.settings,
            {
                "quietMinutes": options.quiet,
                "holdMinutes": options.hold,
                "telemetryFaults": [policy.to_json() for policy in policies],
                **({} if self._place.clock == "Virtual" else {"missedLooks": self._missed}),
            },
        )


def _raise_failure(result: TrialResult) -> None:
    """Raise the error of a failed trial.

    Raises:
        AuthoringError: a step did not hold.
        InfrastructureError: infrastructure failed.
    """
    if result.outcome == "Infra":
        raise InfrastructureError(f"the incident could not be run: {result.message}", fix="run the same command again")
    step = next((s for s in result.steps if s.outcome == "Broken"), None)
    message = f"the incident did not occur as declared: step {step.step if step else ''} did not hold"
    raise AuthoringError(message, result.findings, fix=f"run scenario-kit try for details: {result.message}")
