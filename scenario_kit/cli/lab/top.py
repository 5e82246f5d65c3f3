"""``lab top``: resource usage of nodes and pods from the metrics API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenario_kit.cli.terminal.options import Format, Lab, declare_choice
from scenario_kit.cli.terminal.output import show_json, show_table
from scenario_kit.errors import LabError, NotFound
from scenario_kit.model.kubernetes.quantity import MEBIBYTE, parse_quantity

if TYPE_CHECKING:
    from scenario_kit.model import Object

_GROUP = "metrics.k8s.io"


def top(
    name: Lab = "default",
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Only pods of this namespace.")] = "",
    sort: Annotated[
        str, declare_choice("--sort-by", "name|cpu|memory", help="CPU and memory: largest first.")
    ] = "name",
    format: Format = "text",
) -> None:
    """Show CPU and memory usage of nodes and pods over the last tick of 15 s.

    Example: scenario-kit lab top -n otel-demo --sort-by cpu
    """
    from scenario_kit.clients.kube import KubeCluster
    from scenario_kit.lab.host.state import LabState

    state = LabState.load(name)
    state.require_alive("reading resource usage")
    cluster = KubeCluster(Path(state.kubeconfig))
    try:
        nodes = cluster.list("NodeMetrics", group=_GROUP)
        pods = cluster.list("PodMetrics", group=_GROUP, namespace=namespace)
        sizes = {each["metadata"]["name"]: each["status"].get("allocatable", {}) for each in cluster.list("Node")}
    except NotFound as error:
        raise LabError("the lab does not serve the metrics API", fix="scenario-kit lab status") from error
    finally:
        cluster.close()
    node_rows, pod_rows = [build_node_row(each, sizes) for each in nodes], [build_pod_row(each) for each in pods]
    if format == "json":
        show_json({"nodes": node_rows, "pods": pod_rows})
        return
    show_table(
        ("NODE", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"),
        [_list_cells(row) for row in sort_rows(node_rows, sort)],
    )
    typer.echo()
    if not pod_rows:
        typer.echo("no metrics of pods" + (f" in namespace {namespace}" if namespace else ""))
    show_table(
        ("NAMESPACE", "POD", "CPU(cores)", "MEMORY(bytes)", "UNTIL (UTC)"),
        [(r["namespace"], r["name"], _format_cpu(r), _format_memory(r), r["until"]) for r in sort_rows(pod_rows, sort)],
    )


def build_node_row(metrics: Object, sizes: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Build a node's row: usage and allocatable resources."""
    name, usage = metrics["metadata"]["name"], metrics["usage"]
    size = sizes.get(name, {})
    return {
        "name": name,
        "cpuCores": parse_quantity(usage["cpu"]),
        "cpuCapacity": parse_quantity(size.get("cpu", 0)),
        "memoryBytes": parse_quantity(usage["memory"]),
        "memoryCapacity": parse_quantity(size.get("memory", 0)),
    }


def build_pod_row(metrics: Object) -> dict[str, Any]:
    """Build a pod's row: the sum over its containers. ``until`` is the end of the window on its world's clock."""
    used = [container["usage"] for container in metrics["containers"]]
    return {
        "namespace": metrics["metadata"]["namespace"],
        "name": metrics["metadata"]["name"],
        "cpuCores": sum(parse_quantity(each["cpu"]) for each in used),
        "memoryBytes": sum(parse_quantity(each["memory"]) for each in used),
        "until": metrics["timestamp"].removesuffix("Z").replace("T", " "),
    }


def sort_rows(rows: Sequence[dict[str, Any]], by: str) -> list[dict[str, Any]]:
    """Sort by namespace and name, or by usage in descending order."""
    named = sorted(rows, key=lambda row: (row.get("namespace", ""), row["name"]))
    key = {"cpu": "cpuCores", "memory": "memoryBytes"}.get(by)
    return sorted(named, key=lambda row: -row[key]) if key else named


def _list_cells(node: Mapping[str, Any]) -> tuple[str, ...]:
    cpu = _format_percent(node["cpuCores"], node["cpuCapacity"])
    return (
        node["name"],
        _format_cpu(node),
        cpu,
        _format_memory(node),
        _format_percent(node["memoryBytes"], node["memoryCapacity"]),
    )


def _format_cpu(row: Mapping[str, Any]) -> str:
    return f"{round(row['cpuCores'] * 1000)}m"


def _format_memory(row: Mapping[str, Any]) -> str:
    return f"{int(row['memoryBytes'] // MEBIBYTE)}Mi"


def _format_percent(used: float, of: float) -> str:
    return f"{used / of * 100:.0f}%" if of else "unknown"
