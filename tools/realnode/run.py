"""A run on a real node, inside its namespaces: start everything, run incidents, report the results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import UsageError
from scenario_kit.lab import lifecycle
from scenario_kit.load import load_scenario
from scenario_kit.model.base import Value
from tools.realnode.comparison import ComparedAlert, compare_episodes, format_comparison, list_unexplained
from tools.realnode.evidence import list_verify_arguments, record_evidence
from tools.realnode.incident import Incident, play_incident
from tools.realnode.node import isolation
from tools.realnode.node.chaos_mesh import install_chaos_mesh
from tools.realnode.node.cluster import RealCluster
from tools.realnode.node.installation import COLLECTION, install_dns, install_monitoring, install_operator
from tools.realnode.node.requirements import can_lower_oom_score
from tools.realnode.preparation import Preparation
from tools.realnode.programs import STRESSORS
from tools.realnode.shards import run_shards
from tools.realnode.stopwatch import Stage, Stopwatch, format_stages
from tools.realnode.trials import TrialSite, run_trials, select_episode

#: What is run on the node.
Mode = Literal["All", "Evidence", "Sample", "Shards", "Stay"]
#: What a sample is made of: from apply to Resolved in a few minutes.
SAMPLE: Final = "desk-without-intake"
#: What ``verify`` is tried with: it is over by itself, so that no decoy is watched for a quarter of an hour.
VERIFIED: Final = "intake-killed-at-once"
#: The longest that a trial may take, in seconds: on the clock on the wall, and in a lab.
_REAL_SECONDS: Final = 2400.0
_LAB_SECONDS: Final = 600.0


class RunOptions(Value, frozen=True, kw_only=True):
    """What is run, and where results go."""

    results: str
    scenarios: tuple[str, ...] = ()
    what: Mode = "All"
    together: int = 16


class RunRecord(Value, frozen=True, kw_only=True):
    """What a run has shown, as ``record.json`` among its results."""

    stages: tuple[Stage, ...]
    incidents: tuple[Incident, ...] = ()
    compared: tuple[ComparedAlert, ...] = ()


def find_scenarios(names: Sequence[str]) -> list[Path]:
    """Find the files of scenarios of the collection; all of them where none is named.

    Raises:
        UsageError: there is no such scenario.
    """
    known = {path.parent.name: path for path in sorted((COLLECTION / "catalog" / "scenarios").glob("*/scenario.yaml"))}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"there is no scenario {', '.join(unknown)}", fix=f"one of: {', '.join(known)}")
    return [known[name] for name in names or known]


def leave_out_impossible(files: Sequence[Path], say: Callable[[str], None]) -> list[Path]:
    """Leave out the scenarios that this machine's kernel refuses, each with the reason."""
    if can_lower_oom_score():
        return list(files)
    kept = []
    for file in files:
        faults = load_scenario(file).scenario.spec.faults
        if any(float(fault.parameters.get("oomScoreAdjust", 0)) < 0 for fault in faults):
            say(f"{file.parent.name}: left out, as its stressor cannot be spared here: CAP_SYS_RESOURCE is missing")
        else:
            kept.append(file)
    return kept


def run_on_node(folder: Path, prepared: Preparation, options: RunOptions, say: Callable[[str], None]) -> int:
    """Run everything, and return the exit code.

    Raises:
        LabError: a part does not start, or an incident does not come to its end.
    """
    files = find_scenarios((SAMPLE,) if options.what == "Sample" else options.scenarios)
    if not options.scenarios:
        files = leave_out_impossible(files, say)
    watch = Stopwatch(say)
    cluster = _start_cluster(folder, prepared, watch)
    run = NodeRun(cluster, prepared, options, watch, say)
    if options.what == "Shards":
        return 0 if run.validate_shards() else 1
    _install_services(cluster, prepared, watch)
    if options.what == "Stay":
        return run.stay()
    held = run.record_evidence(files) if options.what == "Evidence" else run.compare(files)
    return 0 if held else 1


def _start_cluster(folder: Path, prepared: Preparation, watch: Stopwatch) -> RealCluster:
    """Start a control plane, the node and a name server in the namespaces of this run."""
    os.environ["SCENARIO_KIT_HOME"] = str(folder / "home")
    os.environ["SCENARIO_KIT_CATALOG"] = str(COLLECTION)
    isolation.set_up_network()
    isolation.mount_over_folders(folder)
    with watch.measure("control plane"):
        cluster = RealCluster(folder, prepared.find_binaries())
    os.environ["KUBECONFIG"] = str(cluster.kubeconfig)
    with watch.measure("containerd, images, kubelet, kube-proxy"):
        cluster.join_node([Path(path) for path in prepared.archives])
    with watch.measure("CoreDNS"):
        install_dns(cluster)
    return cluster


def _install_services(cluster: RealCluster, prepared: Preparation, watch: Stopwatch) -> None:
    """Install what incidents need: Prometheus, Chaos Mesh if there are images of it, and the operator."""
    with watch.measure("Prometheus and the series of objects"):
        install_monitoring(cluster)
    if prepared.chaos:
        with watch.measure("Chaos Mesh: manager and daemon"):
            install_chaos_mesh(cluster, prepared.find_binaries()[STRESSORS])
    with watch.measure("operator"):
        install_operator(cluster, prepared.operator)


