"""Use the alerts of the app's matrix instead of a prediction, if the fault was tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.model.authored.scenario import AlertExpectation
from scenario_kit.model.results.matrix import MatrixRow


def find_row(matrix: Iterable[MatrixRow], fault: str, target: str) -> MatrixRow | None:
    """Return the trial of a fault with default parameters on a target; None without a valid one."""
    found = (row for row in matrix if (row.fault, row.target) == (fault, target))
    return next((row for row in found if row.outcome in ("Ran", "NoEffect")), None)


def promise_alerts(predicted: Sequence[AlertExpectation], row: MatrixRow) -> tuple[AlertExpectation, ...]:
    """Return the alerts that fired, by onset: one as MustFire, the others as MayFire.

    MustFire is the most direct predicted alert that fired, or else the first one. If none fired, the prediction is
    returned.
    """
    if not row.alerts:
        return tuple(predicted)
    came = [(alert.name, alert.entity) for alert in row.alerts]
    must = next((expected for p in predicted if (expected := (p.name, p.entity)) in came), came[0])
    return tuple(
        AlertExpectation(name=name, entity=entity, alert_class="MustFire" if (name, entity) == must else "MayFire")
        for name, entity in sorted(came, key=lambda alert: alert != must)
    )


def list_warnings(row: MatrixRow) -> tuple[str, ...]:
    """Return warnings about the trial for the author."""
    when = f"when {row.fault} was tried on {row.target} with its defaults ({row.date}),"
    if row.outcome == "NoEffect":
        return (f"{when} it had no effect: {row.reported}",)
    if not row.alerts:
        minutes = row.observed_seconds // 60
        return (
            f"{when} no alert of the default pack fired within {minutes} min: choose stronger parameters, a target "
            "with more traffic, or rules that look at what it does change (scenario-kit catalog alerts)",
        )
    return ()
