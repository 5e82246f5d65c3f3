"""SK111: label selectors of changes, matched with the pods of the rendered workloads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scenario_kit.lint.context.scenario_context import LintContext, PlacedProcedure
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.applied_changes import AppliedChange, apply_changes
from scenario_kit.model import App, Object, Reference
from scenario_kit.model.chaos.kinds import get_experiment
from scenario_kit.model.chaos.pod_selector import LIVE, parse_selector
from scenario_kit.model.kubernetes.label_selector import admits, parse_object
from scenario_kit.model.kubernetes.pod_labels import list_pod_labels
from scenario_kit.model.kubernetes.pod_template import POD_KINDS, read_pod_template
from scenario_kit.model.kubernetes.reference import WORKLOADS, make_reference, symbolise_namespace

#: Fields of a Chaos Mesh selector that depend on scheduling.
_LIVE_PARTS = {"nodes", "nodeSelectors"}


@register_check("SK111")
def check_selectors(case: LintContext) -> Iterator[Problem]:
    if case.app is None or case.objects is None:
        return
    objects: Sequence[Object] = case.objects
    for place, use, fault in case.list_rendered():
        aim = _find_aimed(objects, use.target, case.app)
        for applied in apply_changes(objects, fault.changes, case.app):
            for problem in _check_change(applied, case.app, aim):
                yield Problem((*place, "target"), f"fault '{use.name}': {problem[0]}", *problem[1:])
            objects = applied.after
    for procedure in case.procedures():
        yield from _check_procedure(case, procedure, objects)


def _check_procedure(case: LintContext, procedure: PlacedProcedure, broken: Sequence[Object]) -> Iterator[Problem]:
    assert case.app is not None
    assert case.objects is not None
    unsure = any(not change.operation.predictable for change in procedure.changes)
    repairs = procedure.kind == "solution" and not unsure and _covers_all(case, procedure)
    if not repairs and not any(change.operation.manifest for change in procedure.changes):
        return
    objects = broken
    places = (place for place, _ in procedure.list_changes())
    for place, applied in zip(places, apply_changes(broken, procedure.changes, case.app), strict=True):
        where = (*place, applied.change.operation.keyword)
        yield from (Problem(where, *problem) for problem in _check_change(applied, case.app, None))
        objects = applied.after
    if not repairs:
        return
    served = {ref for ref, found in _map_services(case.objects, case.app).items() if found}
    for ref, found in _map_services(objects, case.app).items():
        if ref in served and not found:
            message = f"after solution '{procedure.name}' {ref} selects no pod"
            yield Problem(
                (*procedure.place, "changes"), message, "0 workloads", "the workloads it selects without the fault"
            )


def _covers_all(case: LintContext, procedure: PlacedProcedure) -> bool:
    solution = case.scenario.spec.solutions[int(procedure.place[-1])]
    return len(case.faults) == len(case.scenario.spec.faults) and set(case.faults) <= set(solution.fixes)


def _check_change(applied: AppliedChange, app: App, aim: set[Reference] | None) -> Iterator[tuple[str, str, str]]:
    """Yield message, observed and expected for each wrong selector of a change; ``aim`` are the intended workloads."""
    change, objects = applied.change, applied.before
    manifest = change.operation.manifest
    if not manifest:
        return
    kind, spec = str(manifest.get("kind", "")), manifest.get("spec") or {}
    if change.operation.experiment:
        yield from find_wrong_targets(objects, kind, get_experiment(manifest).spec, app, aim)
    elif kind in ("NetworkPolicy", "PodDisruptionBudget") and _is_at_home(manifest["metadata"].get("namespace"), app):
        selector = spec.get("podSelector" if kind == "NetworkPolicy" else "selector") or {}
        if selector and not _find_selected(objects, selector, app):
            yield f"the {kind} selects no pod", _format_requirements(selector), "labels of pods of the app"


def find_wrong_targets(
    objects: Sequence[Object], kind: str, spec: Mapping[str, Any], app: App, aim: set[Reference] | None
) -> Iterator[tuple[str, str, str]]:
    """Yield message, observed and expected for each selector of an experiment that has no pods, or wrong ones."""
    peers = spec.get("target")
    ends = [("the target of the ", peers.get("selector"))] if isinstance(peers, Mapping) else []
    for of, selector in [("the ", spec.get("selector")), *ends]:
        if not isinstance(selector, Mapping):
            continue
        try:
            query = parse_selector(selector, app.namespace, unknown=LIVE)
        except ValueError:
            continue  # another rule reports it
        if not all(_is_at_home(namespace, app) for namespace in query.namespaces):
            continue  # another rule reports it
        pods = list(_list_future_pods(objects, app))
        if query.names:
            desired = [f"{ns}/{name}" for ns, names in query.names.items() for name in names]
            lost = [each for each in desired if not any(_can_be(each, pod) for pod in pods)]
            if lost and "{{" not in lost[0]:
                yield f"{of}{kind} names a pod that the app does not have", lost[0], "a pod of the app"
            continue
        chosen = [pod for pod in pods if query._replace(nodes=(), node_labels={}).selects(pod.object)]
        found = {pod.of for pod in chosen}
        on_node = sorted({str(pod.of) for pod in chosen if pod.object["spec"].get("hostNetwork")})
        if kind == "NetworkChaos" and on_node:
            # The manager refuses such pods, and the object resists its deletion.
            message = f"{of}{kind} selects pods of {', '.join(on_node)}, which use the network of their node"
            yield message, "hostNetwork: true", "pods with a network of their own"
        elif not found:
            yield f"{of}{kind} selects no pod", _format_selector(selector), "labels of the app's pods"
        elif of == "the " and aim and not found <= aim and _is_judged(selector):
            others = ", ".join(sorted(str(ref) for ref in found - aim)[:3])
            message = f"the {kind} also selects pods of {others}, which are not the target"
            yield message, _format_selector(selector), " or ".join(sorted(str(ref) for ref in aim))


def _is_judged(selector: Mapping[str, Any]) -> bool:
    return not _LIVE_PARTS & set(selector) and not LIVE & set(selector.get("fieldSelectors") or {})


class _FuturePod(NamedTuple):
    """A pod that a workload will create; ``names`` is the pattern of its name."""

    of: Reference
    object: Object
    names: str


def _list_future_pods(objects: Sequence[Object], app: App) -> Iterator[_FuturePod]:
    for obj in objects:
        if (made := _find_template(obj, app)) is None:
            continue
        ref, template = made
        name, replicas = obj["metadata"]["name"], int((obj.get("spec") or {}).get("replicas", 1))
        exact = {"Pod": "", "StatefulSet": f"-(?:{'|'.join(map(str, range(replicas)))})"}.get(obj["kind"], "-.+")
        metadata = {**(template.get("metadata") or {}), "name": name}
        metadata["namespace"] = obj["metadata"].get("namespace", app.namespace)
        pod = {"metadata": metadata, "spec": template.get("spec") or {}, "status": {"phase": "Running"}}
        yield _FuturePod(ref, pod, re.escape(f"{metadata['namespace']}/{name}") + exact)


def _can_be(name: str, pod: _FuturePod) -> bool:
    return re.fullmatch(pod.names, name) is not None


def _format_selector(selector: Mapping[str, Any]) -> str:
    """Format a selector for messages."""
    plain = {"matchLabels": selector.get("labelSelectors"), "matchExpressions": selector.get("expressionSelectors")}
    shown = [_format_requirements(plain)] if any(plain.values()) else []
    for field in ("annotationSelectors", "fieldSelectors"):
        shown += [f"{field} {key}={value}" for key, value in (selector.get(field) or {}).items()]
    shown += [f"phase {phase}" for phase in selector.get("podPhaseSelectors") or ()]
    return ", ".join(shown) or "every pod"


def _is_at_home(namespace: object, app: App) -> bool:
    return not namespace or symbolise_namespace(str(namespace), app.namespace) in ("app", *app.namespaces)


def _find_aimed(objects: Sequence[Object], target: Reference, app: App) -> set[Reference]:
    """Return the workloads of the target's pods; empty if the target has no pods."""
    own = {ref for ref, _ in _list_pods(objects, app) if (ref.kind, ref.name) == (target.kind, target.name)}
    if target.kind == "Service":
        return _map_services(objects, app).get(Reference("Service", target.name, target.namespace), set())
    return own


