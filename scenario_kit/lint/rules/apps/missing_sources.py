"""Find what objects of an app name, but its manifests do not contain.

Pods need ConfigMaps, Secrets, claims and accounts to start; Ingresses lead to Services, autoscalers scale workloads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.lint.context.catalog_context import AppCase
from scenario_kit.lint.context.source_location import SourceSite, find_site
from scenario_kit.lint.framework.rule import Problem
from scenario_kit.lint.simulation.stages import list_containers, list_pod_specs
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.objects.lookup import format_reference

#: By field: the kind that it names, and the field of the name.
_SOURCES: Final = {
    "configMapRef": ("ConfigMap", "name"), "configMapKeyRef": ("ConfigMap", "name"), "configMap": ("ConfigMap", "name"),
    "secretRef": ("Secret", "name"), "secretKeyRef": ("Secret", "name"), "secret": ("Secret", "secretName"),
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
}  # fmt: skip
#: What every namespace has.
_GIVEN: Final = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})


class _RequiredObject(NamedTuple):
    """What an object needs: its kind, its name, the field that names it, what follows without it, and another fix."""

    kind: str
    name: str
    field: str
    missing: str = "its pods would wait for it"
    otherwise: str = ", or `optional: true`"


def find_missing_sources(case: AppCase) -> Iterator[Problem]:
    """Yield what objects need under some options, but do not find in their namespace; each once."""
    reported = set()
    for stage in case.stages:
        known = {(o["kind"], o["metadata"]["name"], o["metadata"].get("namespace")) for o in stage.after}
        for obj in stage.after:
            home = obj["metadata"].get("namespace")
            for source in _list_sources(obj):
                subject = f"{format_reference(obj)} needs {source.kind}/{source.name}"
                if (source.kind, source.name, home) in known or source[:2] in _GIVEN or subject in reported:
                    continue
                reported.add(subject)
                site = find_site(case, stage, (source.field,), source.name) or SourceSite(("name",))
                names = [name for kind, name, where in known if (kind, where) == (source.kind, home)]
                default = f"add the {source.kind} to the manifests{source.otherwise}"
                fix = did_you_mean(source.name, names, default=default)
                message = f"{subject}, which the app does not have: {source.missing}"
                yield Problem(site.place, message, source.name, fix=fix, position=site.position)


def _list_sources(obj: Object) -> Iterator[_RequiredObject]:
    yield from _list_backends(obj)
    scaled = (obj.get("spec") or {}).get("scaleTargetRef") or {}
    if obj["kind"] == "HorizontalPodAutoscaler" and scaled.get("kind") in WORKLOADS:
        yield _RequiredObject(str(scaled["kind"]), str(scaled["name"]), "name", "it would scale nothing", "")
    for _, pod in list_pod_specs(obj):
        if account := pod.get("serviceAccountName") or pod.get("serviceAccount"):
            yield _RequiredObject("ServiceAccount", str(account), "serviceAccountName")
        yield from _list_volumes(pod)
    for _, container in list_containers(obj):
        for entry in container.get("envFrom") or ():
            yield from _read(entry)
        for entry in container.get("env") or ():
            yield from _read(entry.get("valueFrom") or {})


def _list_backends(obj: Object) -> Iterator[_RequiredObject]:
    """List the Services to which an Ingress leads."""
    spec = obj.get("spec") or {} if obj["kind"] == "Ingress" else {}
    paths = [path for rule in spec.get("rules") or () for path in (rule.get("http") or {}).get("paths") or ()]
    for backend in (spec.get("defaultBackend") or {}, *(path.get("backend") or {} for path in paths)):
        if name := (backend.get("service") or {}).get("name"):
            yield _RequiredObject("Service", str(name), "name", "its requests would fail", "")


def _list_volumes(pod: Mapping[str, Any]) -> Iterator[_RequiredObject]:
    for volume in pod.get("volumes") or ():
        yield from _read(volume)
        for projected in (volume.get("projected") or {}).get("sources") or ():
            # Sources of a projected volume have `name` where a volume has `secretName`.
            yield from _read({f"{field}Ref": body for field, body in projected.items()})


def _read(entry: Mapping[str, Any]) -> Iterator[_RequiredObject]:
    for field, (kind, name) in _SOURCES.items():
        body = entry.get(field)
        if isinstance(body, Mapping) and body.get(name) and not body.get("optional"):
            yield _RequiredObject(kind, str(body[name]), field)
