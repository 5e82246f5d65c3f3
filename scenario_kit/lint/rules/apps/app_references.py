"""Find names in an app's definition that its manifests do not contain under any options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scenario_kit.lint.context.catalog_context import AppCase
from scenario_kit.lint.framework.rule import Problem
from scenario_kit.model import Object, Reference
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.spelling import did_you_mean


class _NamedReference(NamedTuple):
    """A reference in the definition: its place, its kind, and the candidates; None if they are unknown."""

    place: Place
    name: str
    what: str
    known: Sequence[str] | None


def find_missing(case: AppCase) -> Iterator[Problem]:
    """Find workloads, Services, variables and alert packs that the app names but does not have."""
    problems = list(_list_packs(case))
    for version, body in case.document["versions"].items():
        made = [v for v in case.versions if v.app.version == version]
        objects = [obj for v in made for obj in v.objects]
        if objects and not any(v.error for v in made):
            problems += _list_parts(("versions", version), body, objects)
    for each in problems:
        if each.known is not None and each.name not in each.known:
            bare = each.name.rpartition("/")[2]
            alone = each.what == "Service" and bare in each.known
            fix = f"write {bare}, the name alone" if alone else did_you_mean(each.name, each.known)
            candidates = ", ".join(sorted(set(each.known))) or "none"
            yield Problem(
                each.place, f"{case.name} has no {each.what} '{each.name}'", each.name, f"one of {candidates}", fix=fix
            )


def _list_packs(case: AppCase) -> Iterator[_NamedReference]:
    for i, name in enumerate(case.document.get("alertPacks", ())):
        yield _NamedReference(("alertPacks", i), name, "alert pack", case.catalog.alert_packs())


def _list_parts(at: Place, body: Object, objects: Sequence[Object]) -> Iterator[_NamedReference]:
    """Yield what a version states about its objects."""
    workloads = [f"{o['kind']}/{o['metadata']['name']}" for o in objects if o["kind"] in WORKLOADS]
    services = [o["metadata"]["name"] for o in objects if o["kind"] == "Service"]
    homes = {component["name"]: _strip_namespace(component["workload"]) for component in body["components"]}
    for i, component in enumerate(body["components"]):
        yield _NamedReference((*at, "components", i, "workload"), homes[component["name"]], "object", workloads)
        if "service" in component:
            yield _NamedReference((*at, "components", i, "service"), component["service"], "Service", services)
    for i, call in enumerate(body.get("calls", ())):
        home = homes.get(call["caller"], "")
        for n, name in enumerate(call.get("env", ())):
            yield _NamedReference(
                (*at, "calls", i, "env", n), name, f"variable in {home} called", _list_variables(home, objects)
            )
    loads = [c["name"] for c in body["components"] if c.get("role") == "Load"]
    for knob, reported in body.get("load", {}).items():
        home = homes[loads[0]] if loads else ""
        yield _NamedReference(
            (*at, "load", knob, "env"), reported["env"], f"variable in {home} called", _list_variables(home, objects)
        )


def _strip_namespace(text: str) -> str:
    """Return a reference without its namespace: names are unique within an app."""
    try:
        ref = Reference.parse(text)
    except ValueError:
        return text
    return f"{ref.kind}/{ref.name}"


def _list_variables(home: str, objects: Sequence[Object]) -> Sequence[str] | None:
    """List the variables of a workload's containers; None if it does not exist or uses `envFrom`."""
    specs = [read_pod_spec(o) for o in objects if f"{o['kind']}/{o['metadata']['name']}" == home]
    containers = [c for spec in specs for part in ("containers", "initContainers") for c in spec.get(part) or ()]
    if not containers or any(c.get("envFrom") for c in containers):
        return None
    return [entry["name"] for c in containers for entry in c.get("env") or ()]
