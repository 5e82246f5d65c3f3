"""Months of authored files."""

from __future__ import annotations

from datetime import date

import pytest

from scenario_kit.model.authored.month import Month
from scenario_kit.model.authored.scenario import Suppression


@pytest.mark.parametrize("text", ["2026", "2026-13", "2026-1", "2026-00", "26-01", "2026-01-01", " 2026-01", "२०२६-01"])
def test_text_that_is_no_month_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a month"):
        Month(text)


def test_months_compare_in_order_of_time() -> None:
    assert Month.of_day(date(2026, 9, 30)) < Month("2026-10") < Month.of_day(date(2027, 1, 1))


def test_json_is_the_text() -> None:
    document = {"code": "SK118", "reason": "r", "until": "2026-11"}
    assert Suppression.from_json(document).to_json() == document
