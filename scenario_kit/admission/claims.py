"""Objects that a change refers to: volumes, data and priorities of the app or of the change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.admission.bounds import AdmissionBounds
from scenario_kit.admission.breach import Breach
from scenario_kit.admission.pods import find_pod_specs
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place
from scenario_kit.schema.writable import CLUSTER

_SOURCES: Final = ("dataSource", "dataSourceRef")


def check_claims(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check the volume that each claim names, and the source of its data."""
    if bounds.of_app:
        return
    for keys, claim in find_claims(obj):
        volume = claim.get("volumeName")
        if volume and ("PersistentVolume", volume) not in bounds.known:
            note = f"requests volume '{volume}', which neither the app nor a change created"
            yield Breach("SK236", (*keys, "volumeName"), volume, note, expected="a volume of the app, or no name")
        for field in _SOURCES:
            source = claim.get(field)
            if not isinstance(source, Mapping):
                continue
            home = source.get("namespace")
            if home and home not in bounds.namespaces:
                note = f"copies data from '{home}', which is not a namespace of the app"
                yield Breach("SK236", (*keys, field, "namespace"), home, note, expected="a claim of the app")


def check_priorities(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check that pods preempt others only by a priority that the app or a change created."""
    if bounds.of_app:
        return
    own = {o["metadata"]["name"] for o in bounds.ready if o["kind"] == "PriorityClass"}
    for keys, pod in find_pod_specs(obj):
        name = pod.get("priorityClassName")
        if name and name not in own and not str(name).startswith("system-"):
            note = f"has the priority '{name}' of the cluster, which may preempt pods of others"
            expected = "a PriorityClass that the app or the fault creates"
            yield Breach("SK202", (*keys, "priorityClassName"), name, note, CLUSTER, expected)
        if pod.get("priority"):
            note = f"has `priority: {pod['priority']}`, which only the API server sets"
            yield Breach("SK202", (*keys, "priority"), pod["priority"], note, CLUSTER, "priorityClassName")


def find_claims(obj: Object) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Find the spec of every claim in an object: its own, those of volume claim templates and ephemeral volumes."""
    spec = obj.get("spec")
    if obj["kind"] == "PersistentVolumeClaim" and isinstance(spec, Mapping):
        yield ("spec",), spec
    templates = spec.get("volumeClaimTemplates") if isinstance(spec, Mapping) else None
    for i, template in enumerate(templates or ()):
        if isinstance(template, Mapping) and isinstance(template.get("spec"), Mapping):
            yield ("spec", "volumeClaimTemplates", i, "spec"), template["spec"]
    for keys, pod in find_pod_specs(obj):
        for i, volume in enumerate(pod.get("volumes") or ()):
            ephemeral = volume.get("ephemeral") if isinstance(volume, Mapping) else None
            inner = ((ephemeral or {}).get("volumeClaimTemplate") or {}).get("spec")
            if isinstance(inner, Mapping):
                yield (*keys, "volumes", i, "ephemeral", "volumeClaimTemplate", "spec"), inner
