"""The clean room (docs/architecture.md): what a trial leaves in its namespaces, and in what it touched beside them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object

#: Kinds that change by themselves: heartbeats, bookkeeping, history.
IGNORED_KINDS: Final = frozenset(
    {"Event", "Lease", "LeaseCandidate", "ComponentStatus", "CSINode", "IPAddress", "APIService"}
)
#: What every namespace gets without being asked.
_DEFAULTS: Final = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})


def digest(desired: Object) -> str:
    """Digest a short fingerprint of the part of an object that somebody asked for."""
    desired = normalise(desired)
    return hashlib.sha256(json.dumps(desired, sort_keys=True, default=str).encode()).hexdigest()[:16]


def normalise(desired: Object) -> Object:
    """Return an object without what changes by itself, as heartbeats of nodes do."""
    return _strip_node(desired) if desired.get("kind") == "Node" else desired


def _strip_node(node: Object) -> Object:
    """Return whether it takes pods, and which: its other fields, and taints of its own controller, change by
    themselves.
    """
    spec = node.get("spec") or {}
    taints = [t for t in spec.get("taints") or () if not str(t.get("key")).startswith("node.kubernetes.io/")]
    return {"unschedulable": bool(spec.get("unschedulable")), "taints": taints}


def list_leftovers(contents: Iterable[Object]) -> list[str]:
    """List objects of the app's namespace that a teardown should have removed."""
    return sorted(
        f"{o['kind']}/{o['metadata']['name']}"
        for o in contents
        if o["kind"] not in IGNORED_KINDS and (o["kind"], o["metadata"]["name"]) not in _DEFAULTS
    )


def compare(
    before: Mapping[str, str], after: Mapping[str, str], contents: Iterable[Object], residue: Iterable[str] = ()
) -> list[Finding]:
    """Return findings for everything that is left over, missing or different.

    ``before`` and ``after`` are the fingerprints of cluster-scoped objects that name the app's namespaces; ``residue``
    tells what is left of changes elsewhere.
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
            message="the trial leaves something behind",
            observed="; ".join(problems[:12]) + (f"; and {len(problems) - 12} more" if len(problems) > 12 else ""),
            expected="nothing left, nothing missing, nothing changed",
            why="residue of one trial is a hidden fault of the next",
            fix="give the fault an `undo` for state that receipts do not cover",
        )
    ]
