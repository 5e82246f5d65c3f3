"""Coverage, detour and blast radius."""

from __future__ import annotations

import pytest

from scenario_kit.scoring.graph.blast_radius import measure_blast_radius
from scenario_kit.scoring.graph.trajectory import find_visits, measure_exploration
from tests.scoring.shop import NAMES, shop

SERVICES = frozenset(NAMES)


def test_coverage_and_detour() -> None:
    found = measure_exploration({"frontend", "ad", "checkout", "valkey"}, {"payment", "checkout", "frontend"})
    assert (round(found.coverage, 4), found.detour) == (0.6667, 2)
    with pytest.raises(ValueError, match="path"):
        measure_exploration({"a"}, set())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl logs deployment/cart -n shop", {"cart"}),
        ("kubectl logs cart-6d4b75cb6d-hk2xq", {"cart"}),
        ('rate(calls_total{service_name="product-catalog"}[5m])', {"product-catalog"}),
        ("http://payment.shop.svc.cluster.local:8080", {"payment"}),
        ("valkey-cart", set()),
        ("kubectl get pods", set()),
    ],
)
def test_visits(text: str, expected: set[str]) -> None:
    assert find_visits([text], SERVICES) == expected


def test_blast_radius_is_dependents_of_needless_changes() -> None:
    found = measure_blast_radius({"payment", "valkey"}, {"payment"}, shop())
    assert (found.unneeded, found.share) == (1, 5 / 10)  # valkey, cart, checkout, frontend, frontend-proxy
    assert measure_blast_radius({"payment"}, {"payment"}, shop()).share == 0.0
    assert measure_blast_radius({"x"}, set()).share is None
