"""SK202, SK203, SK213: privileges of pods on their node, and of accounts in the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.source_location import Judged, RenderedField, find_introduced
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.security.admission_findings import list_breaches, report_problems
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.json_document import list_mappings
from scenario_kit.model.kubernetes.reference import resolve_namespace, symbolise_namespace
from scenario_kit.render.apps.placement import CLUSTER_KINDS
from scenario_kit.schema.writable import CLUSTER, EXCEPTIONS

_MANAGEMENT: Final = ("scenario-kit", "chaos-mesh")
#: Users and groups of a solver.
_SOLVER: Final = ("oncall", "system:authenticated", "system:unauthenticated", "system:serviceaccounts")


@register_check("SK202", "Scenario", "Fault", "App")
def check_privileges(case: Judged) -> Iterator[Problem]:
    for each, problem in zip(
        [r for r in list_breaches(case) if r.breach.code == "SK202"], report_problems(case, "SK202"), strict=True
    ):
        need = each.breach.declared
        if isinstance(case, FaultCase):
            if (
                need == CLUSTER
                and each.stage.place == ("changes",)
                and each.breach.keys[:1] in (("kind",), ("target",))
            ):
                continue  # reported below, for the change
            yield problem._replace(edits=() if need in EXCEPTIONS else build_declaration_edit(case, need))
        else:
            yield problem
    if isinstance(case, FaultCase) and case.fault.scope != CLUSTER:
        yield from _check_beyond(case)


def build_declaration_edit(case: FaultCase, need: str) -> tuple[Edit, ...]:
    """Build the edit that declares a capability or the scope of a fault."""
    if need == CLUSTER:
        return (Put(("scope",), CLUSTER),)
    known = case.document.get("requires")
    return (Put(("requires", len(known)) if known else ("requires",), need if known else [need]),)


def _check_beyond(case: FaultCase) -> Iterator[Problem]:
    """Report changes outside of a trial's namespaces, one of each kind of object."""
    reported = set()
    for stage in case.stages:
        for change in stage.changes if stage.place == ("changes",) else ():
            target, where = find_outside(change, stage.app)
            kind = target.kind if target else ""
            if where and kind not in reported:
                reported.add(kind)
                message = f"the fault writes {target}, which {where}, but its scope is Namespace"
                fix = "write `scope: Cluster`, or change an object of the app"
                yield Problem(
                    ("changes",), message, "Namespace", CLUSTER, fix, edits=build_declaration_edit(case, CLUSTER)
                )


def find_outside(change: Change, app: App) -> tuple[Reference | None, str]:
    """Return the object that a change targets, and where it is if not in the app's namespaces; else empty."""
    body = change.operation.manifest
    target = Reference(body["kind"], body["metadata"]["name"]) if body else change.operation.ref
    if target is None and change.target:
        target = Reference("Node", change.target.removeprefix("Node/"))  # several nodes
    if not target:
        return None, ""
    namespace = (body or {}).get("metadata", {}).get("namespace") or target.namespace
    homes = [f"Namespace/{resolve_namespace(app.namespace, s)}" for s in ("app", *app.namespaces)]
    if target.kind in CLUSTER_KINDS and target not in homes:
        return target, "belongs to the whole cluster"
    own = symbolise_namespace(namespace, app.namespace) in ("app", *app.namespaces)
    return target, "" if own else f"is in {namespace}"


@register_check("SK203", "Scenario", "Fault", "App")
def check_rights(case: Judged) -> Iterator[Problem]:
    yield from report_problems(case, "SK203")


@register_check("SK213", "Scenario", "Fault", "App")
def check_reach(case: Judged) -> Iterator[Problem]:
    yield from report_problems(case, "SK213")
    for found in find_introduced(case, _find_injector_access):
        yield Problem(
            found.site.place, f"{found.subject} {found.spot.note}", str(found.spot.value), position=found.site.position
        )


def _find_injector_access(obj: Object) -> Iterator[RenderedField]:
    if obj["kind"] in ("RoleBinding", "ClusterRoleBinding"):
        for i, subject in list_mappings(obj.get("subjects")):
            if subject.get("name") in _SOLVER or str(subject.get("name", "")).startswith("system:serviceaccounts:"):
                yield RenderedField(
                    ("subjects", i, "name"), subject["name"], f"grants rights to '{subject['name']}', a solver"
                )
    if obj["metadata"].get("namespace") in _MANAGEMENT:
        where = obj["metadata"]["namespace"]
        yield RenderedField(("metadata", "namespace"), where, f"is in '{where}', with the injector's objects")
