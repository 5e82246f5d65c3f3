"""``snapshot``: run an incident and write its telemetry into a folder for offline solvers."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenario_kit.cli.terminal.options import Format, Lab
from scenario_kit.cli.terminal.output import fold_text, show_json
from scenario_kit.cli.validation.validate import Seed, list_dead_parts
from scenario_kit.errors import AuthoringError, InfrastructureError, UsageError

if TYPE_CHECKING:
    from scenario_kit.campaign import Campaign, PlannedTrial, TrialResult
    from scenario_kit.catalog import Catalog
    from scenario_kit.lab.host.state import LabState
    from scenario_kit.lab.recording_client import RecordingClient
    from scenario_kit.model import Runbook, Scenario
    from scenario_kit.snapshot import Recording, SnapshotPlace, SnapshotSettings, SnapshotSource
    from scenario_kit.snapshot.distortion.policy import TelemetryPolicy
    from scenario_kit.snapshot.folder.manifest import Manifest

#: Plan name that distinguishes trials of snapshots from those of validations.
_PLAN = "snapshot"
_MINUTE = 60


@dataclass(frozen=True)
class SnapshotOptions:
    """Options of the command. ``quiet`` and ``hold`` are minutes; None uses the scenario's windows."""

    out: Path
    seed: int
    lab: str
    first_day: str
    settings: SnapshotSettings
    quiet: int | None = None
    hold: int | None = None
    policies: Path | None = None
    as_json: bool = False
    control: bool = False


def register(app: typer.Typer) -> None:
    """Add the command."""
    from scenario_kit.snapshot import FIRST_DAY

    @app.command(rich_help_panel="Score it")
    def snapshot(
        scenario: Annotated[Path, typer.Argument(help="A scenario file, or its folder.")],
        out: Annotated[
            Path, typer.Option(help="Folder of snapshots; ground truths go to its subfolder `truths`.")
        ] = Path("snapshots"),
        seed: Seed = 1,
        name: Lab = "default",
        quiet_minutes: Annotated[int | None, typer.Option(min=1, max=240, help="Minutes before the injection.")] = None,
        hold_minutes: Annotated[
            int | None, typer.Option(min=1, max=240, help="Minutes to record after the alerts fire.")
        ] = None,
        first_day: Annotated[str, typer.Option(help="First day of the snapshot, as YYYY-MM-DD.")] = FIRST_DAY,
        without: Annotated[
            list[str] | None, typer.Option(help="Omit a signal: events, logs, metrics or traces; may be repeated.")
        ] = None,
        trace_share: Annotated[
            float, typer.Option(min=0.0, max=1.0, help="Fraction of traces to keep; traces are never split.")
        ] = 1.0,
        metric_seconds: Annotated[
            int, typer.Option(min=15, max=3600, help="Seconds between samples, a multiple of 15.")
        ] = 15,
        telemetry_faults: Annotated[
            Path | None, typer.Option(help="A file with defects to apply to the telemetry (docs/snapshot.md).")
        ] = None,
        no_lite: Annotated[bool, typer.Option("--no-lite", help="Omit the short tables in `lite`.")] = False,
        control: Annotated[
            bool, typer.Option("--control", help="The control twin: the same app, load and noise, and nothing broken.")
        ] = False,
        format: Format = "text",
    ) -> int:
        """Run an incident and write its telemetry into a folder for offline solvers.

        Exit codes: 0 written, 1 the incident did not occur or the folder would reveal the answer, 2 not evaluated,
        3 usage.

        Example: scenario-kit snapshot catalog/scenarios/cart-scaled-to-zero
        """
        _check_day(first_day)
        settings = _choose_settings(without or (), trace_share, metric_seconds, lite=not no_lite)
        minutes = (quiet_minutes, hold_minutes)
        options = SnapshotOptions(
            out, seed, name, first_day, settings, *minutes, telemetry_faults, format == "json", control
        )
        return take_snapshot(scenario, options)


