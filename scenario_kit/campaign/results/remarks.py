"""Warnings derived from the statistics of the repeats; warnings, since each rests on few of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.campaign.results import repeatability
from scenario_kit.campaign.results.result import AlertSummary, OrderSummary, PassageSummary, Statistics
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Severity

#: Minimum number of repeats to measure agreement.
_FEW: Final = 3


def make_remarks(statistics: Statistics) -> list[Finding]:
    """Return warnings about deadlines, classes and order of alerts, and about components without an effect."""
    return [
        *(warning for alert in statistics.alerts for warning in _check_alert(alert)),
        *_check_agreement(statistics),
        *(_warn_of_order(edge) for edge in statistics.order if _is_reversed(edge, statistics.n)),
        *(_warn_of_passage(passage) for passage in statistics.passages if _is_unaffected(passage)),
    ]


def _check_alert(alert: AlertSummary) -> Iterator[Finding]:
    """Check the deadline and the class of an alert."""
    proposed = alert.proposed_seconds
    if alert.within_seconds is not None and proposed is not None and alert.within_seconds < proposed:
        yield _build_warning(
            "SK508",
            f"'{alert.alert}' is expected within {alert.within_seconds} s but needs {alert.p95_seconds:.0f} s",
            observed=f"onsets: median {alert.median_seconds:.0f} s, 95 % within {alert.p95_seconds:.0f} s",
            expected=f"twice that, at least a minute more: {proposed:.0f} s",
            fix=f"withinSeconds: {proposed:.0f}",
        )
    if alert.proposal:
        yield _build_warning(
            "SK322",
            f"must-fire '{alert.alert}' fired in {alert.fired} of {alert.n} repeats",
            observed=f"{alert.fired} of {alert.n}",
            expected=f"{alert.n} of {alert.n}",
            fix=f"class: {alert.proposal}, or a fault or load under which it always fires",
        )


def _check_agreement(statistics: Statistics) -> Iterator[Finding]:
    """Check that the repeats agree on which alerts fire."""
    similar = statistics.similarity
    if statistics.n >= _FEW and similar is not None and similar < repeatability.JACCARD:
        yield _build_warning(
            "SK509",
            "the repeats do not agree on which alerts fire",
            observed=f"similarity {similar:.2f}",
            expected=f"{repeatability.JACCARD} or more",
            fix="declare occasional alerts as MayFire, or choose a fault with consistent symptoms",
        )


def _is_reversed(edge: OrderSummary, repeats: int) -> bool:
    return repeats >= _FEW and edge.share < repeatability.ORDER


def _warn_of_order(edge: OrderSummary) -> Finding:
    return _build_warning(
        "SK407",
        f"{edge.to} alerts before {edge.from_}, which is declared as its cause",
        observed=f"in the order of the propagation in {edge.share:.0%} of repeats",
        expected=f"{repeatability.ORDER:.0%} or more",
        fix="reverse the edge, or start it at what comes first",
    )


def _is_unaffected(passage: PassageSummary) -> bool:
    return bool(passage.requests) and not passage.traces and not passage.signs


def _warn_of_passage(passage: PassageSummary) -> Finding:
    return _build_warning(
        "SK415",
        f"{passage.entity} shows no effect of the failure that is declared to pass through it",
        observed="no alert, no new symptoms in its logs and events; its errors, durations and rate are as before "
        f"({passage.requests} requests)",
        expected="a change in any of these",
        fix="route the propagation along the calls that fail",
    )


def _build_warning(code: str, message: str, *, observed: str, expected: str, fix: str) -> Finding:
    return build_finding(
        code, severity=Severity.WARNING, message=message, observed=observed, expected=expected, fix=fix, why=""
    )
