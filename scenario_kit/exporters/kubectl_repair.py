"""Documented solutions as kubectl commands, which the oracle runs through the solver's tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scenario_kit.model import Object, Runbook
from scenario_kit.model.authored.change import Change


def list_repair_calls(runbook: Runbook) -> list[dict[str, Any]] | None:
    """List ``exec_kubectl_cmd_safely`` calls that repair all faults by their documented solutions.

    The first solution of a fault that kubectl alone can apply is used; None if some fault has none.
    """
    fixed: set[str] = set()
    calls: list[dict[str, Any]] = []
    for procedure in runbook.procedures:
        if procedure.use != "Solution" or fixed >= set(procedure.solution.fixes):
            continue
        built = [_build_call(change, runbook) for change in procedure.solution.changes]
        if all(call is not None for call in built):
            calls += [call for call in built if call is not None]
            fixed |= set(procedure.solution.fixes)
    needed = {name for each in runbook.procedures if each.use == "Solution" for name in each.solution.fixes}
    return calls if needed and fixed >= needed else None


def _build_call(change: Change, runbook: Runbook) -> dict[str, Any] | None:
    """Build the call for a change; None if no single kubectl command does it."""
    data = change.to_json()
    operation = change.operation
    keyword = next((name for name in ("patch", "delete", "restart", "scale", "create", "apply") if name in data), "")
    if keyword in ("create", "apply") and operation.manifest is not None:
        return _call(f"{keyword} -f -", json.dumps(operation.manifest))
    if not keyword or operation.ref is None:
        return None
    ref = operation.ref
    kind = ".".join(filter(None, (ref.kind, ref.group))).lower()
    namespace = ref.within(runbook.namespace, runbook.namespaces).namespace
    space = "" if namespace == runbook.namespace else f" -n {namespace}"
    match keyword:
        case "patch":
            body = data["patch"]
            document = json.dumps(body["patch"]).replace("'", "'\\''")
            return _call(f"patch {kind} {ref.name}{space} --type {body['type'].lower()} -p '{document}'")
        case "delete":
            return _call(f"delete {kind} {ref.name}{space}")
        case "restart" if ref.kind == "StatefulSet" and data["restart"].get("dropOld"):
            return _call(f"delete pod {' '.join(_list_pods(ref.name, runbook.objects))}{space}")
        case "restart":
            return _call(f"rollout restart {kind}/{ref.name}{space}")
        case _:
            return _call(f"scale {kind}/{ref.name}{space} --replicas={data['scale']['replicas']}")


def _list_pods(stateful_set: str, objects: Sequence[Object]) -> list[str]:
    """List the pods of a StatefulSet."""
    named = ("StatefulSet", stateful_set)
    specs = [o["spec"] for o in objects if (o["kind"], o["metadata"]["name"]) == named]
    return [f"{stateful_set}-{i}" for spec in specs for i in range(spec.get("replicas", 1))]


def _call(command: str, stdin: str = "") -> dict[str, Any]:
    arguments = {"cmd": f"kubectl {command}"} | ({"stdin": stdin} if stdin else {})
    return {"tool": "exec_kubectl_cmd_safely", "arguments": arguments}
