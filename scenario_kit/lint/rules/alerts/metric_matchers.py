"""SK118, SK119: matchers in checks, compared with the objects of the app."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.name_fixes import fix_reference
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.rules.alerts.promql import Matcher, list_matchers, split_alternatives
from scenario_kit.lint.rules.alerts.queries import PATTERNS, check_expression, check_pattern, check_series
from scenario_kit.lint.simulation.applied_changes import find_result
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.pod_template import POD_KINDS, read_pod_spec
from scenario_kit.model.kubernetes.reference import make_reference
from scenario_kit.model.re2 import compile_pattern
from scenario_kit.model.spelling import did_you_mean, find_only

#: Labels that name an object, with its kind.
_KINDS: Final = {
    "deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet", "service": "Service",
    "horizontalpodautoscaler": "HorizontalPodAutoscaler", "persistentvolumeclaim": "PersistentVolumeClaim",
    "configmap": "ConfigMap", "secret": "Secret", "cronjob": "CronJob", "resourcequota": "ResourceQuota",
}  # fmt: skip
#: Suffixes of pod names by the kind of owner, as a regular expression and as an example.
_TAILS: Final = {
    "Deployment": ("-[a-z0-9]+-[a-z0-9]+", "-5d8f9c7b6d-x7k2p"), "StatefulSet": ("-[0-9]+", "-0"),
    "DaemonSet": ("-[a-z0-9]+", "-x7k2p"), "Job": ("-[a-z0-9]+", "-x7k2p"),
    "CronJob": ("-[0-9]+-[a-z0-9]+", "-29385600-x7k2p"), "Pod": ("", ""),
}  # fmt: skip
#: Fields of checks that reference an object.
_REFERENCES: Final = (("object", "ref"), ("endpoints", "service"), ("event", "entity"), ("log", "entity"))
_LITERAL: Final = re.compile(r"[A-Za-z0-9_-]*")


class LabelValue(NamedTuple):
    """A name that a label can have: the object's name, an example of the label's value, and a pattern for it alone."""

    name: str
    value: str
    pattern: str


@register_check("SK118")
def check_matchers(case: LintContext) -> Iterator[Problem]:
    known = None
    for place, text in _list_check_texts(case):
        if place[-1] == "expr" and case.objects is not None:
            known = known or _TelemetryNames.of(case.objects, case.app)
            yield from _check_too_wide(place, text, known)
        elif place[-1] in PATTERNS and _matches_all(text):
            yield Problem(place, f"'{text}' matches every text", text, "an expression for what is looked for")


@register_check("SK118", "Fault")
@report_once("place", "message")
def check_matchers_of_type(case: FaultCase) -> Iterator[Problem]:
    """Report a filter that also matches other objects."""
    for place, expr, known in _render_queries(case):
        yield from _drop_edits(_check_too_wide(place, expr, known))


@register_check("SK119")
def check_narrow(case: LintContext) -> Iterator[Problem]:
    if case.objects is None or case.app is None:
        return
    known = None
    whole = len(case.faults) == len(case.scenario.spec.faults)  # a fault that failed to render may create it
    for place, text in _list_check_texts(case):
        if place[-1] == "expr":
            yield from check_series(place, text)
        if place[-1] == "expr" and whole:
            if known is None:
                made = _apply_changes(
                    case.objects, case.app, [c for fault in case.faults.values() for c in fault.changes]
                )
                known = _TelemetryNames.of(made, case.app)
            yield from _check_too_narrow(place, text, known)
        elif "until" in place and place[-2:] in _REFERENCES:  # SK134 covers expected checks
            yield from _check_absent(case, place, text)


@register_check("SK119", "Fault")
@report_once("place", "message")
def check_narrow_of_type(case: FaultCase) -> Iterator[Problem]:
    """Report a check of an object that does not exist."""
    for place, expr, known in _render_queries(case):
        yield from check_series(place, expr)
        yield from _drop_edits(_check_too_narrow(place, expr, known))


@register_check("SK117", "Fault")
@report_once("place", "message")
def check_unreadable_of_type(case: FaultCase) -> Iterator[Problem]:
    for place, expr, _ in _render_queries(case):
        yield from check_expression(place, expr)
    for place, text in _list_patterns(case):
        yield from check_pattern(place, text)


def _list_check_texts(case: LintContext) -> Iterator[tuple[Place, str]]:
    """Yield place and value of every text in a check of the file."""
    return ((place, text) for place, text in case.positions.texts.items() if "checks" in place or "check" in place)


def _check_absent(case: LintContext, place: Place, text: str) -> Iterator[Problem]:
    try:
        ref = Reference.parse(text)
    except ValueError:
        return  # the schema reports it
    generated = any(e.generated for fault in case.faults.values() for e in fault.entities)
    if case.exists(ref) or ref.kind in ("Pod", "ReplicaSet", "EndpointSlice", "Job") or (ref.group and generated):
        return  # names generated by controllers, or by faults
    names = case.names(ref.kind) or case.names()
    message = f"the check reads '{text}', which is not an object of {case.scenario.spec.app.name}"
    yield Problem(place, message, text, fix=did_you_mean(text, names), edits=fix_reference(place, ref, names))


def _render_queries(case: FaultCase) -> Iterator[tuple[Place, str, _TelemetryNames]]:
    """Yield place, expression and known names for each query of each rendering."""
    for rendering, fault in case.list_rendered():
        known = _TelemetryNames.of(_apply_changes(rendering.objects, rendering.app, fault.changes), rendering.app)
        for place, check in rendering.checks():
            if check.query:
                yield (*place, "query", "expr"), check.query.expr, known


def _list_patterns(case: FaultCase) -> Iterator[tuple[Place, str]]:
    """Yield place and text of each regular expression in a check of each rendering."""
    for rendering in case.renderings:
        for place, check in rendering.checks():
            if check.object and check.object.matches is not None:
                yield (*place, "object", "matches"), check.object.matches
            if check.event:
                yield (*place, "event", "messageMatches"), check.event.message_matches
            if check.log:
                yield (*place, "log", "pattern"), check.log.pattern


def _apply_changes(objects: Sequence[Object], app: App, changes: Sequence[Change]) -> Sequence[Object]:
    """Return the objects before and after the changes: checks may still read what is deleted."""
    kept = {id(obj) for obj in objects}
    return (*objects, *(obj for obj in find_result(objects, changes, app) if id(obj) not in kept))


def _drop_edits(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Drop the edits of problems in a template."""
    return (problem._replace(edits=()) for problem in problems)


