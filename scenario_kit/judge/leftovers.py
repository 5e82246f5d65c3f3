"""Find what a trial leaves behind in its namespaces and in objects elsewhere (docs/architecture.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object
from scenario_kit.model.shortening import shorten_list
from scenario_kit.schema.writable import APP_ROLE

#: Kinds that change by themselves: heartbeats, bookkeeping, history.
IGNORED_KINDS: Final = frozenset(
    {"Event", "Lease", "LeaseCandidate", "ComponentStatus", "CSINode", "IPAddress", "APIService"}
)
#: Objects that are in every namespace as long as it is there: Kubernetes' own, and the operator's rights.
_DEFAULTS: Final = frozenset(
    {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default"), ("RoleBinding", APP_ROLE)}
)


def digest(desired: Object) -> str:
    """Return a short hash of the declared part of an object."""
    desired = normalise(desired)
    return hashlib.sha256(json.dumps(desired, sort_keys=True, default=str).encode()).hexdigest()[:16]


def normalise(desired: Object) -> Object:
    """Return an object without fields that change by themselves, such as node heartbeats."""
    return _strip_node(desired) if desired.get("kind") == "Node" else desired


def _strip_node(node: Object) -> Object:
    """Select the fields that affect scheduling; others, and the node controller's taints, change by themselves."""
    spec = node.get("spec") or {}
    taints = [t for t in spec.get("taints") or () if not str(t.get("key")).startswith("node.kubernetes.io/")]
    return {"unschedulable": bool(spec.get("unschedulable")), "taints": taints}


def list_leftovers(contents: Iterable[Object]) -> list[str]:
    """List objects in the app's namespaces that a teardown should have removed."""
    return sorted(
        f"{o['kind']}/{o['metadata']['name']}"
        for o in contents
        if o["kind"] not in IGNORED_KINDS and (o["kind"], o["metadata"]["name"]) not in _DEFAULTS
    )


def compare(
    before: Mapping[str, str], after: Mapping[str, str], contents: Iterable[Object], residue: Iterable[str] = ()
) -> list[Finding]:
    """Return a finding on everything that is left over, missing or changed.

    ``before`` and ``after`` hold hashes of cluster-scoped objects that name the app's namespaces; ``residue`` describes
    remains of changes elsewhere.
    """
    problems = [f"left in the namespace: {name}" for name in list_leftovers(contents)]
    problems += residue
    problems += [f"new: {key}" for key in sorted(after.keys() - before.keys())]
    problems += [f"missing: {key}" for key in sorted(before.keys() - after.keys())]
    problems += [f"changed: {key}" for key in sorted(before.keys() & after.keys()) if before[key] != after[key]]
    if not problems:
        return []
    return [
        build_finding(
            "SK306",
            message="the trial left changes behind",
            observed=shorten_list(problems, 12, "; "),
            expected="nothing left, nothing missing, nothing changed",
            why="residue of one trial is a hidden fault of the next",
            fix="add an `undo` to the fault for state that receipts do not cover",
        )
    ]
