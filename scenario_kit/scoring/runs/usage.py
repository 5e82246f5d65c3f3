"""Token usage and cost, computed from a dated price list."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Final

from scenario_kit.model.base import Value

_MILLION: Final = 1_000_000


class TokenCounts(Value, frozen=True, kw_only=True):
    """Token counts; ``input`` excludes ``cached``, ``output`` excludes ``reasoning``."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, more: TokenCounts) -> TokenCounts:
        """Add counts."""
        return TokenCounts(
            input=self.input + more.input, cached=self.cached + more.cached,
            output=self.output + more.output, reasoning=self.reasoning + more.reasoning,
        )  # fmt: skip

    @property
    def total(self) -> int:
        """Return the sum of all counts."""
        return self.input + self.cached + self.output + self.reasoning


class ModelPrice(Value, frozen=True, kw_only=True):
    """Prices of a model per million tokens; ``reasoning`` defaults to ``output``, ``cached`` to ``input``."""

    input: float
    output: float
    cached: float | None = None
    reasoning: float | None = None


class PriceList(Value, frozen=True, kw_only=True):
    """Prices by model as of a date, so that old runs keep their prices."""

    id: str
    date: datetime.date | None
    currency: str = "USD"
    models: Mapping[str, ModelPrice] = {}


def compute_cost(tokens: TokenCounts, price: ModelPrice) -> float:
    """Compute the cost of tokens."""
    cached = price.input if price.cached is None else price.cached
    reasoning = price.output if price.reasoning is None else price.reasoning
    total = tokens.input * price.input + tokens.cached * cached
    return (total + tokens.output * price.output + tokens.reasoning * reasoning) / _MILLION
