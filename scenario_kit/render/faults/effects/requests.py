"""Effect checks on requests, based on span metrics.

A fault behind a queue or a cache may cause errors, missing requests or latency, depending on the client. Most checks
therefore accept any of these, sustained for longer than a restart takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.model import Object
from scenario_kit.model.authored.effect_check import (
    LatencyRises,
    RequestsDrop,
    RequestsFail,
    RequestsSlowOrFail,
    RequestsStop,
    RequestsSucceed,
    TargetFails,
    Whose,
)
from scenario_kit.model.grid import GRID_DURATION
from scenario_kit.render.faults.component_lookups import list_dependants
from scenario_kit.render.faults.effects.subject import EffectSubject

_CALLS: Final = "traces_span_metrics_calls_total"
_DURATION: Final = "traces_span_metrics_duration_milliseconds"
_ERROR: Final = 'status_code="STATUS_CODE_ERROR"'
#: The evaluation grid of rules, and the subquery window in which an effect must be sustained.
_GRID: Final = GRID_DURATION
_SUSTAINED: Final = f"[2m:{_GRID}]"


def build_requests_fail(check: RequestsFail, subject: EffectSubject) -> Object:
    """Build the check that requests fail or stop."""
    names = check.components or _list_components(check.whose, subject)
    return _equal_one(_sustain(_fail_or_stop(names)))


def build_requests_stop(check: RequestsStop, subject: EffectSubject) -> Object:
    """Build the check that the target receives no requests, or that requests of its dependants fail or stop."""
    own = subject.component_of(subject.target)
    others = _fail_or_stop(list_dependants(subject.app, own))
    noticed = _sustain(others) if check.sustained else f"({others} > bool 0)"
    return _equal_one(f"({_rate(_only(own))} == bool 0) or {noticed}")


def build_target_fails(check: TargetFails, subject: EffectSubject) -> Object:
    """Build the check that requests to a workload fail or stop, by its own spans or those of its dependants."""
    own = subject.component_of(check.of or subject.target)
    near = _any_of(list_dependants(subject.app, own))
    unseen = f"(({_rate(f'{near}, {_ERROR}')} > 0) unless {_rate(_only(own))})"
    failed = f"({_rate(f'{_only(own)}, {_ERROR}')} > 0) or ({_rate(_only(own))} == 0)"
    return _equal_one(_sustain(f"count({failed} or {unseen})"))


def build_latency_rises(check: LatencyRises, subject: EffectSubject) -> Object:
    """Build the check that the mean duration of some operation rises."""
    rise = _rise(_list_components(check.whose, subject))
    expr = f"max(min_over_time(({rise})[1m:{_GRID}]))" if check.sustained else f"max({rise})"
    return {"query": {"expr": expr, "is": "GreaterThan", "value": subject.scale(check.by_milliseconds)}}


def build_requests_slow_or_fail(check: RequestsSlowOrFail, subject: EffectSubject) -> Object:
    """Build the check that requests slow down, fail or stop."""
    names = _list_components(check.whose, subject)
    slow = f"(max({_rise(names)}) >= bool {subject.scale(check.by_milliseconds)} or vector(0))"
    return {"query": {"expr": f"{slow} + {_sustain(_fail_or_stop(names))}", "is": "AtLeast", "value": 1}}


def build_requests_succeed(check: RequestsSucceed, subject: EffectSubject) -> Object:
    """Build the check that requests succeed."""
    names = _any_of(_list_components(check.whose, subject))
    expr = _rate(f"{names}, {_ERROR.replace('=', '!=')}")
    return {"query": {"expr": expr, "is": "GreaterThan", "value": 0}}


def build_requests_drop(check: RequestsDrop, _subject: EffectSubject) -> Object:
    """Build the check that a component serves fewer requests than before."""
    served = _rate(f'{_only(check.component)}, span_kind="SPAN_KIND_SERVER"')
    expr = f"{served} / max_over_time({served}[4m:{_GRID}] offset 5m)"
    return {"query": {"expr": expr, "is": "AtMost", "value": check.to_percent, "scale": 100}}


def _list_components(whose: Whose, subject: EffectSubject) -> list[str]:
    own = subject.component_of(subject.target)
    if whose == "Target":
        return [own]
    if whose == "Callers":
        return list(subject.app.callers(own))
    dependants = list_dependants(subject.app, own)
    return dependants if whose == "Dependants" else [own, *dependants]


def _fail_or_stop(names: Sequence[str]) -> str:
    each = _any_of(names)
    failed = f"({_rate_by('service_name', _CALLS, f'{each}, {_ERROR}')} > 0)"
    return f"count({failed} or ({_rate_by('service_name', _CALLS, each)} == 0))"


def _rise(names: Sequence[str]) -> str:
    each = _any_of(names)
    total = _rate_by("service_name, span_name", f"{_DURATION}_sum", each)
    number = _rate_by("service_name, span_name", f"{_DURATION}_count", each)
    mean = f"({total} / ({number} > 0))"
    return f"{mean} - min_over_time({mean}[5m:{_GRID}])"


def _sustain(count: str) -> str:
    return f"min_over_time((({count} > bool 0) or vector(0)){_SUSTAINED})"


def _only(name: str) -> str:
    return f'service_name="{name}"'


def _any_of(names: Sequence[str]) -> str:
    return f'service_name=~"{"|".join(names)}"'


def _rate(labels: str) -> str:
    return f"sum(rate({_CALLS}{{{labels}}}[1m]))"


def _rate_by(by: str, metric: str, labels: str) -> str:
    return f"sum by ({by}) (rate({metric}{{{labels}}}[1m]))"


def _equal_one(expr: str) -> Object:
    return {"query": {"expr": expr, "is": "Equal", "value": 1}}
