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
from scenario_kit.model.runtime.trace import SERVED_SPANS
from scenario_kit.render.faults.component_lookups import list_dependants
from scenario_kit.render.faults.effects.subject import EffectSubject

_CALLS: Final = "traces_span_metrics_calls_total"
_DURATION: Final = "traces_span_metrics_duration_milliseconds"
_ERROR: Final = 'status_code="STATUS_CODE_ERROR"'
#: The evaluation grid of rules, and the subquery window in which an effect must be sustained.
_GRID: Final = GRID_DURATION
_SUSTAINED: Final = f"[2m:{_GRID}]"
#: The five minutes with which the current one is compared, and what distinguishes kinds of calls.
_BEFORE: Final = "[5m] offset 1m"
_KIND: Final = "service_name, span_name"
#: Silence counts where there were ten calls in three minutes before, the time in which silence is sustained.
_LONG_BEFORE: Final = "[5m] offset 3m"
_TRAFFIC: Final = 0.05


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
    silent = f"({_rate(_only(own))} == 0 and {_rate(_only(own), _LONG_BEFORE)} > {_TRAFFIC})"
    failed = f"({_rate(f'{_only(own)}, {_ERROR}')} > 0) or {silent}"
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
    served = _rate(f"{_only(check.component)}, {SERVED_SPANS}")
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
    before = _rate_by("service_name", _CALLS, each, _LONG_BEFORE)
    return f"count({failed} or ({_rate_by('service_name', _CALLS, each)} == 0 and {before} > {_TRAFFIC}))"


def _rise(names: Sequence[str]) -> str:
    """Build the rise of each operation's mean over a minute, less what chance may account for.

    The mean of n calls varies by at most its size over the square root of n (durations whose standard deviation is
    their mean); three times that is chance, as some kind of call is at its worst at some look.
    """
    each = _any_of(names)
    total, number = (_rate_by(_KIND, f"{_DURATION}_{of}", each) for of in ("sum", "count"))
    before, many = (_rate_by(_KIND, f"{_DURATION}_{of}", each, _BEFORE) for of in ("sum", "count"))
    return f"{total} / ({number} > 0) - {before} / ({many} > 0) * (1 + 3 / sqrt(60 * {number}))"


def _sustain(count: str) -> str:
    return f"min_over_time((({count} > bool 0) or vector(0)){_SUSTAINED})"


def _only(name: str) -> str:
    return f'service_name="{name}"'


def _any_of(names: Sequence[str]) -> str:
    return f'service_name=~"{"|".join(names)}"'


def _rate(labels: str, window: str = "[1m]") -> str:
    return f"sum(rate({_CALLS}{{{labels}}}{window}))"


def _rate_by(by: str, metric: str, labels: str, window: str = "[1m]") -> str:
    return f"sum by ({by}) (rate({metric}{{{labels}}}{window}))"


def _equal_one(expr: str) -> Object:
    return {"query": {"expr": expr, "is": "Equal", "value": 1}}
