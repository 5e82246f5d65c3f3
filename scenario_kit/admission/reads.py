"""Objects that checks read, with the operator's permissions, and whose values reports show: only those of the trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote

from scenario_kit.admission.bounds import AdmissionBounds
from scenario_kit.admission.breach import Breach
from scenario_kit.model import Change, Check, Reference
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import GROUP, WORKLOADS
from scenario_kit.schema.writable import SYSTEM_NAMESPACES, WRITABLE

#: Kinds of the cluster that a check may read: such as a change may write.
_OF_CLUSTER: Final = frozenset(each.kind for each in WRITABLE if not each.namespaced) | {"StorageClass"}
#: Objects of the cluster's components whose state `SystemComponent` may change.
_CONFIGURED: Final = ("ConfigMap", "coredns")


def check_reads(check: Check, bounds: AdmissionBounds, written: Iterable[Reference] = ()) -> Iterator[Breach]:
    """Check that a check reads objects of the app, of a fault (``written``), or of the cluster's components.

    Places are relative to the check.
    """
    known = {(ref.kind, ref.name, bounds.resolve_namespace(ref.namespace)) for ref in written}
    for keys, ref in list_references(check):
        home = bounds.resolve_namespace(ref.namespace)
        own = home in bounds.namespaces or ref.kind in _OF_CLUSTER or (ref.kind, ref.name, home) in known
        hidden = ref.group == CHAOS_GROUP or ref.kind.endswith("Chaos")
        component = home in SYSTEM_NAMESPACES and (ref.kind in WORKLOADS or (ref.kind, ref.name) == _CONFIGURED)
        if ref.group == GROUP or not (own or hidden or component):
            note = "is neither of the app nor of a fault, so no check may read it"
            expected = "an object of the app, of a fault, or a workload of the cluster's components"
            yield Breach("SK236", keys, str(ref), note, expected=expected)
    if check.probe and any(part in (".", "..") for part in unquote(check.probe.path.partition("?")[0]).split("/")):
        note = f"is probed at '{check.probe.path}', which leads to other paths of the API server"
        yield Breach("SK236", ("probe", "path"), check.probe.path, note, expected="a path without `.` and `..`")


def name_subject(breach: Breach) -> str:
    """Return what the note of a breach is about: the object, or the pod whose path a probe requests."""
    return "the pod" if breach.keys[-1:] == ("path",) else str(breach.value)


def list_references(check: Check) -> Iterator[tuple[Place, Reference]]:
    """List the objects that a check reads, each with its place."""
    if check.object:
        yield ("object", "ref"), check.object.ref
    if check.endpoints:
        yield ("endpoints", "service"), check.endpoints.service
    if check.event:
        yield ("event", "entity"), check.event.entity
    if check.log:
        yield ("log", "entity"), check.log.entity
    if check.probe:
        yield ("probe", "target"), check.probe.target


def list_waits(changes: Iterable[Change]) -> Iterator[tuple[int, Check]]:
    """List the checks that changes wait for, each with the position of its change."""
    return ((i, change.until.check) for i, change in enumerate(changes) if change.until is not None)