@dataclass(frozen=True)
class NodeRun:
    """A run on a cluster that has started."""

    cluster: RealCluster
    prepared: Preparation
    options: RunOptions
    watch: Stopwatch
    say: Callable[[str], None]

    def validate_shards(self) -> bool:
        """Validate two scenarios in two pods; returns whether both passed."""
        with self.watch.measure("two shards in two pods"):
            held = run_shards(self.cluster, self.prepared.lab, self.say)
        self._report_stages()
        return held

    def record_evidence(self, files: Sequence[Path]) -> bool:
        """Verify scenarios and record evidence of those that pass; returns whether all did."""
        together = self.options.together
        with self.watch.measure(f"evidence of {len(files)} scenarios, {together} trials at a time"):
            held = record_evidence(files, Path(self.options.results) / "evidence", together, self.say)
        self._report_stages()
        return held

    def stay(self) -> int:
        """Wait for Ctrl-C, and say how another terminal reaches the cluster."""
        enter = "nsenter --target $(pgrep -nf 'ci/e2e --real-node') --all"
        self.say(f"{enter}; export KUBECONFIG={self.cluster.kubeconfig}; Ctrl-C ends it")
        while True:
            self.cluster.processes.check()
            time.sleep(5)

    def compare(self, files: Sequence[Path]) -> bool:
        """Live through an incident and compare trials with a lab; returns whether all held and nothing differs."""
        incidents: list[Incident] = []
        rows: list[ComparedAlert] = []
        held = True
        if self.options.what == "Sample" or not self.options.scenarios:
            incident, held = self._show_live()
            incidents.append(incident)
        if self.options.what == "All":
            rows, both = self._compare_trials(files)
            held = held and both
        record = RunRecord(stages=self._list_stages(), incidents=tuple(incidents), compared=tuple(rows))
        _write_record(Path(self.options.results), record)
        self._report_stages()
        if rows:
            self.say(format_comparison(rows))
        unexplained = list_unexplained(rows, overbooked=_is_overbooked())
        for difference in unexplained:
            self.say(f"unexplained: {difference}")
        return held and not unexplained

    def _compare_trials(self, files: Sequence[Path]) -> tuple[list[ComparedAlert], bool]:
        """Run the same trials on the node and in a lab; return the comparison, and whether all held."""
        results, together = Path(self.options.results), self.options.together
        with self.watch.measure(f"{len(files)} trials on the real node, {together} at a time"):
            check = self.cluster.processes.check
            site = TrialSite("real", self.cluster.client, "Wall", together, _REAL_SECONDS, check)
            real = run_trials(site, files, results, self.say)
        with self.watch.measure("a lab"):
            lab = lifecycle.bring_up("twin", packs=(), say=self.say)
        with self.watch.measure(f"{len(files)} trials in the lab"):
            site = TrialSite("lab", KubeCluster(Path(lab.kubeconfig)), "Virtual", 2, _LAB_SECONDS, lambda: None)
            twin = run_trials(site, files, results, self.say)
        rows: list[ComparedAlert] = []
        held = True
        for name in real:
            for side, result in (("real", real[name]), ("lab", twin[name])):
                held = held and result.outcome == "Held"
                if result.outcome != "Held":
                    self.say(f"{side}: {name}: {result.outcome}: {result.message}")
            episodes = select_episode(real[name]), select_episode(twin[name])
            if episodes[0] is not None and episodes[1] is not None:
                rows += compare_episodes(name, episodes[0], episodes[1])
        return rows, held

    def _show_live(self) -> tuple[Incident, bool]:
        """Live through an incident and, unless a sample is all, verify a scenario beside it; return if it passed."""
        if self.options.what == "Sample":
            return self._play_sample(), True
        results = Path(self.options.results)
        with _verify(find_scenarios((VERIFIED,))[0], results, self.watch) as verification:
            return self._play_sample(), _has_passed(verification, results, self.say)

    def _play_sample(self) -> Incident:
        kubectl = self.prepared.find_binaries()["kubectl"]
        with self.watch.measure(f"incident {SAMPLE}"):
            return play_incident(self.cluster, find_scenarios((SAMPLE,))[0], kubectl, self.say)

    def _list_stages(self) -> tuple[Stage, ...]:
        return *self.prepared.stages, *self.watch.stages

    def _report_stages(self) -> None:
        self.say(format_stages(self._list_stages()))


def _is_overbooked() -> bool:
    """Check whether twice as much work as there are processors has waited for them in the last quarter of an hour."""
    return os.getloadavg()[2] > 2 * (os.cpu_count() or 1)


@contextmanager
def _verify(file: Path, results: Path, watch: Stopwatch) -> Iterator[subprocess.Popen[bytes]]:
    """Verify a scenario as its author would, beside what else runs; end it if that fails."""
    arguments = list_verify_arguments(file, "try", results / "verify")
    with (
        watch.measure(f"verify --cluster current: {file.parent.name}"),
        subprocess.Popen([sys.executable, "-m", "scenario_kit.cli", *arguments]) as process,
    ):
        try:
            yield process
        except BaseException:
            process.terminate()
            raise


def _has_passed(verification: subprocess.Popen[bytes], results: Path, say: Callable[[str], None]) -> bool:
    """Wait for the end of a verification; return whether the scenario passed on this data plane."""
    code = verification.wait()
    reports = sorted((results / "verify").glob("*/*/report.json"))
    trials = json.loads(reports[-1].read_bytes())["validation"] if reports else {}
    say(f"verify ended with {code}; data plane {trials.get('dataPlane', 'Twin')}")
    return code == 0 and trials.get("dataPlane") == "RealNode"


def _write_record(folder: Path, record: RunRecord) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "record.json").write_bytes(msgspec.json.format(record.to_bytes(), indent=1) + b"\n")