def _map_services(objects: Sequence[Object], app: App) -> dict[Reference, set[Reference]]:
    """Return the workloads that each Service of the app with a selector selects."""
    pods = [(ref, labels.items()) for ref, labels in _list_pods(objects, app)]
    found = {}
    for obj in objects:
        selector = (obj.get("spec") or {}).get("selector") if obj["kind"] == "Service" else None
        ref = make_reference(obj, app.namespace) if selector else None
        if selector and ref and ref.namespace in ("app", *app.namespaces):
            candidates = [(pod, labels) for pod, labels in pods if pod.namespace == ref.namespace]
            found[ref] = {pod for pod, labels in candidates if selector.items() <= labels}
    return found


def _list_pods(objects: Sequence[Object], app: App) -> Iterator[tuple[Reference, Mapping[str, Any]]]:
    """Yield each pod owner in the app's namespaces, with its pods' labels."""
    for obj in objects:
        if (made := _find_template(obj, app)) is not None:
            labels = (made[1].get("metadata") or {}).get("labels") or {}
            every = list_pod_labels(obj) if obj["kind"] in WORKLOADS else [labels]
            yield from ((made[0], each) for each in every)


def _find_template(obj: Object, app: App) -> tuple[Reference, Mapping[str, Any]] | None:
    """Return an object's reference and its pod template; None if it creates no pods in the app's namespaces."""
    if obj["kind"] not in POD_KINDS:
        return None
    ref, template = make_reference(obj, app.namespace), read_pod_template(obj)
    return (ref.groupless, template) if template and ref.namespace in ("app", *app.namespaces) else None


def _find_selected(objects: Sequence[Object], selector: Mapping[str, Any], app: App) -> set[Reference]:
    """Return the owners of pods that match a label selector; all of them if it is invalid."""
    try:
        desired = parse_object(selector)
    except ValueError:
        desired = frozenset()
    return {ref for ref, labels in _list_pods(objects, app) if admits(desired, labels)}


def _format_requirements(selector: Mapping[str, Any]) -> str:
    labels, tests = selector.get("matchLabels") or {}, selector.get("matchExpressions") or []
    shown = [f"{k}={v}" for k, v in labels.items()]
    shown += [f"{t.get('key')} {t.get('operator')} {','.join(t.get('values') or [])}".strip() for t in tests]
    return ", ".join(shown) or "every pod"
