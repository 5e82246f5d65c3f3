"""Check that must-fire alerts fire on objects that the propagation reaches. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.judge.alerts.expectations import list_by_class, select_timelines
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertHistory, App, Fault, Finding
from scenario_kit.model.authored.propagation import find_reachable
from scenario_kit.model.authored.scenario import FAULT_NODE, Expect, PropagationEdge
from scenario_kit.model.kubernetes.reference import WORKLOADS


def find_explained(faults: Iterable[Fault], edges: Sequence[PropagationEdge], app: App) -> set[tuple[str, str]]:
    """Find the objects that faults break or the propagation reaches, without namespaces.

    A Service and its workload count as one. Victims that only the fault type names are left out: the propagation must
    include them.
    """
    chosen = list(faults)
    broken = {e.ref.bare for f in chosen for e in f.entities if e.role == "Cause"}
    broken |= {(FAULT_NODE, f.name) for f in chosen} | {f.target.bare for f in chosen}
    reached = find_reachable(broken, ((e.from_.bare, e.to.bare) for e in edges))
    for component in app.components:
        own = {component.workload.bare, *([("Service", component.service)] if component.service else [])}
        if own & reached:
            reached |= own
    return reached


def check_unexplained(
    history: AlertHistory, expect: Expect, since: float, known: set[tuple[str, str]]
) -> list[Finding]:
    """Report must-fire alerts without an entity that fired only on workloads outside the propagation."""
    findings = []
    for expectation in list_by_class(expect, "MustFire"):
        fired = [t.entity for t in select_timelines(expectation, history.timelines) if t.onset(since) is not None]
        workloads = sorted({e for e in fired if e and e.kind in WORKLOADS})
        if expectation.entity or not workloads or len(workloads) < len(set(fired)):
            continue  # the propagation covers workloads only
        if not any(entity.bare in known for entity in workloads):
            findings.append(
                build_finding(
                    "SK326",
                    message=f"{expectation.name} fired only on objects that the propagation does not reach",
                    observed=f"it fired on {', '.join(workloads)}",
                    expected="an object connected with a root cause by propagation edges",
                    why="the propagation explains the incident, and must reach every alert it explains",
                    fix=f"extend the propagation to {workloads[0]}, or expect another alert",
                )
            )
    return findings
