"""Tokens and money. Counts are kept; money is counts times a price list with a date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.model.base import Value

_MILLION: Final = 1_000_000


class TokenCounts(Value, frozen=True, kw_only=True):
    """``input`` without what came from a cache; ``output`` without ``reasoning``."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.input + self.cached + self.output + self.reasoning


class ModelPrice(Value, frozen=True, kw_only=True):
    """Prices of a model, per million tokens. Reasoning costs what output costs where it has no price of its own."""

    input: float
    output: float
    cached: float | None = None
    reasoning: float | None = None


class PriceList(Value, frozen=True, kw_only=True):
    """Prices by model, as of a date: old runs keep the prices of their day."""

    id: str
    date: str
    currency: str = "USD"
    models: Mapping[str, ModelPrice] = {}


def compute_cost(tokens: TokenCounts, price: ModelPrice) -> float:
    """Compute the price of tokens; cached ones cost what others cost where they have no price of their own."""
    cached = price.input if price.cached is None else price.cached
    reasoning = price.output if price.reasoning is None else price.reasoning
    total = tokens.input * price.input + tokens.cached * cached
    return (total + tokens.output * price.output + tokens.reasoning * reasoning) / _MILLION
