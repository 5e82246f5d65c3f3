"""Places that run and record the incident of a snapshot: a lab, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Protocol

from scenario_kit.campaign import Campaign, PlannedTrial, TrialResult, run
from scenario_kit.campaign.planning.concurrency import find_blocking_trial, runs_alone
from scenario_kit.campaign.planning.duration import estimate_trial, format_duration
from scenario_kit.cli.terminal.live import Timeline
from scenario_kit.cli.terminal.output import print_progress
from scenario_kit.cli.validation.cluster_place import ChosenCluster
from scenario_kit.cli.validation.lab_health import LabHealth
from scenario_kit.clients.clock import WallClock
from scenario_kit.clients.jaeger import JaegerTraces
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.lifecycle import bring_up, occupy
from scenario_kit.lab.recording_client import RecordingClient
from scenario_kit.lab.telemetry.prometheus_access import connect_metrics, create_writer
from scenario_kit.lab.telemetry.remote_write import SeriesWriter
from scenario_kit.lab.toolchain.components import describe_engine, read_kubernetes_version
from scenario_kit.load.temporary_folder import TemporaryFolder
from scenario_kit.model import Runbook, TrialSpec
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.ports import Cluster, Metrics
from scenario_kit.snapshot.live.observer import ClusterObserver
from scenario_kit.snapshot.live.recorder import LiveRecorder


class RecordedTrial(NamedTuple):
    """A finished trial, its app's namespace, and its recording; ``missed`` counts failed reads."""

    result: TrialResult
    namespace: str
    read_ticks: Callable[[], Iterable[RecordedTick]]
    metrics: Metrics
    missed: int = 0


#: Builds the campaign of a snapshot's only trial for a cluster.
BuildCampaign = Callable[[Cluster], Campaign]


class RecordingPlace(Protocol):
    """A place that runs and records trials."""

    @property
    def clock(self) -> ClockMode:
        """The clock of its trials."""

    def record(self, planned: PlannedTrial, build: BuildCampaign, sample: Runbook) -> RecordedTrial:
        """Run a trial to its end, and record its app; an interrupted trial is undone.

        Raises:
            InfrastructureError: infrastructure failed, or the recording did.
        """

    def describe(self) -> tuple[str, str]:
        """Return the versions of Kubernetes and of the chaos engine; empty if unknown."""

    def create_writer(self) -> SeriesWriter:
        """Return a writer of distorted samples.

        Raises:
            UsageError: this place accepts no samples.
        """

    def close(self) -> None:
        """Delete the recordings."""


class RecordingLab:
    """A lab, whose server records its worlds in virtual time."""

    clock: ClockMode = "Virtual"

    def __init__(self, name: str) -> None:
        self._name = name
        self._clients: list[RecordingClient] = []

    def record(self, planned: PlannedTrial, build: BuildCampaign, sample: Runbook) -> RecordedTrial:
        """Play a trial; see ``RecordingPlace``."""
        lab = bring_up(self._name, say=print_progress)
        campaign = build(KubeCluster(kubeconfig=Path(lab.kubeconfig)))
        client = RecordingClient(lab.server_url, lab.server_token, campaign.name(planned))
        self._clients.append(client)
        with occupy(self._name, print_progress, alone=runs_alone(sample)):
            client.announce()
            result = _run(campaign, planned, LabHealth(lab).find_problems)
        namespace = _find_namespace(client) if result.outcome == "Held" else ""
        return RecordedTrial(result, namespace, client.read_ticks, connect_metrics(lab))

    def describe(self) -> tuple[str, str]:
        """Return the versions; see ``RecordingPlace``."""
        return read_kubernetes_version(), describe_engine()

    def create_writer(self) -> SeriesWriter:
        """Return a writer of samples."""
        return create_writer(LabState.load(self._name))

    def close(self) -> None:
        """Delete the recordings in the lab."""
        for client in self._clients:
            client.drop()


class TelemetryAddresses(NamedTuple):
    """Addresses of the telemetry of a cluster; without ``jaeger``, no traces are read."""

    prometheus: str
    jaeger: str = ""


