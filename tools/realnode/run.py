"""A run on a real node, inside its namespaces: start everything, run incidents, report the results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import UsageError
from scenario_kit.lab import lifecycle
from scenario_kit.load import load_scenario
from scenario_kit.model.base import Value
from tools.realnode import isolation
from tools.realnode.chaos_mesh import install_chaos_mesh
from tools.realnode.cluster import RealCluster
from tools.realnode.comparison import ComparedAlert, compare_episodes, format_comparison, list_unexplained
from tools.realnode.evidence import list_verify_arguments, record_evidence
from tools.realnode.incident import Incident, play_incident
from tools.realnode.installation import COLLECTION, install_dns, install_monitoring, install_operator
from tools.realnode.preparation import Preparation
from tools.realnode.programs import STRESSORS
from tools.realnode.requirements import can_lower_oom_score
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
    binaries, watch = prepared.find_binaries(), Stopwatch(say)
    os.environ["SCENARIO_KIT_HOME"] = str(folder / "home")
    os.environ["SCENARIO_KIT_CATALOG"] = str(COLLECTION)
    isolation.set_up_network()
    isolation.mount_over_folders(folder)
    with watch.measure("control plane"):
        cluster = RealCluster(folder, binaries)
    os.environ["KUBECONFIG"] = str(cluster.kubeconfig)
    with watch.measure("containerd, images, kubelet, kube-proxy"):
        cluster.join_node([Path(path) for path in prepared.archives])
    with watch.measure("CoreDNS"):
        install_dns(cluster)
    if options.what == "Shards":
        with watch.measure("two shards in two pods"):
            held = run_shards(cluster, prepared.lab, say)
        say(format_stages((*prepared.stages, *watch.stages)))
        return 0 if held else 1
    with watch.measure("Prometheus and the series of objects"):
        install_monitoring(cluster)
    if prepared.chaos:
        with watch.measure("Chaos Mesh: manager and daemon"):
            install_chaos_mesh(cluster, binaries[STRESSORS])
    with watch.measure("operator"):
        install_operator(cluster, prepared.operator)
    if options.what == "Stay":
        return _stay(cluster, say)
    if options.what == "Evidence":
        with watch.measure(f"evidence of {len(files)} scenarios, {options.together} trials at a time"):
            held = record_evidence(files, Path(options.results) / "evidence", options.together, say)
        say(format_stages((*prepared.stages, *watch.stages)))
        return 0 if held else 1
    incidents: list[Incident] = []
    rows: list[ComparedAlert] = []
    held = True
    if options.what == "Sample" or not options.scenarios:
        incident, held = _show_live(cluster, binaries["kubectl"], options, watch, say)
        incidents.append(incident)
    if options.what == "All":
        rows, both = _compare(cluster, files, options, watch, say)
        held = held and both
    stages = (*prepared.stages, *watch.stages)
    _write(Path(options.results), RunRecord(stages=stages, incidents=tuple(incidents), compared=tuple(rows)))
    say(format_stages(stages))
    if rows:
        say(format_comparison(rows))
    unexplained = list_unexplained(rows, overbooked=_is_overbooked())
    for difference in unexplained:
        say(f"unexplained: {difference}")
    return 0 if held and not unexplained else 1


def _is_overbooked() -> bool:
    """Check whether twice as much work as there are processors has waited for them in the last quarter of an hour."""
    return os.getloadavg()[2] > 2 * (os.cpu_count() or 1)


def _compare(
    cluster: RealCluster, files: Sequence[Path], options: RunOptions, watch: Stopwatch, say: Callable[[str], None]
) -> tuple[list[ComparedAlert], bool]:
    """Run the same trials on the node and in a lab; return the comparison, and whether all held."""
    with watch.measure(f"{len(files)} trials on the real node, {options.together} at a time"):
        place = TrialSite("real", cluster.client, "Wall", options.together, _REAL_SECONDS, cluster.processes.check)
        real = run_trials(place, files, Path(options.results), say)
    with watch.measure("a lab"):
        lab = lifecycle.bring_up("twin", packs=(), say=say)
    with watch.measure(f"{len(files)} trials in the lab"):
        place = TrialSite("lab", KubeCluster(Path(lab.kubeconfig)), "Virtual", 2, _LAB_SECONDS, lambda: None)
        twin = run_trials(place, files, Path(options.results), say)
    rows: list[ComparedAlert] = []
    held = True
    for name in real:
        pair = select_episode(real[name]), select_episode(twin[name])
        for side, result in (("real", real[name]), ("lab", twin[name])):
            held = held and result.outcome == "Held"
            if result.outcome != "Held":
                say(f"{side}: {name}: {result.outcome}: {result.message}")
        if pair[0] is not None and pair[1] is not None:
            rows += compare_episodes(name, pair[0], pair[1])
    return rows, held


def _show_live(
    cluster: RealCluster, kubectl: Path, options: RunOptions, watch: Stopwatch, say: Callable[[str], None]
) -> tuple[Incident, bool]:
    """Live through an incident and, unless a sample is all, verify a scenario beside it; return whether that passed."""

    def live() -> Incident:
        with watch.measure(f"incident {SAMPLE}"):
            return play_incident(cluster, find_scenarios((SAMPLE,))[0], kubectl, say)

    if options.what == "Sample":
        return live(), True
    results = Path(options.results)
    with _verify(find_scenarios((VERIFIED,))[0], results, watch) as verification:
        return live(), _has_passed(verification, results, say)


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


def _stay(cluster: RealCluster, say: Callable[[str], None]) -> int:
    """Wait for Ctrl-C, and say how another terminal reaches the cluster."""
    enter = "nsenter --target $(pgrep -nf 'ci/e2e --real-node') --all"
    say(f"{enter}; export KUBECONFIG={cluster.kubeconfig}; Ctrl-C ends it")
    while True:
        cluster.processes.check()
        time.sleep(5)


def _write(folder: Path, record: RunRecord) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "record.json").write_bytes(msgspec.json.format(record.to_bytes(), indent=1) + b"\n")
