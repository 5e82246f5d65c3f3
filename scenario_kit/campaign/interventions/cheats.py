"""The cheat battery (docs/validator.md): ways to clear symptoms without a repair. Pure.

Each must leave the incident unresolved, or be rejected. Cheats are derived from the rendered app, so they fit any
scenario. Not included: doing nothing (every hold step covers it); deleting the namespace, touching rules, Prometheus or
scenario-kit's own objects (the solver's role forbids it, which is tested separately); relabelling pods (the API server
forbids it if a selector needs the label); mutating the written value (only the fault knows wrong values).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from scenario_kit.judge.alerts.expectations import list_by_class
from scenario_kit.model import Change, Object, Procedure, Reference, Runbook, Solution
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.pod_template import list_containers
from scenario_kit.model.kubernetes.reference import WORKLOADS, read_group
from scenario_kit.render.apps.namespaces import make_finder, rename_change
from scenario_kit.render.objects.lookup import format_reference

#: Follows a reverted repair.
STARTS: Final = "start-again"
#: The cheat that equals an honest repair of some faults.
RESTARTS: Final = "restart-everything"
#: Factor by which a cheat raises limits, more than an honest repair would.
_RAISED: Final = 100
_PROBES: Final = ("readinessProbe", "livenessProbe", "startupProbe")
#: Persistence of faults for which a restart is an honest repair.
_RESTARTABLE: Final = ("Pod", "OneShot", "Expires", "SelfHeals")


def add_cheats(runbook: Runbook) -> Runbook:
    """Add cheats to the procedures of a runbook, and what follows a reverted repair."""
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, *build_cheats(runbook), *starts(runbook)))


def restart_everything(runbook: Runbook) -> Procedure:
    """Return a restart of every workload except load generators."""
    load = {_strip_namespace(c.workload) for c in runbook.app.components if c.role == "Load"}
    changes = tuple(
        _build_operation("restart", format_reference(w))
        for w in _list_workloads(runbook)
        if format_reference(w) not in load
    )
    find = make_finder(runbook.objects, runbook.namespace)
    solution = Solution(
        name=RESTARTS, description="restart every workload", changes=tuple(rename_change(c, find) for c in changes)
    )
    return Procedure(use="Cheat", name=RESTARTS, solution=solution)


def starts(runbook: Runbook) -> tuple[Procedure, ...]:
    """Return another restart of what the faults restarted; empty if they restart nothing.

    A fault that includes a restart only affects pods started after it: pods admitted during a repair stay healthy.
    Reverting the repair therefore includes the restart.
    """
    changes = tuple(c for f in runbook.faults for c in f.changes if c.operation.restarts)
    solution = Solution(name=STARTS, description="restart what the fault restarted", changes=changes)
    return (Procedure(use="Cheat", name=STARTS, solution=solution),) if changes else ()


def build_cheats(runbook: Runbook) -> tuple[Procedure, ...]:
    """Build the cheats that apply to this scenario, in the order of the documentation."""
    new = [m for f in runbook.faults for c in f.changes if (m := c.operation.manifest)]
    find = make_finder([*runbook.objects, *new], runbook.namespace)
    return tuple(
        Procedure(
            use="Cheat",
            name=name,
            solution=Solution(
                name=name, description=described, changes=tuple(rename_change(change, find) for change in changes)
            ),
        )
        for name, described, changes in _build_battery(runbook)
        if changes
    )


def _build_battery(runbook: Runbook) -> Iterator[tuple[str, str, list[Change]]]:
    workloads = _list_workloads(runbook)
    load = {_strip_namespace(c.workload) for c in runbook.app.components if c.role == "Load"}
    names = _find_suspects(runbook, workloads)
    blamed = [w for w in workloads if format_reference(w) in names]
    if not _repairs_by_restart(runbook):
        restarted = restart_everything(runbook).solution
        yield restarted.name, restarted.description, list(restarted.changes)
    zero = [_change(scale={"target": format_reference(w), "replicas": 0}) for w in blamed if w["kind"] != "DaemonSet"]
    yield "scale-to-zero", "scale the alerting workloads to zero", zero
    yield (
        "delete-workload",
        "delete the alerting workload",
        [_build_operation("delete", format_reference(w)) for w in blamed[:1]],
    )
    yield "delete-service", "delete the alerting Service", _retarget_services(runbook, blamed)
    stopped = [
        _change(scale={"target": format_reference(w), "replicas": 0}) for w in workloads if format_reference(w) in load
    ]
    yield "stop-the-load", "stop the load generator", stopped
    yield "raise-limits", f"raise limits {_RAISED} times", list(_raise_limits(blamed))
    yield "drop-probes", "remove the probes of the alerting workloads", list(_drop_probes(blamed))
    yield "roll-back", "roll back the alerting workloads", list(_roll_back(runbook, blamed))
    yield "delete-chaos", "delete the chaos object", list(_delete_chaos(runbook))


def _repairs_by_restart(runbook: Runbook) -> bool:
    """Return whether the scenario documents a restart as a repair of a fault that ends with its pods."""
    ending = {f.name for f in runbook.faults if f.role in LABELLED and f.persistence in _RESTARTABLE}
    return any(
        change.operation.restarts or (change.operation.deletes and not change.operation.outlasts("Pod"))
        for p in runbook.procedures
        if p.use == "Solution" and (not p.solution.fixes or ending & set(p.solution.fixes)) and ending
        for change in p.solution.changes
    )


def _list_workloads(runbook: Runbook) -> list[Object]:
    return [
        o
        for o in runbook.objects
        if o["kind"] in WORKLOADS and o["metadata"].get("namespace", runbook.namespace) in runbook.everywhere
    ]


def _find_suspects(runbook: Runbook, workloads: Sequence[Object]) -> set[str]:
    """Return the workloads that must alert or are labelled, on which a reader of alerts would act."""
    expected = [e.entity for e in list_by_class(runbook.expect, "MustFire") if e.entity]
    labels = [c.entity for c in runbook.ground_truth.root_causes if c.entity]
    known = {format_reference(w) for w in workloads}
    named = {_strip_namespace(ref) for ref in (*expected, *labels)}
    behind = {
        format_reference(w)
        for service in runbook.objects
        if service["kind"] == "Service" and format_reference(service) in named
        for w in workloads
        if _selects(service, w)
    }
    return (named & known) | behind


def _retarget_services(runbook: Runbook, blamed: Iterable[Object]) -> list[Change]:
    touched = {_strip_namespace(e.ref) for f in runbook.faults for e in f.entities}
    return [
        _build_operation("delete", format_reference(o))
        for o in runbook.objects
        if o["kind"] == "Service" and any(_selects(o, w) for w in blamed) and format_reference(o) not in touched
    ]


def _raise_limits(blamed: Iterable[Object]) -> Iterator[Change]:
    for workload in blamed:
        raised = [
            {"name": c["name"], "resources": {"limits": {k: _multiply_quantity(v) for k, v in limits.items()}}}
            for c in list_containers(workload)
            if (limits := (c.get("resources") or {}).get("limits"))
        ]
        if raised:
            yield _patch(workload, raised)


def _drop_probes(blamed: Iterable[Object]) -> Iterator[Change]:
    for workload in blamed:
        bare = [
            {"name": c["name"]} | dict.fromkeys(probes)
            for c in list_containers(workload)
            if (probes := [p for p in _PROBES if c.get(p)])
        ]
        if bare:
            yield _patch(workload, bare)


def _roll_back(runbook: Runbook, blamed: Iterable[Object]) -> Iterator[Change]:
    """Roll back workloads whose template no fault changes, which repairs nothing.

    A freshly deployed workload has a second revision only if a fault restarted it.
    """
    changed = {_strip_namespace(e.ref) for f in runbook.faults for e in f.entities if e.role == "Cause"}
    changes = [c for f in runbook.faults for c in f.changes if c.operation.restarts]
    restarted = {_strip_namespace(ref) for c in changes if (ref := c.operation.ref)}
    for workload in blamed:
        name = format_reference(workload)
        if workload["kind"] == "Deployment" and name in restarted and name not in changed:
            yield _build_operation("undoRollout", name)


def _delete_chaos(runbook: Runbook) -> Iterator[Change]:
    for fault in runbook.faults:
        if fault.mitigation == "Native" or fault.visibility == "Hidden":
            continue
        for change in fault.changes:
            obj = change.operation.experiment
            if obj is not None and obj["metadata"].get("name"):
                ref = Reference(obj["kind"], obj["metadata"]["name"], group=read_group(obj))
                yield _build_operation("delete", str(ref))


def _patch(workload: Object, containers: Sequence[Object]) -> Change:
    body = {"spec": {"template": {"spec": {"containers": list(containers)}}}}
    return _change(patch={"target": format_reference(workload), "type": "Strategic", "patch": body})


def _multiply_quantity(quantity: Any) -> str:
    text = str(quantity)
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    amount = float(digits) * _RAISED
    return f"{int(amount) if amount.is_integer() else amount}{text[len(digits) :]}"


def _selects(service: Object, workload: Object) -> bool:
    selector = (service.get("spec") or {}).get("selector") or {}
    return bool(selector) and selects_pods(selector, workload)


def _strip_namespace(ref: Reference) -> str:
    return f"{ref.kind}/{ref.name}"


def _build_operation(operation: str, target: str) -> Change:
    return _change(**{operation: {"target": target}})


def _change(**operation: Any) -> Change:
    return Change.from_json(operation)
