"""Text for the measured difficulty, shared by all renderings."""

from __future__ import annotations

from scenario_kit.model.results.difficulty import Difficulty


def describe_difficulty(difficulty: Difficulty) -> list[tuple[str, str]]:
    """Return (name, text) rows, most important first."""
    shape = difficulty.complexity
    ranked = (
        "the cause itself has no alert"
        if difficulty.cause_rank is None
        else f"the cause ranks {difficulty.cause_rank:g}"
    )
    late = "–" if difficulty.first_alert_seconds is None else f"{difficulty.first_alert_seconds:.0f} s after injection"
    return [
        (
            "complexity",
            f"{shape.value:.2f}, {shape.band.lower()} (path {shape.path} × steps {shape.steps} × technologies "
            f"{shape.technologies}, cube root)",
        ),
        ("first alert", late),
        ("alerting off the causal path", ", ".join(difficulty.off_path) or "nothing"),
        ("blaming the first alert", f"names a cause in {difficulty.blame_first:.0%} of the repeats"),
        ("blaming the loudest alert", f"names a cause in {difficulty.blame_loudest:.0%} of the repeats; {ranked}"),
        *([("verdict", "trivial: a solver without insight solves it")] if difficulty.trivial else []),
    ]
