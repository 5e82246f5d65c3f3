"""Read price lists: prices per million tokens, as of a date."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.source import read_source
from scenario_kit.scoring.runs.usage import ModelPrice, PriceList


def read_price_list(path: Path) -> PriceList:
    """Read a price list.

    Raises:
        UsageError: no such file.
        AuthoringError: the list is invalid, for example without a date; one finding per error.
    """
    source = read_source(path)
    mistakes = Mistakes(source)
    fields = Fields(mistakes, (), source.data)
    prices = PriceList(
        id=fields.read_text("id", required=True), date=_read_date(fields),
        currency=fields.read_text("currency") or "USD", models=_read_models(fields),
    )  # fmt: skip
    mistakes.raise_errors()
    return prices


def _read_date(fields: Fields) -> date | None:
    text = fields.read_text("date", required=True)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        fields.refuse("date", f"`date` is '{text[:40]}'", "a date such as 2026-11-25", "write year, month and day")
        return None


def _read_models(fields: Fields) -> dict[str, ModelPrice]:
    part = fields.read_object("models")
    models: dict[str, ModelPrice] = {}
    for name in part.data if part else ():
        assert part is not None  # it has fields
        price = part.read_object(name)
        if price is not None:
            models[name] = ModelPrice(
                input=price.read_number("input", required=True) or 0.0,
                output=price.read_number("output", required=True) or 0.0,
                cached=price.read_number("cached"), reasoning=price.read_number("reasoning"),
            )  # fmt: skip
    return models
