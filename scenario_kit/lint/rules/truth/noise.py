"""SK136, SK137: background noise that cannot be executed, or interferes with the incident."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.affected_objects import find_components
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.model import App, Change, Fault, Reference
from scenario_kit.model.authored.noise import Noise
from scenario_kit.render.scenarios.noise import GRID, build_sources

#: Roles whose replicas do not share their work.
_SINGLE: Final = ("Store", "Queue", "Flags", "Load", "Platform")
#: Kinds that apply to every new pod of the namespace.
_ALL_PODS: Final = ("ResourceQuota", "LimitRange", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@register_check("SK136")
def check_playable(case: LintContext) -> Iterator[Problem]:
    if case.app is None or case.objects is None:
        return
    lasting: dict[str, str] = {}
    for i, noise in enumerate(case.scenario.spec.noise):
        place = ("spec", "noise", i)
        try:
            build_sources([noise], case.app, case.objects, case.app.namespace, case.scenario.spec.app.load.users)
        except AuthoringError as error:
            for found in error.findings:
                yield Problem(place, found.message, found.observed, found.expected, found.fix)
            continue
        longest = noise.every_seconds * (100 - 2 * noise.jitter_percent) // 100 - GRID
        if noise.for_seconds > longest:
            message = f"noise '{noise.name}' may recur before it has ended"
            fix = "lower forSeconds or jitterPercent, or raise everySeconds"
            yield Problem(place, message, f"{noise.for_seconds} s", f"at most {longest} s", fix)
        if reason := _explain_unfit(case, case.app, noise):
            yield Problem(place, f"noise '{noise.name}' {reason}", fix="target a stateless workload of the app")
        if noise.for_seconds:
            what = noise.target or "load"
            if what in lasting:
                message = f"noise '{noise.name}' and '{lasting[what]}' set the same number"
                yield Problem(place, message, what, "one of them", "remove one")
            lasting.setdefault(what, noise.name)


def _explain_unfit(case: LintContext, app: App, noise: Noise) -> str:
    roles = {c.role for c in app.components if noise.target and c.workload.is_same(noise.target)}
    if noise.restart is not None and "Load" in roles:
        return "restarts the load generator, which interrupts all traffic"
    if noise.scale is None:
        return ""
    if roles & set(_SINGLE):
        return f"scales {noise.target}, whose replicas do not share its work"
    scaled = [o["spec"]["scaleTargetRef"] for o in case.objects or () if o["kind"] == "HorizontalPodAutoscaler"]
    if any(noise.scale.target.is_same(Reference(r["kind"], r["name"])) for r in scaled):
        return f"scales {noise.target}, which an autoscaler scales"
    return ""


@register_check("SK137")
def check_separate(case: LintContext) -> Iterator[Problem]:
    if case.app is None:
        return
    for i, noise in enumerate(case.scenario.spec.noise):
        for name, fault in case.faults.items():
            if reason := _explain_overlap(case.app, noise, fault):
                message = f"noise '{noise.name}' and fault '{name}': {reason}"
                yield Problem(("spec", "noise", i), message, noise.target or "load")
                break
        else:
            for procedure in case.procedures():
                if noise.scale and any(_writes(c, noise.scale.target) for c in procedure.changes):
                    message = f"noise '{noise.name}' scales what {procedure.kind} '{procedure.name}' changes"
                    yield Problem(("spec", "noise", i), message, noise.scale.target)


def _writes(change: Change, target: Reference) -> bool:
    ref = change.operation.ref
    return not change.operation.restarts and ref is not None and ref.is_same(target)


def _explain_overlap(app: App, noise: Noise, fault: Fault) -> str:
    if not noise.target:
        return _explain_load_change(app, fault)
    if fault.scope == "Cluster" or fault.target.kind in ("Node", "Namespace"):
        return "the fault affects every workload, so there is none beside it"
    created = {body["kind"] for c in fault.changes if (body := c.operation.resource)}
    if created & set(_ALL_PODS):
        return "what it creates applies to every new pod, including those of the noise"
    mine = find_components(app, noise.target)
    touches = mine & _list_touched(app, fault) or any(noise.target.is_same(r) for r in _list_references(fault))
    return f"both touch {noise.target}" if touches else ""


def _explain_load_change(app: App, fault: Fault) -> str:
    """Explain why the load must not change while the fault is active; empty if it may."""
    touched = _list_touched(app, fault)
    if any(c.role == "Load" and c.name in touched for c in app.components):
        return "both change the load"
    if app.flags is None or app.load is None or not app.load.users.flag:
        return ""
    store = Reference("ConfigMap", app.flags.config_map)
    service = {name for workload in app.flags.restart for name in find_components(app, workload)}
    both = touched & service or any(store.is_same(ref) for ref in _list_references(fault))
    return f"both change feature flags: {app.name} {app.version} sets the number of users by a flag" if both else ""


def _list_references(fault: Fault) -> set[Reference]:
    """Return the objects that a fault targets, writes or restarts."""
    written = {ref for c in fault.changes if (ref := c.operation.ref)}
    restarted = fault.callers if fault.rollout.reconnect == "Callers" else ()
    return {fault.target, *written, *(e.ref for e in fault.entities), *restarted}


def _list_touched(app: App, fault: Fault) -> set[str]:
    return {name for ref in _list_references(fault) for name in find_components(app, ref)}
