"""Step *expectClean*: check that nothing the trial created is left, and everything it changed is as before.

It compares the objects that the trial touched and the namespaces of its app. Objects that others create, change or
remove in the same cluster in the meantime are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from scenario_kit.changes import Receipt, ReceiptEntry, chaos
from scenario_kit.changes.three_way_restore import restore_fields, strip_to_desired
from scenario_kit.errors import Forbidden, NotFound
from scenario_kit.judge import leftovers
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.ports import Cluster, Kind
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.context import TrialContext

#: Seconds of wall time in which controllers may still take away what belonged to the app, such as its volumes.
_GOING_SECONDS: Final = 60
_LOOK_SECONDS: Final = 2
_PARALLEL: Final = 8
#: Our own kinds and the chaos objects are judged by receipts; requests and metrics are not state.
_NOT_STATE: Final = (GROUP, "metrics.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "kwok.x-k8s.io")
#: Keys under which objects name a namespace: claims of volumes, subjects of bindings, services of webhooks, selectors.
_NAMING: Final = ("namespace", "namespaces", "kubernetes.io/metadata.name", "values")


def expect_clean(context: TrialContext) -> list[Finding]:
    """Check that the trial left nothing; only then are the receipts dropped."""
    deadline = context.clock.now() + _GOING_SECONDS
    findings = _look(context)
    while findings and not context.virtual and context.clock.now() < deadline:
        context.clock.wait(context.clock.now() + _LOOK_SECONDS)
        findings = _look(context)
    if not findings:
        context.engine.forget()
    return findings


def _look(context: TrialContext) -> list[Finding]:
    baseline = context.baseline() or Baseline()
    contents = [o for name in context.everywhere for o in list_contents(context.cluster, name)]
    if any(f.visibility == "Hidden" for f in context.runbook.faults):
        for name in context.everywhere:
            contents += chaos.list_chaos_selecting(context.cluster, context.management, at=name)
    residue = _list_residue(context)
    return leftovers.compare(baseline.snapshot, snapshot(context.cluster, context.everywhere), contents, residue)


def snapshot(cluster: Cluster, namespaces: Collection[str]) -> dict[str, str]:
    """Take fingerprints of the cluster-scoped objects that name one of these namespaces, by kind and name."""
    kinds = [k for k in cluster.kinds() if not k.namespaced and k.group not in _NOT_STATE]
    kinds = [k for k in kinds if k.kind not in leftovers.IGNORED_KINDS and k.kind != "Namespace"]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        listed = pool.map(lambda k: (k, _list(cluster, k, "")), kinds)
        return {
            f"{k.kind}.{k.group}/{o['metadata']['name']}"
            if k.group
            else f"{k.kind}/{o['metadata']['name']}": leftovers.digest(strip_to_desired(o))
            for k, objects in listed
            for o in objects
            if names_any(o, namespaces)
        }


def names_any(value: Any, namespaces: Collection[str], key: str = "") -> bool:
    """Return whether an object refers to one of these namespaces."""
    if isinstance(value, dict):
        return any(names_any(v, namespaces, k) for k, v in value.items() if k not in ("managedFields", "status"))
    if isinstance(value, list):
        return any(names_any(v, namespaces, key) for v in value)
    return key in _NAMING and value in namespaces


def list_contents(cluster: Cluster, namespace: str) -> list[Object]:
    """List everything in a namespace that is state."""
    kinds = [k for k in cluster.kinds() if k.namespaced and k.group not in _NOT_STATE]
    kinds = [k for k in kinds if k.kind not in leftovers.IGNORED_KINDS]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        return [o for objects in pool.map(lambda k: _list(cluster, k, namespace), kinds) for o in objects]


def _list(cluster: Cluster, kind: Kind, namespace: str) -> list[Object]:
    try:
        return cluster.list(kind.kind, namespace, group=kind.group)
    except (NotFound, Forbidden):  # what we may not read, we cannot have written
        return []


def _list_residue(context: TrialContext) -> list[str]:
    """List what is left of the changes that the trial made outside of the app's namespaces."""
    touched: dict[Reference, list[Receipt]] = {}
    for receipt in sorted(context.engine.list_receipts(), key=lambda r: (r.at, r.ordinal)):
        for ref in {e.ref for e in receipt.entries if e.ref.namespace not in context.everywhere}:
            touched.setdefault(ref, []).append(receipt)
    found = (find_residue(ref, receipts, context.cluster.get(ref)) for ref, receipts in touched.items())
    return sorted(each for each in found if each)


def find_residue(ref: Reference, receipts: Sequence[Receipt], live: Object | None) -> str:
    """Find what is left of the changes that these receipts tell of, in words; empty where it is nothing.

    Args:
        ref: the object.
        receipts: of a trial, in the order in which it made the changes.
        live: the object as it is; None where it is gone.
    """
    entries = [e for r in receipts for e in r.entries if e.ref == ref]
    if live is None or (ref.kind == "Namespace" and is_terminating(live)):
        lost = entries[0].prior is not None and any(r.change.operation.deletes for r in receipts)
        return f"missing: {ref}" if lost else ""
    if entries[0].prior is None:
        ours = {e.uid for e in entries}
        return f"new: {ref}" if "" in ours or live["metadata"].get("uid") in ours else ""
    return f"changed: {ref}" if _bears(entries, live) else ""


def _bears(entries: Iterable[ReceiptEntry], live: Object) -> bool:
    """Return whether an object still contains the writes of these changes; those of others do not matter."""
    now = restored = _normalise(live)
    for entry in reversed([e for e in entries if e.prior is not None and e.after is not None]):
        restored = restore_fields(restored, _normalise(entry.prior), _normalise(entry.after))
    return leftovers.digest(restored) != leftovers.digest(now)


def _normalise(obj: Object | None) -> Object:
    return leftovers.normalise(strip_to_desired(obj))