def take_snapshot(path: Path, options: SnapshotOptions) -> int:
    """Run a scenario in the lab, write its snapshot, and return the exit code.

    Raises:
        AuthoringError: the incident did not occur as declared, or the folder would reveal the answer.
        InfrastructureError: infrastructure failed.
        UsageError: no such scenario, or the snapshot already exists.
    """
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.cli.terminal.terminal import style_text
    from scenario_kit.load import find_scenario_files, load_scenario
    from scenario_kit.render.scenarios.control_twin import build_control_twin
    from scenario_kit.snapshot import write_snapshot

    started = time.monotonic()
    files = find_scenario_files([path])
    if len(files) != 1:
        raise UsageError(f"{path} contains {len(files)} scenarios", fix="choose one of them")
    catalog = Catalog(find_collections(files))
    scenario = load_scenario(files[0]).scenario
    player = _Recorder(build_control_twin(scenario) if options.control else scenario, files[0], catalog, options)
    place = player.choose_place()
    policies = player.read_policies()
    try:
        recording = player.play()
        if policies:
            recording = player.distort(recording, policies)
        source = player.describe_source(policies)
        manifest = write_snapshot(recording, source, place, lambda what: _print_line(f"writing: {what}"))
    finally:
        player.drop()
    if options.as_json:
        show_json(_describe(manifest, place, time.monotonic() - started))
        return 0
    size = sum(each.bytes for each in manifest.files)
    typer.echo(style_text("WRITTEN ", fg=typer.colors.GREEN, bold=True) + str(place.folder))
    seconds = time.monotonic() - started
    figures = f"{recording.minutes:.0f} minutes, {len(manifest.files)} files, {size / 1e6:.1f} MB, {seconds:.0f} s"
    typer.echo(fold_text(f"{figures}; ground truth: {place.truth}", "  "))
    return 0


def build_name(scenario: str, number: int) -> str:
    """Build the name of a snapshot: a number, prefixed by the public hash of a held-out scenario."""
    from scenario_kit.publication.hashed_name import is_hashed_name

    return f"{scenario}-{number}" if is_hashed_name(scenario) else f"Scenario-{number}"


class _Recorder:
    """Runs one scenario in the lab and records its telemetry."""

    def __init__(self, scenario: Scenario, file: Path, catalog: Catalog, options: SnapshotOptions) -> None:
        self._scenario = scenario
        self._file = file
        self._catalog = catalog
        self._options = options
        self._sample = self._resolve("app", 100)
        self._clients: list[RecordingClient] = []

    def choose_place(self) -> SnapshotPlace:
        """Choose the folders, whose name does not reveal the scenario.

        Raises:
            UsageError: one of them already exists.
        """
        from scenario_kit.snapshot import SnapshotPlace

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
        from scenario_kit.snapshot.distortion.policy import read_policies

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
        from scenario_kit.snapshot.distortion.alerts import check_control

        if any(policy.distorts_metrics for policy in policies):
            control = self._play(self._plan_control(recording), "expectQuiet")
            check_control(control, self._distort(control, policies), str(self._options.policies))
        return self._distort(recording, policies)

    def _distort(self, recording: Recording, policies: tuple[TelemetryPolicy, ...]) -> Recording:
        from scenario_kit.lab.host.state import LabState
        from scenario_kit.lab.telemetry.prometheus_access import create_writer
        from scenario_kit.snapshot.distortion.alerts import distort_recording
        from scenario_kit.snapshot.distortion.apply import Distortion

        lab = LabState.load(self._options.lab)
        copies = {name: f"{name}-{uuid.uuid4().hex[:8]}" for name in recording.runbook.everywhere}
        distortion = Distortion(policies, recording.seed, recording.start)
        return distort_recording(recording, distortion, copies, lambda: create_writer(lab))

    def _play(self, planned: PlannedTrial, last: str) -> Recording:
        from scenario_kit.campaign.planning.concurrency import runs_alone
        from scenario_kit.clients.kube import KubeCluster
        from scenario_kit.lab.lifecycle import bring_up, occupy
        from scenario_kit.lab.recording_client import RecordingClient

        lab = bring_up(self._options.lab, say=_print_line)
        campaign = self._build_campaign(KubeCluster(kubeconfig=Path(lab.kubeconfig)))
        client = RecordingClient(lab.server_url, lab.server_token, campaign.name(planned))
        self._clients.append(client)
        with occupy(self._options.lab, _print_line, alone=runs_alone(self._sample)):
            client.announce()
            try:
                result = self._run(campaign, planned, lab)
            except BaseException:
                campaign.remove(planned)
                raise
        if result.outcome != "Held":
            _raise_failure(result)
        return self._read(result, lab, client, last)

    def drop(self) -> None:
        """Delete the recordings in the lab."""
        for client in self._clients:
            client.drop()

    def _run(self, campaign: Campaign, planned: PlannedTrial, lab: LabState) -> TrialResult:
        from scenario_kit.campaign import run
        from scenario_kit.cli.terminal.live import Timeline

        with Timeline(f"{self._scenario.name}: snapshot with seed {planned.seed}", [planned]) as timeline:
            try:
                return run([planned], campaign, parallel=1, health=lambda: list_dead_parts(lab), progress=timeline)[0]
            except KeyboardInterrupt:
                raise typer.Abort("interrupted; the trial was undone, and nothing was written") from None

    def _resolve(self, namespace: str, load_percent: int) -> Runbook:
        from scenario_kit.campaign.planning.plans import count_users
        from scenario_kit.render import resolve

        users = count_users(self._scenario, load_percent)
        return resolve(self._scenario, self._catalog, namespace, users=users, beside=self._file.parent)

    def _plan(self) -> PlannedTrial:
        from scenario_kit.campaign import PlannedTrial
        from scenario_kit.campaign.interventions.programs import build_recorded

        quiet, hold = (None if m is None else m * _MINUTE for m in (self._options.quiet, self._options.hold))
        steps = build_recorded(self._sample.outcome, quiet=quiet, hold=hold)
        return PlannedTrial(
            purpose=_PLAN, describe="what is to be seen of it is written down", steps=steps, seed=self._options.seed
        )

    def _plan_control(self, recording: Recording) -> PlannedTrial:
        """Plan a run without a fault, of the same length and seed."""
        from scenario_kit.campaign import PlannedTrial
        from scenario_kit.campaign.interventions.programs import build_control

        steps = build_control(int(recording.handover - recording.start))
        describe = "what is wrong with telemetry raises no alert by itself"
        return PlannedTrial(purpose="control", describe=describe, steps=steps, seed=self._options.seed)

    def _build_campaign(self, cluster: Any) -> Campaign:
        from scenario_kit.campaign import TRY, Campaign

        sample = self._sample
        return Campaign(
            cluster, TRY, self._scenario.name, sample.digest, sample.app.name, self._resolve, identity=uuid.uuid4().hex
        )

    def _read(self, result: TrialResult, lab: LabState, client: RecordingClient, last: str) -> Recording:
        from scenario_kit.lab.telemetry.prometheus_access import connect_metrics
        from scenario_kit.snapshot import Recording

        history = result.history
        handover = next((s.finished_at for s in result.steps if s.kind == last), None)
        if history is None or result.started_at is None or handover is None:
            raise InfrastructureError("the trial left no evidence", fix="run the same command again")
        return Recording(
            runbook=self._resolve(_find_namespace(client), 100),
            seed=result.seed,
            start=result.started_at,
            injected=min(result.injections.values(), default=None),
            handover=handover,
            history=history,
            read_ticks=client.read_ticks,
            metrics=connect_metrics(lab),
            injections=result.injections,
        )

    def describe_source(self, policies: tuple[TelemetryPolicy, ...]) -> SnapshotSource:
        """Describe the source and the settings of the snapshot."""
        from scenario_kit.lab.toolchain.components import describe_engine, read_kubernetes_version
        from scenario_kit.render.scenarios.runbook import render_as_written
        from scenario_kit.render.scenarios.version import compute_version_key
        from scenario_kit.snapshot import SnapshotSource

        spec, sample, options = self._scenario.spec, self._sample, self._options
        objects = render_as_written(spec, sample.app, self._catalog.templates(sample.app.name))
        key = compute_version_key(spec, sample, objects, read_kubernetes_version(), describe_engine())
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


