"""SK308: deadlines of alerts that a recurring fault raises."""

from __future__ import annotations

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import lint_text

FILE = find_data_root() / "catalog" / "scenarios" / "valkey-cart-network-delay" / "scenario.yaml"
CATALOG = Catalog()
AGAIN = "    recurrence: {everySeconds: 900, forSeconds: 420}\n"
OTHER = "  - {name: old-trouble, type: resource-limits-removed, target: Deployment/ad, role: Distractor}\n"


def find_short(within: int, *, recurrence: str = "", more: str = "", after: str = "") -> list[str]:
    text = FILE.read_text().replace("/frontend, withinSeconds: 480", "/frontend, withinSeconds: 2000")
    head, alert = text.index("  expect:\n"), "    - {name: HighRequestLatency, entity: Deployment/cart, withinSeconds: "
    assert text.count(alert) == 1
    text = text[:head] + recurrence + more + text[head:]
    start = text.index(alert) + len(alert)
    text = text[:start] + f"{within}{after}" + text[text.index("}", start) :]
    return [each.finding.message for each in lint_text(text, FILE, CATALOG) if each.finding.code == "SK308"]


@pytest.mark.parametrize(
    ("within", "more", "found"),
    [
        (480, {}, 0),
        (480, {"recurrence": AGAIN}, 1),
        (1139, {"recurrence": AGAIN}, 1),
        (1140, {"recurrence": AGAIN}, 0),
        # counted from the last fault, which may be injected just before the first occurrence
        (480, {"recurrence": AGAIN, "more": OTHER}, 0),
        (480, {"recurrence": AGAIN, "more": OTHER, "after": ", after: store-delay"}, 1),
    ],
)  # fmt: skip
def test_alert_waits_for_the_first_occurrence(within: int, more: dict[str, str], found: int) -> None:
    messages = find_short(within, **more)
    assert len(messages) == found
    assert all("needs 1140, as its fault first occurs 900 s after the injection" in m for m in messages)
