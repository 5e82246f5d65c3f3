"""Settings of scoring, which are part of the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scenario_kit.model.base import Value
from scenario_kit.scoring.graph.ntam import NtamParameters
from scenario_kit.scoring.matching.policy import ITBENCH_NAMESPACES, MatchPolicy
from scenario_kit.scoring.runs.usage import PriceList
from scenario_kit.scoring.statistics.intervals import SEED


class ScoreSettings(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Settings of scoring.

    ``cap`` is the time in seconds of a failure in a restricted mean; ``repeats`` the expected runs per incident, of
    which missing ones count as runs without an answer.
    """

    policy: MatchPolicy = MatchPolicy()
    ntam: NtamParameters = NtamParameters()
    cap: float = 600.0
    seed: int = SEED
    repeats: int = 1
    prices: PriceList | None = None


def build_settings(*, duplicates: str, aliases: str, ignored: Iterable[str], **values: Any) -> ScoreSettings:
    """Build settings from option values; the ignored namespace ``itbench`` stands for its evaluator's list.

    Raises:
        msgspec.ValidationError: an invalid value of a policy.
    """
    names = {name: None for each in ignored for name in (ITBENCH_NAMESPACES if each == "itbench" else (each,))}
    words = {"duplicates": duplicates, "aliases": aliases, "ignoredNamespaces": list(names)}
    return ScoreSettings(policy=MatchPolicy.from_json(words), **values)
