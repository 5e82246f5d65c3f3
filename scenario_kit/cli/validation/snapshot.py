"""``snapshot``: run an incident and write its telemetry into a folder for offline solvers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import urlsplit

import typer

from scenario_kit.cli.terminal.options import Format, Lab, ScenarioPath, declare_choice
from scenario_kit.cli.terminal.output import fold_text, print_progress, show_json
from scenario_kit.cli.terminal.terminal import style_text
from scenario_kit.cli.validation.validate import Context, Seed
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.cli.validation.incident_player import SnapshotOptions
    from scenario_kit.cli.validation.recording_places import RecordingPlace, TelemetryAddresses
    from scenario_kit.snapshot import SnapshotPlace, SnapshotSettings
    from scenario_kit.snapshot.folder.manifest import Manifest


HoldMinutes = Annotated[int | None, typer.Option(min=1, max=240, help="Minutes to record after the alerts fire.")]
Without = Annotated[
    list[str] | None, typer.Option(help="Omit a signal: events, logs, metrics or traces; may be repeated.")
]
TraceShare = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Fraction of traces to keep; traces are never split.")
]
MetricSeconds = Annotated[int, typer.Option(min=15, max=3600, help="Seconds between samples, a multiple of 15.")]
TelemetryFaults = Annotated[
    Path | None, typer.Option(help="A file with defects to apply to the telemetry (docs/snapshot.md).")
]
Control = Annotated[
    bool, typer.Option("--control", help="The control twin: the same app, load and noise, and nothing broken.")
]
ClusterName = Annotated[
    str, declare_choice("--cluster", "lab|current", help="Where it happens: the lab, or a kubeconfig context.")
]
Prometheus = Annotated[str, typer.Option(help="URL of the Prometheus that the operator of --cluster current reads.")]
Jaeger = Annotated[str, typer.Option(help="URL of the Jaeger query service of --cluster current.")]


def snapshot(
    scenario: ScenarioPath,
    out: Annotated[Path, typer.Option(help="Folder of snapshots; ground truths go to its subfolder `truths`.")] = Path(
        "snapshots"
    ),
    seed: Seed = 1,
    name: Lab = "default",
    quiet_minutes: Annotated[int | None, typer.Option(min=1, max=240, help="Minutes before the injection.")] = None,
    hold_minutes: HoldMinutes = None,
    first_day: Annotated[
        str | None, typer.Option(help="First day of the snapshot, as YYYY-MM-DD; 2025-01-06 by default.")
    ] = None,
    without: Without = None,
    trace_share: TraceShare = 1.0,
    metric_seconds: MetricSeconds = 15,
    telemetry_faults: TelemetryFaults = None,
    no_lite: Annotated[bool, typer.Option("--no-lite", help="Omit the short tables in `lite`.")] = False,
    control: Control = False,
    cluster: ClusterName = "lab",
    context: Context = "",
    prometheus: Prometheus = "",
    jaeger: Jaeger = "",
    format: Format = "text",
) -> int:
    """Run an incident and write its telemetry into a folder for offline solvers.

    Exit codes: 0 written, 1 the incident did not occur or the folder would reveal the answer, 2 not evaluated,
    3 usage.

    Example: scenario-kit snapshot catalog/scenarios/cart-scaled-to-zero
    """
    from scenario_kit.cli.validation.incident_player import SnapshotOptions
    from scenario_kit.cli.validation.recording_places import RecordingLab, TelemetryAddresses

    settings = _choose_settings(without or (), trace_share, metric_seconds, lite=not no_lite)
    minutes = (quiet_minutes, hold_minutes)
    options = SnapshotOptions(
        out, seed, _parse_day(first_day), settings, *minutes, telemetry_faults, format == "json", control
    )
    given = _ClusterOptions(context, TelemetryAddresses(prometheus, jaeger))
    if cluster == "lab":
        _require_lab_options(given)
        return take_snapshot(scenario, options, lambda: RecordingLab(name))
    _require_cluster_options(given, options, {"--name": name != "default", "--first-day": first_day is not None})
    return take_snapshot(scenario, options, lambda: _open_cluster(given, options))


class _ClusterOptions(NamedTuple):
    """A cluster's context and the addresses of its telemetry."""

    context: str
    addresses: TelemetryAddresses


