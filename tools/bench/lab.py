"""Time and memory of repeats, and of an app with many pods, in a lab."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab.control_plane.prometheus import BLOCK_RELOAD_SECONDS
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.lifecycle import bring_up, report_status
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Reference
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from tools.bench.commands import SCENARIO, await_condition, time_command


def time_parallel_repeats(name: str, repeats: int) -> float:
    """Return the seconds until that many parallel repeats in one lab are finished."""
    with ThreadPoolExecutor(repeats) as pool:
        start = time.perf_counter()
        seeds = range(1, repeats + 1)
        list(pool.map(lambda seed: time_command("try", str(SCENARIO), "--name", name, "--seed", str(seed)), seeds))
        return time.perf_counter() - start


def measure_memory(name: str) -> dict[str, float]:
    """Return the resident memory of every process of a lab, in MB."""
    return {part.name: (part.memory_bytes or 0) / 1e6 for part in report_status(LabState.load(name))}


def await_rest() -> None:
    """Wait until the lab's components have released what finished trials needed."""
    time.sleep(2 * BLOCK_RELOAD_SECONDS)


def print_memory_growth(name: str, validations: int) -> None:
    """Validate repeatedly in a running lab; print each component's memory in MB after each run and at rest."""
    columns = {"before": measure_memory(name)}
    for n in range(1, validations + 1):
        time_command("verify", str(SCENARIO), "--name", name, "--seed", str(n))
        columns[str(n)] = measure_memory(name)
        print(f"validation {n}: {sum(columns[str(n)].values()):.0f} MB", file=sys.stderr, flush=True)
    await_rest()
    columns["at rest"] = measure_memory(name)
    print(f"| {'MB':<24} | " + " | ".join(f"{when:>7}" for when in columns) + " |")
    print(f"|{'-' * 26}|" + "|".join("-" * 8 + ":" for _ in columns) + "|")
    for part in columns["before"]:
        print(f"| {part:<24} | " + " | ".join(f"{held[part]:>7.0f}" for held in columns.values()) + " |")
    print(f"| {'all':<24} | " + " | ".join(f"{sum(held.values()):>7.0f}" for held in columns.values()) + " |")


def measure_pods(pods: int) -> list[tuple[str, str]]:
    """Measure scaling an app of a live incident to that many pods, in a lab with enough nodes."""
    name = "bench-crowd"
    incident = Reference("Scenario", SCENARIO.name, MANAGEMENT_NAMESPACE, GROUP)
    try:
        state = bring_up(name, node_count=-(-pods // 100) + 2)
        admin = KubeCluster(kubeconfig=Path(state.kubeconfig))
        _start_incident(admin, incident)
        workloads = _scale_app(admin, pods)
        began = time.perf_counter()
        time_command("lab", "advance", "60", "--name", name)
        await_condition(lambda: _are_ready(admin, workloads))
        rows = [("until they are ready, from one each", f"{time.perf_counter() - began:.1f} s")]
        rows.append(("five minutes of their traffic", f"{time_command('lab', 'advance', '300', '--name', name):.1f} s"))
        rows.append(("lab memory, all processes", f"{sum(measure_memory(name).values()):.0f} MB"))
        began = time.perf_counter()
        admin.delete(incident)
        await_condition(lambda: admin.get(incident) is None)
        return [*rows, ("until all is undone and gone", f"{time.perf_counter() - began:.1f} s")]
    finally:
        time_command("lab", "down", "--name", name)


def _start_incident(admin: KubeCluster, incident: Reference) -> None:
    """Create the scenario in virtual time, and wait for its symptoms."""
    scenario = read_document(SCENARIO / "scenario.yaml").data
    scenario["metadata"].setdefault("annotations", {})["scenariokit.io/clock"] = "Virtual"
    scenario["metadata"]["namespace"] = incident.namespace
    admin.create(scenario)

    def has_symptoms() -> bool:
        found = ((admin.get(incident) or {}).get("status") or {}).get("conditions") or []
        return {c["type"]: c["status"] for c in found}.get("SymptomsPresent") == "True"

    await_condition(has_symptoms)


def _scale_app(admin: KubeCluster, pods: int) -> list[Reference]:
    """Scale the app's own workloads to about that many pods in total, and return them."""
    app = Catalog().app("otel-demo", "2.2.0")
    workloads = [Reference.parse(f"otel-demo/{c.workload}") for c in app.components if c.role == "App"]
    for ref in workloads:
        admin.patch(ref, {"spec": {"replicas": -(-pods // len(workloads))}})
    return workloads


def _are_ready(admin: KubeCluster, workloads: Sequence[Reference]) -> bool:
    found = [admin.get(ref) for ref in workloads]
    return all(d and d["status"].get("readyReplicas") == d["spec"]["replicas"] for d in found)
