"""By what rules a score came about; all of it stands in the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scenario_kit.model.base import Value
from scenario_kit.scoring.graph.ntam import NtamParameters
from scenario_kit.scoring.matching.policy import ITBENCH_NAMESPACES, MatchPolicy
from scenario_kit.scoring.runs.usage import PriceList
from scenario_kit.scoring.statistics.intervals import SEED


class ScoreSettings(Value, frozen=True, kw_only=True, omit_defaults=False):
    """``cap`` is the time in seconds that a failure counts in a restricted mean, ``repeats`` how many runs of each
    incident there should be: those that are not there count as runs without an answer.
    """

    policy: MatchPolicy = MatchPolicy()
    ntam: NtamParameters = NtamParameters()
    cap: float = 600.0
    seed: int = SEED
    repeats: int = 1
    prices: PriceList | None = None


def build_settings(*, duplicates: str, aliases: str, ignored: Iterable[str], **values: Any) -> ScoreSettings:
    """Build settings from words; ``itbench`` among ignored namespaces stands for those of its evaluator.

    Raises:
        msgspec.ValidationError: a word is none of those that a policy has.
    """
    names = {name: None for each in ignored for name in (ITBENCH_NAMESPACES if each == "itbench" else (each,))}
    words = {"duplicates": duplicates, "aliases": aliases, "ignoredNamespaces": list(names)}
    return ScoreSettings(policy=MatchPolicy.from_json(words), **values)
