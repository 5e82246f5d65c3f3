"""Statuses of objects."""

from typing import Any

from scenario_kit.model.kubernetes.status import rank_by_age


def pod(name: str, started: str, created: str = "", owner: str = "") -> dict[str, Any]:
    metadata = {"name": name, "creationTimestamp": created, **({"generateName": owner} if owner else {})}
    return {"metadata": metadata, "status": {"startTime": started} if started else {}}


def test_pods_are_ranked_by_start_then_owner_then_creation() -> None:
    """The wall clock only has a say between pods of one owner, whose names are random."""
    ranked = [
        pod("new", ""),
        pod("z", "2026-01-01T00:00:00Z", "2026-05-05T00:00:09Z"),
        pod("cart-9", "2026-01-01T00:00:30Z", "2026-05-05T00:00:02Z", "cart-"),
        pod("cart-1", "2026-01-01T00:00:30Z", "2026-05-05T00:00:03Z", "cart-"),
        pod("cart-2", "2026-01-01T00:00:30Z", "2026-05-05T00:00:03Z", "cart-"),
        pod("valkey-3", "2026-01-01T00:00:30Z", "2026-05-05T00:00:01Z", "valkey-"),
    ]
    assert sorted([*ranked[3:], *ranked[:3]], key=rank_by_age) == ranked
