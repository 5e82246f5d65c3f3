"""Find the objects that the changes of a fault affect."""

from __future__ import annotations

from collections.abc import Sequence

from scenario_kit.lint.simulation.field_diff import list_written_fields
from scenario_kit.model import App, Fault, Object, Reference
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.objects.lookup import look_up


def touches(fault: Fault, objects: Sequence[Object], app: App, ref: Reference) -> bool:
    """Return whether a fault targets, creates or writes an object, or affects its pods."""
    created = [body for c in fault.changes if (body := c.operation.manifest)]
    names = {(str(body.get("kind")), str((body.get("metadata") or {}).get("name"))) for body in created}
    aimed = (fault.target, *(c.operation.ref for c in fault.changes))
    names |= {(other.kind, other.name) for other in aimed if other}
    return (ref.kind, ref.name) in names or (ref.kind, ref.name) in {
        (field.of.kind, field.of.name) for field in list_written_fields(fault.changes, objects, app)
    }


def select_same_pods(objects: Sequence[Object], app: App, one: Reference, other: Reference) -> bool:
    """Return whether two references select the same pods: a workload, or a Service of just that workload."""
    mine, theirs = (_find_pod_owners(objects, app, ref) for ref in (one, other))
    return bool(mine) and mine == theirs


def _find_pod_owners(objects: Sequence[Object], app: App, ref: Reference) -> set[tuple[str, str]]:
    """Return kind and name of the workloads whose pods an object selects or owns; empty if there are none."""
    obj = look_up(objects, ref, app.namespace)
    if obj is None:
        return set()
    selector = (obj.get("spec") or {}).get("selector") if ref.kind == "Service" else None
    home = obj["metadata"].get("namespace")
    near = [o for o in objects if o["kind"] in WORKLOADS and o["metadata"].get("namespace", home) == home]
    chosen = near if selector else [o for o in near if o is obj]
    return {(o["kind"], o["metadata"]["name"]) for o in chosen if selects_pods(selector or {}, o)}


def find_components(app: App, ref: Reference) -> set[str]:
    """Return the components of a workload or a Service."""
    return {
        c.name for c in app.components if c.workload.is_same(ref) or (ref.kind == "Service" and c.service == ref.name)
    }
