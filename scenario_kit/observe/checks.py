"""Evaluate checks, which show that a fault is effective or gone: True, False, or Unknown without evidence."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from scenario_kit.errors import AuthoringError, InfrastructureError, KitError, NotFound
from scenario_kit.model import Check, CheckResult, Reference
from scenario_kit.model.authored.check import EndpointsCheck, EventCheck, LogCheck, ObjectCheck, QueryCheck
from scenario_kit.model.re2 import compile_pattern
from scenario_kit.model.runtime.observation import Answer
from scenario_kit.observe.compare import describe_expectation, matches_object
from scenario_kit.observe.entities import list_owned_pods
from scenario_kit.observe.jsonpath import find
from scenario_kit.observe.probing import describe_expected, probe
from scenario_kit.observe.rules import scope
from scenario_kit.ports import Cluster, Metrics

_COMPARISONS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "GreaterThan": ("greater than", operator.gt),
    "LessThan": ("less than", operator.lt),
    "AtLeast": ("at least", operator.ge),
    "AtMost": ("at most", operator.le),
    "Equal": ("equal to", operator.eq),
}
#: Suffixes that controllers append to the name of a workload for pods and their owners.
_GENERATED_SUFFIX: Final = re.compile(r"(-[a-z0-9]{1,10}){1,2}")
_Outcome = tuple[Answer, str, str]  # answer, observed, expected
_NONE: Final[Mapping[str, str]] = {}


class _Names(NamedTuple):
    """The real namespaces of the app; ``others`` maps symbolic to real names."""

    app: str
    others: Mapping[str, str]

    def resolve(self, ref: Reference) -> Reference:
        return ref.within(self.app, self.others)


def evaluate_check(
    check: Check,
    cluster: Cluster,
    metrics: Metrics,
    namespace: str,
    now: float,
    *,
    since: float = 0.0,
    others: Mapping[str, str] = _NONE,
) -> CheckResult:
    """Evaluate a check at ``now`` for the app in ``namespace``, ignoring log lines before ``since``.

    ``others`` maps the app's additional namespaces from symbolic to real names. If infrastructure does not answer, the
    result is Unknown, with the reason in ``observed``.

    Raises:
        AuthoringError: invalid PromQL, reference, path or pattern.
    """
    try:
        answer, observed, expected = _evaluate(check, cluster, metrics, _Names(namespace, others), now, since)
    except InfrastructureError as error:
        answer, observed, expected = "Unknown", error.message, "an answer"
    except ValueError as error:
        raise AuthoringError(f"{describe(check)}: {error}", fix="correct the check in the fault or scenario") from error
    return CheckResult(
        answer=answer, at=now, observed=observed, expected=expected, describe=check.describe or describe(check)
    )


def describe(check: Check) -> str:
    """Describe a check whose author gave no description."""
    if check.object:
        return f"{check.object.ref}: {describe_expectation(check.object)}"
    if check.endpoints:
        return f"endpoints of {check.endpoints.service}: {_format_bounds(check.endpoints)}"
    if check.query:
        return f"{check.query.expr} {_format_threshold(check.query)}"
    if check.event:
        return f"event {check.event.reason} on {check.event.entity}"
    if check.log:
        return f"log line '{check.log.pattern}' of {check.log.entity}"
    if check.probe:
        where = f"port {check.probe.port} of {check.probe.target}" + (
            f", {check.probe.path}" if check.probe.path else ""
        )
        return f"{where}: {describe_expected(check.probe)}"
    raise KitError("a check without a condition")


def _evaluate(check: Check, cluster: Cluster, metrics: Metrics, names: _Names, now: float, since: float) -> _Outcome:
    if check.object:
        return _evaluate_object(check.object, cluster, names)
    if check.endpoints:
        return _evaluate_endpoints(check.endpoints, cluster, names)
    if check.query:
        return _evaluate_query(check.query, metrics, names, now)
    if check.event:
        return _evaluate_event(check.event, cluster, names)
    if check.log:
        return _evaluate_log(check.log, cluster, names, since)
    if check.probe:
        return probe(check.probe, names.resolve(check.probe.target), cluster)
    raise KitError("a check without a condition")


def _evaluate_object(check: ObjectCheck, cluster: Cluster, names: _Names) -> _Outcome:
    obj = cluster.get(names.resolve(check.ref))
    values = [] if obj is None else find(obj, check.path)
    shown = ", ".join(repr(v) for v in values) if check.path else "it exists"
    observed = f"{check.ref} does not exist" if obj is None else shown or f"no {check.path}"
    return _convert_answer(matches_object(check, obj)), observed[:500], describe_expectation(check)


def _evaluate_endpoints(check: EndpointsCheck, cluster: Cluster, names: _Names) -> _Outcome:
    ref = names.resolve(check.service)
    slices = cluster.list("EndpointSlice", ref.namespace, labels={"kubernetes.io/service-name": ref.name})
    ready = {
        address
        for s in slices
        for endpoint in s.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint.get("addresses", ())
    }
    low = check.at_least is None or len(ready) >= check.at_least
    high = check.at_most is None or len(ready) <= check.at_most
    return _convert_answer(low and high), f"{len(ready)} ready addresses", _format_bounds(check)


def _evaluate_query(check: QueryCheck, metrics: Metrics, names: _Names, now: float) -> _Outcome:
    result = metrics.instant(scope(check.expr, names.app, *names.others.values()), now)
    values = [value for series in result for _, value in series.points if not math.isnan(value)]
    if not values:
        answer: Answer = "True" if check.empty == "True" else "False" if check.empty == "False" else "Unknown"
        return answer, "no data", _format_threshold(check)
    _, holds = _COMPARISONS[check.is_]
    largest = max(values)
    return _convert_answer(holds(largest, check.value / check.scale)), f"{largest:g}", _format_threshold(check)


def _evaluate_event(check: EventCheck, cluster: Cluster, names: _Names) -> _Outcome:
    ref = names.resolve(check.entity)
    pods = {p["metadata"]["name"] for p in list_owned_pods(cluster, ref)}
    with_reason = [e for e in cluster.list("Event", ref.namespace) if e.get("reason") == check.reason]
    texts = [str(e.get("message", "")) for e in with_reason if _concerns(e["involvedObject"], ref, pods)]
    hits = [text for text in texts if compile_pattern(check.message_matches).found_in(text)]
    expected = f"an event {check.reason}" + (f" matching '{check.message_matches}'" if check.message_matches else "")
    return _convert_answer(bool(hits)), (hits or texts or ["no such event"])[0][:300], expected


def _concerns(involved: dict[str, str], ref: Reference, pods: set[str]) -> bool:
    """Return whether an event concerns a workload or its pods, including deleted ones, by name."""
    kind, name = involved.get("kind", ""), involved.get("name", "")
    if (kind, name) == (ref.kind, ref.name) or (kind == "Pod" and name in pods):
        return True
    generated = kind in ("Pod", "ReplicaSet", "Job") and ref.kind not in ("Pod", "Service")
    return (
        generated and name.startswith(f"{ref.name}-") and _GENERATED_SUFFIX.fullmatch(name[len(ref.name) :]) is not None
    )


def _evaluate_log(check: LogCheck, cluster: Cluster, names: _Names, since: float) -> _Outcome:
    pattern = compile_pattern(check.pattern)
    lines = 0
    for pod in list_owned_pods(cluster, names.resolve(check.entity)):
        try:
            found = cluster.logs(pod, since=since)
        except NotFound:
            continue  # replaced between listing and reading
        lines += len(found)
        for line in found:
            if pattern.found_in(line.text):
                return "True", line.text[:300], f"a line matching '{check.pattern}'"
    return "False", f"none of {lines} lines", f"a line matching '{check.pattern}'"


def _convert_answer(holds: bool) -> Answer:
    return "True" if holds else "False"


def _format_bounds(check: EndpointsCheck) -> str:
    low = f"at least {check.at_least}" if check.at_least is not None else ""
    high = f"at most {check.at_most}" if check.at_most is not None else ""
    return " and ".join(b for b in (low, high) if b)


def _format_threshold(check: QueryCheck) -> str:
    words, _ = _COMPARISONS[check.is_]
    return f"{words} {check.value / check.scale:g}"
