"""SK202, SK203, SK213: what pods may do to their node, and accounts to the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.source_location import Judged, Spot, find_fresh
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.security.admission_findings import list_refused, report_problems
from scenario_kit.lint.simulation.stages import list_mappings
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.kubernetes.reference import resolve_namespace, symbolise_namespace
from scenario_kit.render.apps.app import CLUSTER_KINDS
from scenario_kit.schema.writable import CLUSTER, EXCEPTIONS

_MANAGEMENT: Final = ("scenario-kit", "chaos-mesh")
#: The names under which a solver is known to the cluster.
_SOLVER: Final = ("oncall", "system:authenticated", "system:unauthenticated", "system:serviceaccounts")


@register_check("SK202", "Scenario", "Fault", "App")
def check_privileges(case: Judged) -> Iterator[Problem]:
    reported: set[str] = set()
    for each, problem in zip(
        [r for r in list_refused(case) if r.breach.code == "SK202"], report_problems(case, "SK202"), strict=True
    ):
        need = each.breach.declared
        if isinstance(case, FaultCase):
            if (
                need == CLUSTER
                and each.stage.place == ("changes",)
                and each.breach.keys[:1] in (("kind",), ("target",))
            ):
                continue  # told below, of the change
            yield problem._replace(edits=() if need in EXCEPTIONS else build_declaration_edit(case, need))
        else:
            yield problem
    if isinstance(case, FaultCase) and case.fault.scope != CLUSTER:
        yield from _check_beyond(case, reported)


def build_declaration_edit(case: FaultCase, need: str) -> tuple[Edit, ...]:
    """Build the edit that declares a capability of a fault, or its scope."""
    if need == CLUSTER:
        return (Put(("scope",), CLUSTER),)
    known = case.document.get("requires")
    return (Put(("requires", len(known)) if known else ("requires",), need if known else [need]),)


def _check_beyond(case: FaultCase, reported: set[str]) -> Iterator[Problem]:
    """Return changes of what does not belong to the namespace of one trial."""
    for stage in case.stages:
        for change in stage.changes if stage.place == ("changes",) else ():
            target, where = find_outside(change, stage.app)
            kind = Reference.parse(target).kind if target else ""
            if where and kind not in reported:
                reported.add(kind)
                message = f"the fault writes {target}, which {where}, but its scope is Namespace"
                fix = "write `scope: Cluster`, or change an object of the app"
                yield Problem(
                    ("changes",), message, "Namespace", CLUSTER, fix, edits=build_declaration_edit(case, CLUSTER)
                )


def find_outside(change: Change, app: App) -> tuple[str, str]:
    """Find what a change is about, and where that lies if it is not in the namespaces of the app; else nothing."""
    body = change.operation.manifest
    target = f"{body['kind']}/{body['metadata']['name']}" if body else change.target or ""
    if not target:
        return "", ""
    ref = Reference.parse(target)
    namespace = (body or {}).get("metadata", {}).get("namespace") or ref.namespace
    homes = [f"Namespace/{resolve_namespace(app.namespace, s)}" for s in ("app", *app.namespaces)]
    if ref.kind in CLUSTER_KINDS and target not in homes:
        return target, "belongs to the whole cluster"
    own = symbolise_namespace(namespace, app.namespace) in ("app", *app.namespaces)
    return target, "" if own else f"lies in {namespace}"


@register_check("SK203", "Scenario", "Fault", "App")
def check_rights(case: Judged) -> Iterator[Problem]:
    yield from report_problems(case, "SK203")


@register_check("SK213", "Scenario", "Fault", "App")
def check_reach(case: Judged) -> Iterator[Problem]:
    yield from report_problems(case, "SK213")
    for found in find_fresh(case, _reach):
        yield Problem(
            found.site.place, f"{found.subject} {found.spot.note}", str(found.spot.value), position=found.site.position
        )


def _reach(obj: Object) -> Iterator[Spot]:
    if obj["kind"] in ("RoleBinding", "ClusterRoleBinding"):
        for i, subject in list_mappings(obj.get("subjects")):
            if subject.get("name") in _SOLVER or str(subject.get("name", "")).startswith("system:serviceaccounts:"):
                yield Spot(("subjects", i, "name"), subject["name"], f"grants rights to '{subject['name']}', a solver")
    if obj["metadata"].get("namespace") in _MANAGEMENT:
        where = obj["metadata"]["namespace"]
        yield Spot(("metadata", "namespace"), where, f"lies in '{where}', where the injector's objects are")