class _TelemetryNames:
    """Names that the labels of telemetry can have in an app."""

    def __init__(self, by_label: Mapping[str, list[LabelValue]]) -> None:
        self.by_label = by_label

    @classmethod
    def of(cls, objects: Sequence[Object], app: App | None) -> _TelemetryNames:
        """Collect the names of these objects in telemetry."""
        found: dict[str, list[LabelValue]] = {label: [] for label in (*_KINDS, "pod", "container")}
        if app is not None:
            found["service_name"] = [_build_plain(component.name) for component in app.components]
        for obj in objects:
            ref = make_reference(obj, app.namespace if app else "")
            for label, kind in _KINDS.items():
                if ref.kind == kind:
                    found[label].append(_build_plain(ref.name))
            if ref.kind in _TAILS:
                pattern, example = _TAILS[ref.kind]
                found["pod"].append(LabelValue(ref.name, ref.name + example, ref.name + pattern))
            for container in _list_containers(obj):
                found["container"].append(_build_plain(str(container.get("name", ""))))
                if app is not None:  # the process may report under another name
                    found["service_name"] += [_build_plain(name) for name in _list_reported(container)]
        return cls({label: names for label, names in found.items() if names})


def _build_plain(name: str) -> LabelValue:
    return LabelValue(name, name, name)