def _find_namespace(client: RecordingClient) -> str:
    """Return the namespace of the app: the shortest one in the recording."""
    for tick in client.read_ticks():
        found = {o["metadata"].get("namespace", "") for o in tick.objects} - {""}
        if found:
            return str(min(found, key=len))
    raise InfrastructureError("the lab recorded no objects of the app", fix="run the same command again")


def _describe(manifest: Manifest, place: SnapshotPlace, seconds: float) -> dict[str, Any]:
    return {
        "folder": str(place.folder),
        "truth": str(place.truth),
        "name": manifest.name,
        "files": len(manifest.files),
        "bytes": sum(each.bytes for each in manifest.files),
        "times": manifest.times.to_json(),
        "seconds": round(seconds, 1),
    }


def _choose_settings(without: Sequence[str], share: float, seconds: int, *, lite: bool) -> SnapshotSettings:
    """Build the settings of the snapshot.

    Raises:
        UsageError: unknown signal, or an invalid sample interval.
    """
    from scenario_kit.model.grid import GRID_SECONDS
    from scenario_kit.snapshot import SIGNALS, SnapshotSettings

    for name in without:
        if name not in SIGNALS:
            raise UsageError(f"--without {name}: unknown signal", fix=f"one of: {', '.join(SIGNALS)}")
    if seconds % GRID_SECONDS:
        raise UsageError(f"--metric-seconds {seconds} is not a multiple of {GRID_SECONDS}", fix="15, 30 or 60")
    left = tuple(signal for signal in SIGNALS if signal in without)
    return SnapshotSettings(without=left, lite=lite, trace_share=share, metric_seconds=seconds)


def _check_day(text: str) -> None:
    from datetime import date

    try:
        date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--first-day {text} is not a date", fix="--first-day 2025-01-06") from None


def _print_line(text: str) -> None:
    typer.echo(text, err=True)