def _require_lab_options(given: _ClusterOptions) -> None:
    """Refuse options that apply to a cluster only.

    Raises:
        UsageError: one is given.
    """
    for option, value in {"--context": given.context, **_name_addresses(given.addresses)}.items():
        if value:
            raise UsageError(f"{option} does not apply to --cluster lab", fix="--cluster current, or remove it")


def _require_cluster_options(given: _ClusterOptions, options: SnapshotOptions, of_lab: Mapping[str, bool]) -> None:
    """Require the options for recording a cluster, and refuse those of the lab.

    Raises:
        UsageError: one is missing, does not apply, or is not the address of a server.
    """
    of_lab = {**of_lab, "--telemetry-faults": options.policies is not None}
    for option, set_ in of_lab.items():
        if set_:
            raise UsageError(f"{option} does not apply to --cluster current", fix="--cluster lab, or remove it")
    if not given.addresses.prometheus:
        raise UsageError(
            "--cluster current needs the Prometheus that the operator reads", fix="--prometheus http://127.0.0.1:9090"
        )
    if not given.addresses.jaeger and options.settings.keeps("traces"):
        raise UsageError(
            "--cluster current needs the Jaeger that has the traces", fix="--jaeger URL, or --without traces"
        )
    for option, url in _name_addresses(given.addresses).items():
        if url:
            _require_address(option, url)


def _require_address(option: str, url: str) -> None:
    """Require the address of a server without a password, which would not be sent but printed in errors.

    Raises:
        UsageError: it is not an address, or has a password.
    """
    example = f"{option} http://127.0.0.1:9090"
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets, or a port out of range
        valid = False
    if not valid:
        raise UsageError(f"{option} {url} is not the URL of a server", fix=example)
    if parts.username is not None:
        raise UsageError(f"{option} has a user name, but requests are sent without credentials", fix=example)


def _name_addresses(addresses: TelemetryAddresses) -> dict[str, str]:
    return {"--prometheus": addresses.prometheus, "--jaeger": addresses.jaeger}


def _open_cluster(given: _ClusterOptions, options: SnapshotOptions) -> RecordingPlace:
    from scenario_kit.cli.validation.cluster_place import open_context
    from scenario_kit.cli.validation.recording_places import RecordingCluster

    traced = options.settings.keeps("traces")
    addresses = given.addresses if traced else given.addresses._replace(jaeger="")
    return RecordingCluster(open_context(given.context, options.as_json), addresses)


def take_snapshot(path: Path, options: SnapshotOptions, open_place: Callable[[], RecordingPlace]) -> int:
    """Run a scenario at a place, write its snapshot, and return the exit code.

    Raises:
        AuthoringError: the incident did not occur as declared, or the folder would reveal the answer.
        InfrastructureError: infrastructure failed.
        UsageError: no such scenario, or the snapshot already exists.
    """
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.cli.validation.incident_player import IncidentPlayer
    from scenario_kit.load import find_scenario_files, load_scenario
    from scenario_kit.render.scenarios.control_twin import build_control_twin
    from scenario_kit.snapshot import write_snapshot

    started = time.monotonic()
    files = find_scenario_files([path])
    if len(files) != 1:
        raise UsageError(f"{path} contains {len(files)} scenarios", fix="choose one of them")
    catalog = Catalog(find_collections(files))
    scenario = load_scenario(files[0]).scenario
    played = build_control_twin(scenario) if options.control else scenario
    player = IncidentPlayer(played, files[0], catalog, options, open_place())
    place = player.choose_place()
    policies = player.read_policies()
    try:
        recording = player.play()
        if policies:
            recording = player.distort(recording, policies)
        source = player.describe_source(policies)
        manifest = write_snapshot(recording, source, place, lambda what: print_progress(f"writing: {what}"))
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


def _parse_day(text: str | None) -> date:
    from scenario_kit.snapshot import FIRST_DAY

    if text is None:
        return FIRST_DAY
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--first-day {text} is not a date", fix="--first-day 2025-01-06") from None
