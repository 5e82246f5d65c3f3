"""SK128: faults that end before the trial has observed their effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scenario_kit.changes.chaos import parse_experiment_duration
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import AlertRule, Change, Fault
from scenario_kit.model.authored.scenario import LABELLED, FaultUse
from scenario_kit.model.chaos.reach import is_chaos
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.render.scenarios.time_windows import compute_windows


class TimeLimit(NamedTuple):
    """The field of a change that limits its duration: name, text and seconds."""

    field: str
    text: str
    seconds: float


@register_check("SK128")
def check_expiring(case: LintContext) -> Iterator[Problem]:
    needed = _compute_needed(case)
    for i, use in enumerate(case.scenario.spec.faults):
        if use.lasts_seconds is not None and use.role in LABELLED:
            yield _report_ending_cause(i, use)
            continue
        if not needed or use.role in ("Trigger", "Distractor") or use.name not in case.faults:
            continue
        fault = case.faults[use.name]
        for change in fault.changes:
            limit = _limit(change, fault)
            if limit is None or limit.seconds >= needed:
                continue
            name = _find_parameter(case, use, limit)
            place = ("spec", "faults", i, "parameters", name) if name else ("spec", "faults", i, "type")
            message = f"fault '{use.name}' ends after {limit.text} (`{limit.field}`), before its alerts have held"
            fix = f"write `{name}: {needed}` or more" if name else ""
            edits: tuple[Edit, ...] = ()
            if name:
                edits = (Put(place, needed) if use.parameters else Put(place[:-1], {name: needed}),)
            yield Problem(place, message, limit.text, f"{needed} seconds, or no end", fix, edits=edits)


def _report_ending_cause(number: int, use: FaultUse) -> Problem:
    """Report a cause that is removed by `lastsSeconds`, so that nothing needs a repair."""
    return Problem(
        ("spec", "faults", number, "lastsSeconds"),
        f"fault '{use.name}' is a cause, but is removed after {use.lasts_seconds} s",
        use.role,
        "a cause that lasts until it is repaired",
        "remove `lastsSeconds`, or give it the role Trigger or Distractor",
    )


def _compute_needed(case: LintContext) -> int:
    """Return the seconds from injection to the end of hold if the slowest must-fire alert is just in time; else 0."""
    spec = case.scenario.spec
    known = case.alerts or {}
    expected = [alert for alert in spec.expect.alerts if alert.alert_class == "MustFire"]
    must = [alert.within_seconds or spec.period + _measure_response(known.get(alert.name)) for alert in expected]
    return (
        max(must) + compute_windows(tuple(known.values()), spec.expect, spec.period).hold
        if must and spec.ground_truth.outcome == "Incident"
        else 0
    )


def _measure_response(known: AlertRule | None) -> int:
    return known.response_seconds if known else 0


def _limit(change: Change, fault: Fault) -> TimeLimit | None:
    manifest = change.operation.manifest or {}
    if is_chaos(manifest):
        seconds = parse_experiment_duration(manifest)  # SK127 reports an invalid one
        return None if seconds is None else TimeLimit("duration", str(manifest["spec"]["duration"]), seconds)
    return find_deadline(change, fault)


def find_deadline(change: Change, fault: Fault) -> TimeLimit | None:
    """Return the deadline of a Job or pod that a change creates as a cause; None if it has none."""
    manifest = change.operation.manifest or {}
    if manifest.get("kind") not in ("Job", "Pod") or not _is_cause(manifest, fault):
        return None
    specs = (manifest.get("spec") or {}, read_pod_spec(manifest))
    limits = [n for spec in specs if isinstance(n := spec.get("activeDeadlineSeconds"), int)]
    return TimeLimit("activeDeadlineSeconds", f"{min(limits)}s", min(limits)) if limits else None


def _is_cause(manifest: Mapping[str, Any], fault: Fault) -> bool:
    name = manifest["metadata"]["name"]
    return any(cause.ref.endswith(f"/{name}") for cause in fault.causes)


def _find_parameter(case: LintContext, use: FaultUse, limit: TimeLimit) -> str:
    """Return the fault's parameter whose value is the limit in seconds; empty if there is not exactly one."""
    known: Mapping[str, Any] = case.types[use.type].parameters.get("properties", {})
    values = {name: use.parameters.get(name, part.get("default")) for name, part in known.items()}
    same = [name for name, value in values.items() if type(value) is int and value == limit.seconds]
    return same[0] if len(same) == 1 else ""
