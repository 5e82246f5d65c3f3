"""SK113, SK114, SK308, SK324, SK325, SK410: the alerts that a scenario expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.affected_objects import touches
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.name_fixes import fix_name, fix_reference
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.effect_proof import describe_repetition
from scenario_kit.load.yaml.edit import Drop, Put
from scenario_kit.model import AlertExpectation, AlertRule, App, Reference, Severity
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.simulation.observability import find_unheard

#: Worst-case delay by scraping and evaluation, in seconds, on top of an alert's range and `for`.
_SCRAPE_AND_EVALUATION = 2 * (GRID_SECONDS + GRID_SECONDS)


def _list_named(case: LintContext) -> Iterator[tuple[Place, str, Reference | None]]:
    """Yield place, name and entity of every alert that the file names."""
    spec = case.scenario.spec
    for i, alert in enumerate(spec.expect.alerts):
        yield ("spec", "expect", "alerts", i), alert.name, alert.entity
    for i, chronic in enumerate(spec.expect.background):
        yield ("spec", "expect", "background", i), chronic.name, chronic.entity
    for i, use in enumerate(spec.faults):
        if use.start.on_alert:
            yield ("spec", "faults", i, "start", "onAlert"), use.start.on_alert.name, use.start.on_alert.entity


@register_check("SK113")
def check_known_alerts(case: LintContext) -> Iterator[Problem]:
    if case.alerts is None:
        return
    packs = " and ".join(case.scenario.spec.app.alert_packs)
    for place, name, _ in _list_named(case):
        if name not in case.alerts:
            message = f"no rule of the alert packs ({packs}) is called '{name}'"
            edits = fix_name((*place, "name"), name, case.alerts)
            fix = _suggest_pack(name, case) or did_you_mean(name, case.alerts)
            yield Problem((*place, "name"), message, name, fix=fix, edits=() if name in fix else edits)


def _suggest_pack(name: str, case: LintContext) -> str:
    """Return how to load the pack that has an alert of this name; empty if there is none."""
    catalog, chosen = case.catalog, case.scenario.spec.app.alert_packs
    for pack in catalog.alert_packs():
        try:
            if any(known.name == name for known in catalog.alert_pack(pack)):
                packs = catalog.packs_with(chosen, pack)
                return f"the pack '{pack}' has it: write `alertPacks: [{', '.join(packs)}]` under spec.app"
        except AuthoringError:
            continue  # the pack has findings of its own
    return ""


@register_check("SK114")
def check_alert_entities(case: LintContext) -> Iterator[Problem]:
    if case.alerts is None or case.app is None:
        return
    for place, name, entity in _list_named(case):
        alert = case.alerts.get(name)
        if alert is not None and not entity and alert.entity is not None and case.objects is not None:
            if not list_possible_entities(case, alert):
                message = f"alert '{name}' is never about this app, which has no {alert.entity.kind}"
                yield Problem((*place, "name"), message, name, "an alert that could fire", "remove it")
            continue
        if alert is None or not entity:
            continue
        if alert.entity is None:
            message, edits = f"alert '{name}' names no entity", (Drop((*place, "entity")),)
            yield Problem((*place, "entity"), message, entity, "no `entity`", "remove `entity`", edits=edits)
            continue
        possible = list_possible_entities(case, alert)
        exists = case.objects is None or case.exists(entity)
        if entity.groupless not in possible or not exists:
            message = f"alert '{name}' is never about '{entity}'"
            names = list(possible)
            fix, edited = did_you_mean(entity, names), fix_reference((*place, "entity"), entity, names)
            yield Problem((*place, "entity"), message, entity, f"a {alert.entity.kind} of the app", fix, edits=edited)
        elif alert.entity.kind == "Component" and (silent := _find_unheard(case.app, alert, entity)):
            message = (
                f"alert '{name}' is never about '{entity}': according to twin.yaml, {silent} reports no such spans"
            )
            fix = "name its caller; if it does report them, correct twin.yaml (`telemetry`, `unsetStatus`)"
            yield Problem((*place, "entity"), message, entity, "a component with spans that the rule matches", fix)


def _find_unheard(app: App, alert: AlertRule, entity: Reference) -> str:
    """Return the component behind a workload if the rule never matches its spans; empty otherwise."""
    workload = entity.groupless
    names = [c.name for c in app.components if c.workload.groupless == workload]
    silent = find_unheard(alert.expr, app)
    return names[0] if names and silent.issuperset(names) else ""


def list_possible_entities(case: LintContext, alert: AlertRule) -> set[Reference]:
    """List objects that the alert can be about; workloads represent their pods."""
    assert alert.entity is not None
    assert case.app is not None
    kind = alert.entity.kind
    if kind == "Component":
        return {component.workload for component in case.app.components}
    kinds = WORKLOADS if kind == "Pod" else (kind,)
    return {r.groupless for r in (*case.known, *case.created) if r.kind in kinds}


@register_check("SK308")
def check_deadlines(case: LintContext) -> Iterator[Problem]:
    for i, expected in enumerate(case.scenario.spec.expect.alerts):
        alert = (case.alerts or {}).get(expected.name)
        if alert is None or expected.within_seconds is None or expected.alert_class != "MustFire":
            continue
        period = _find_period(case, expected)
        needed = period + alert.for_seconds + _SCRAPE_AND_EVALUATION
        if expected.within_seconds < needed:
            message = (
                f"`withinSeconds: {expected.within_seconds}` is too short for '{expected.name}', which needs {needed}"
                + (f", as its fault first occurs {period} s after the injection" if period else "")
            )
            place = ("spec", "expect", "alerts", i, "withinSeconds")
            fix = f"write at least {needed + alert.range_seconds}, or remove it"
            edits = (Put(place, needed + alert.range_seconds),)
            yield Problem(place, message, str(expected.within_seconds), f"at least {needed}", fix, edits=edits)


def _find_period(case: LintContext, expected: AlertExpectation) -> int:
    """Return the period of the fault from whose injection a deadline counts; 0 if it occurs once, or is one of several.

    Nothing happens before its first occurrence, which is one period after its injection.
    """
    faults = case.scenario.spec.faults
    counted = next((use for use in faults if use.name == expected.after or len(faults) == 1), None)
    return counted.recurrence.every_seconds if counted is not None and counted.recurrence else 0


@register_check("SK324")
def check_must_fire(case: LintContext) -> Iterator[Problem]:
    spec = case.scenario.spec
    if spec.expect.silent:
        yield from _check_silent(case)
    elif spec.ground_truth.outcome == "Incident" and not any(a.alert_class == "MustFire" for a in spec.expect.alerts):
        severity = Severity.ERROR if case.merged else Severity.WARNING
        yield Problem(("spec", "expect"), "no expected alert has the class MustFire", severity=severity)


def _check_silent(case: LintContext) -> Iterator[Problem]:
    """Check that expected checks show a silent incident by its consequences."""
    spec = case.scenario.spec
    changes = [change for fault in case.faults.values() for change in fault.changes]
    place = ("spec", "expect", "silent")
    if spec.ground_truth.outcome != "Incident":
        message, fix = f"with outcome {spec.ground_truth.outcome}, `silent` has no meaning", "remove `silent`"
        yield Problem(place, message, fix=fix)
    elif not spec.expect.signs:
        message = "a silent incident has no check that shows it"
        fix = "add a check to expect.checks that holds only while the fault is active"
        yield Problem(place, message, expected="a check without `stays`", fix=fix)
    elif reported := describe_repetition(spec.expect.signs, changes):
        message = "the checks that show a silent incident only repeat what the faults write"
        fix = "add a check of what follows from it: a `query` of telemetry, a `probe`, `endpoints`, a `log`"
        yield Problem(("spec", "expect", "checks"), message, reported, "a check of a consequence", fix)
    for i, alert in enumerate(spec.expect.alerts):
        if alert.alert_class == "MustFire":
            message = f"'{alert.name}' must fire, but the incident is declared as silent"
            yield Problem(("spec", "expect", "alerts", i), message, fix="remove `silent`, or this alert")


@register_check("SK325")
def check_contradictions(case: LintContext) -> Iterator[Problem]:
    seen: dict[tuple[str, str], str] = {}
    alerts = case.scenario.spec.expect.alerts
    yield from _check_deadlines_twice(alerts)
    for i, alert in enumerate(alerts):
        place = ("spec", "expect", "alerts", i)
        other = seen.setdefault((alert.name, alert.entity.groupless if alert.entity else ""), alert.alert_class)
        if other != alert.alert_class:
            message = (
                f"'{alert.name}'{f' on {alert.entity}' if alert.entity else ''} is {other} and {alert.alert_class}"
            )
            yield Problem(place, message, alert.alert_class, other)
        elif alert.alert_class == "MustFire" and alert.entity and seen.get((alert.name, "")) == "MustNotFire":
            yield Problem(place, f"'{alert.name}' must fire on {alert.entity}, but must not fire on any object")
    for i, alert in enumerate(alerts):
        named = [a.entity for a in alerts[:i] if (a.name, a.alert_class) == (alert.name, "MustFire") and a.entity]
        if alert.alert_class == "MustNotFire" and not alert.entity and named:
            message = f"'{alert.name}' must not fire on any object, but must fire on {named[0]}"
            yield Problem(("spec", "expect", "alerts", i), message)
    for i, chronic in enumerate(case.scenario.spec.expect.background):
        judged = [a for a in alerts if a.name == chronic.name and a.alert_class != "MayFire"]
        for alert in (a for a in judged if not chronic.entity or not a.entity or a.entity.is_same(chronic.entity)):
            where = f" on {alert.entity}" if alert.entity else ""
            message = f"'{alert.name}'{where} is {alert.alert_class}, but is declared as a background alert"
            yield Problem(("spec", "expect", "background", i), message, "background", alert.alert_class)


def _check_deadlines_twice(alerts: Sequence[AlertExpectation]) -> Iterator[Problem]:
    """Report alerts that must fire within two different deadlines."""
    seen: dict[tuple[str, str], AlertExpectation] = {}
    for i, alert in enumerate(alerts):
        if alert.alert_class != "MustFire":
            continue
        other = seen.setdefault((alert.name, alert.entity.groupless if alert.entity else ""), alert)
        if (alert.within_seconds, alert.after) != (other.within_seconds, other.after):
            reported = (
                f"'{alert.name}'{f' on {alert.entity}' if alert.entity else ''} must fire by two different deadlines"
            )
            yield Problem(
                ("spec", "expect", "alerts", i), reported, _format_due(alert), _format_due(other), "keep one of them"
            )


def _format_due(alert: AlertExpectation) -> str:
    within = f"within {alert.within_seconds} s" if alert.within_seconds else "by the default of its rule"
    return f"{within}, counted from {alert.after or 'the last fault'}"


@register_check("SK410")
def check_counted_after(case: LintContext) -> Iterator[Problem]:
    roles = {use.name: use.role for use in case.scenario.spec.faults}
    yield from _check_distractors(case, roles)
    for i, alert in enumerate(case.scenario.spec.expect.alerts):
        if alert.alert_class == "MustFire" and alert.after and roles.get(alert.after) == "Distractor":
            message = f"'{alert.name}' counts from '{alert.after}', a Distractor, which raises no alert"
            labelled = [name for name, role in roles.items() if role in LABELLED]
            yield Problem(("spec", "expect", "alerts", i, "after"), message, alert.after, " or ".join(labelled))


def _check_distractors(case: LintContext, roles: Mapping[str, str]) -> Iterator[Problem]:
    """Check that alerts declared for a distractor are on its own objects; elsewhere they would hide its harm."""
    if case.app is None or case.objects is None or case.scenario.spec.ground_truth.outcome != "Incident":
        return
    for i, alert in enumerate(case.scenario.spec.expect.alerts):
        fault = case.faults.get(alert.after)
        if fault is None or roles.get(alert.after) != "Distractor" or alert.alert_class != "MayFire":
            continue
        if not alert.entity or not touches(fault, case.objects, case.app, alert.entity):
            reported = f"on '{alert.entity}'" if alert.entity else "without `entity`"
            message = (
                f"'{alert.name}' {reported} counts from '{alert.after}', a Distractor, which changes no such object"
            )
            fix = f"write `entity: {fault.target.groupless}`, or remove `after`"
            yield Problem(("spec", "expect", "alerts", i), message, alert.entity or "", fault.target.groupless, fix)
