"""What a draft promises where its fault has been tried: the alerts of the app's matrix instead of a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.model.authored.scenario import AlertExpectation
from scenario_kit.model.results.matrix import MatrixRow


def find_row(matrix: Iterable[MatrixRow], fault: str, target: str) -> MatrixRow | None:
    """Find the trial of that fault, with its defaults, on that target; None where it was not tried or nothing was
    judged.
    """
    found = (row for row in matrix if (row.fault, row.target) == (fault, target))
    return next((row for row in found if row.outcome in ("Ran", "NoEffect")), None)


def promise_alerts(predicted: Sequence[AlertExpectation], row: MatrixRow) -> tuple[AlertExpectation, ...]:
    """Return the alerts that fired, in the order of their onsets: one as MustFire, the others as MayFire.

    The one is the most direct of the predicted ones that came, else the first that came. Where none came there is
    nothing better than the prediction.
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
    """List what an author should know before a trial tells."""
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