def _list_reported(container: Mapping[str, Any]) -> Iterator[str]:
    for variable in container.get("env") or ():
        if str(variable.get("name", "")).endswith("SERVICE_NAME") and variable.get("value"):
            yield str(variable["value"])


def _list_containers(obj: Object) -> Iterator[Mapping[str, Any]]:
    if obj["kind"] in POD_KINDS:
        pod = read_pod_spec(obj)
        yield from (*(pod.get("initContainers") or ()), *(pod.get("containers") or ()))


def _check_too_wide(place: Place, expr: str, known: _TelemetryNames) -> Iterator[Problem]:
    for matcher in list_matchers(expr):
        names = known.by_label.get(matcher.label, [])
        if matcher.operator not in ("=~", "!~") or not names:
            continue
        parts = split_alternatives(matcher.value)
        for i, part in enumerate(parts):
            stem = _LITERAL.match(part)
            own = next((n for n in names if stem and n.name == stem[0].rstrip("-")), None)
            hit = [n.name for n in names if _matches_fully(part, n.value)]
            others = sorted({name for name in hit if own and name != own.name and name not in parts})
            if own is None or own.name not in hit or not others:
                continue
            desired = "|".join([*parts[:i], own.pattern, *parts[i + 1 :]])
            message = f'`{matcher.label}{matcher.operator}"{part}"` also matches {", ".join(others[:3])}'
            fix = f'write `{matcher.label}{matcher.operator}"{desired}"`'
            yield Problem(place, message, part, own.pattern, fix, edits=_suggest_value(place, expr, matcher, desired))


def _check_too_narrow(place: Place, expr: str, known: _TelemetryNames) -> Iterator[Problem]:
    for matcher in list_matchers(expr):
        names = known.by_label.get(matcher.label, [])
        if matcher.operator not in ("=", "=~") or not names or not matcher.value or "{{" in matcher.value:
            continue
        parts = split_alternatives(matcher.value) if matcher.operator == "=~" else [matcher.value]
        for i, part in enumerate(parts):
            exact = matcher.operator == "=" or part == re.escape(part)
            if any(part == n.value or (not exact and _matches_fully(part, n.value)) for n in names):
                continue
            if exact and matcher.label == "pod" and part not in [n.name for n in names]:
                continue  # a single pod's name, known only in a cluster
            stem = part if exact else (_LITERAL.match(part) or [""])[0].rstrip("-")
            meant = next((n for n in names if n.name == stem), None) or _find_close(stem, names)
            edits: tuple[Edit, ...] = ()
            if meant:
                edits = _suggest_value(place, expr, matcher, "|".join([*parts[:i], meant.pattern, *parts[i + 1 :]]))
            message = f'`{matcher.label}{matcher.operator}"{part}"` matches no object of the app'
            fix = f"write `{meant.pattern}`" if meant else did_you_mean(stem, {n.name for n in names})
            yield Problem(place, message, part, "the name of an object", fix, edits=edits)


def _find_close(stem: str, names: Sequence[LabelValue]) -> LabelValue | None:
    meant = find_only(stem, {n.name for n in names})
    return next((n for n in names if n.name == meant), None)


def _suggest_value(place: Place, expr: str, matcher: Matcher, value: str) -> tuple[Edit, ...]:
    return (Put(place, expr[: matcher.start] + value + expr[matcher.end :]),)


def _matches_fully(expression: str, text: str) -> bool:
    try:
        return compile_pattern(expression).matches(text)
    except ValueError:
        return False  # reported by Prometheus, or by SK117 for other patterns


def _matches_all(expression: str) -> bool:
    try:
        return compile_pattern(expression).found_in("") and compile_pattern(expression).found_in("\x00")
    except ValueError:
        return False  # SK117