class RecordingCluster:
    """A cluster with an operator: its incident runs in wall time, and is recorded through its APIs."""

    clock: ClockMode = "Wall"

    def __init__(self, chosen: ChosenCluster, addresses: TelemetryAddresses) -> None:
        self._chosen = chosen
        self._addresses = addresses
        self._stack = ExitStack()
        self._metrics = PrometheusMetrics(addresses.prometheus)
        self._stack.callback(self._metrics.close)
        self._namespace = ""
        self._version = ""

    def record(self, planned: PlannedTrial, build: BuildCampaign, sample: Runbook) -> RecordedTrial:
        """Play a trial; see ``RecordingPlace``.

        Raises:
            UsageError: a running trial excludes this one.
        """
        cluster = self._chosen.cluster
        self._require_readable(sample)
        campaign = build(cluster)
        now = WallClock().now
        folder = Path(self._stack.enter_context(TemporaryFolder("recording-")))
        recorder = LiveRecorder(lambda: self._find_observer(campaign, planned), folder / "ticks.jsonl", now)
        usual, longest = (format_duration(seconds) for seconds in estimate_trial(planned.steps, sample))
        print_progress(f"context {self._chosen.context}, {self._chosen.server}")
        print_progress(f"Trial {campaign.name(planned)}: about {usual} if all goes well, {longest} by its deadlines")
        recorder.start()
        try:
            result = _run(campaign, planned, recorder.list_problems)
        finally:
            recorder.stop()
        if result.outcome == "Held":
            recorder.finish()
        elif problems := recorder.list_problems():
            campaign.remove(planned)
            raise InfrastructureError(problems[0], fix="run the same command again")
        return RecordedTrial(result, self._namespace, recorder.read_ticks, self._metrics, recorder.missed)

    def describe(self) -> tuple[str, str]:
        """Return the version of a node's kubelet, as that of the cluster; the engine's is unknown."""
        return self._version, ""

    def create_writer(self) -> SeriesWriter:
        """Refuse to write samples into a foreign Prometheus."""
        raise UsageError(
            "no distorted samples are written to a cluster's Prometheus", fix="leave out --telemetry-faults"
        )

    def close(self) -> None:
        """Delete the recordings, and close the connections."""
        self._stack.close()

    def _require_readable(self, sample: Runbook) -> None:
        """Require, before the injection, that all sources are readable and no other trial is in the way.

        Raises:
            UsageError: another trial is running.
            InfrastructureError: a source does not answer, or refuses.
        """
        cluster = self._chosen.cluster
        ClusterObserver(cluster, ("default",), None).require_access()
        nodes = cluster.list("Node")
        versions = [str(((n.get("status") or {}).get("nodeInfo") or {}).get("kubeletVersion", "")) for n in nodes]
        self._version = min(versions, default="")  # read early: a later failure would cost the recording
        self._metrics.instant("vector(1)", WallClock().now())
        if self._addresses.jaeger:
            traces = JaegerTraces(self._addresses.jaeger, ())
            try:
                traces.list_services()
            finally:
                traces.close()
        if blocked := find_blocking_trial(sample, cluster.list("Trial", MANAGEMENT_NAMESPACE)):
            raise UsageError(
                blocked, fix=f"run the command when they have ended: kubectl -n {MANAGEMENT_NAMESPACE} get trials"
            )

    def _find_observer(self, campaign: Campaign, planned: PlannedTrial) -> ClusterObserver | None:
        """Return the observer of a trial's namespaces once the trial exists."""
        trial = campaign.find(planned)
        if trial is None:
            return None
        runbook = TrialSpec.from_json(trial["spec"]).runbook()
        self._namespace = runbook.namespace
        if not self._addresses.jaeger:
            return ClusterObserver(self._chosen.cluster, runbook.everywhere, None)
        traces = JaegerTraces(self._addresses.jaeger, runbook.everywhere)
        self._stack.callback(traces.close)
        return ClusterObserver(self._chosen.cluster, runbook.everywhere, traces.read)


def _run(campaign: Campaign, planned: PlannedTrial, health: Callable[[], Sequence[str]]) -> TrialResult:
    """Run a trial; undo it if interrupted."""
    title = f"{campaign.scenario}: snapshot with seed {planned.seed}"
    try:
        with Timeline(title, [planned]) as timeline:
            return run([planned], campaign, parallel=1, health=health, progress=timeline)[0]
    except BaseException:
        campaign.remove(planned)
        raise


def _find_namespace(client: RecordingClient) -> str:
    """Return the namespace of the app: the shortest one in the recording."""
    for tick in client.read_ticks():
        found = {o["metadata"].get("namespace", "") for o in tick.objects} - {""}
        if found:
            return str(min(found, key=len))
    raise InfrastructureError("the lab recorded no objects of the app", fix="run the same command again")
