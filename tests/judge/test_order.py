"""Which objects an order of writes finds alone, and which it does not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scenario_kit.judge.order import singled_out
from scenario_kit.model import Object, Reference

MINE = Reference("Service", "cart", "shop")


def at(seconds: float) -> str:
    return datetime.fromtimestamp(1_700_000_000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def service(name: str, *, written: float = 10, version: int = 100, generation: int = 1, created: float = 0) -> Object:
    metadata = {
        "name": name, "namespace": "shop", "resourceVersion": str(version), "generation": generation,
        "creationTimestamp": at(created), "managedFields": [{"manager": "platform", "time": at(written)}],
    }  # fmt: skip
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata}


def others(count: int = 5) -> list[Object]:
    return [service(f"s{i}", written=10 + i % 3, version=100 + 4 * i, created=i % 2) for i in range(count)]


def codes(mine: Object, rest: list[Object]) -> list[str]:
    found = singled_out([mine, *rest], {"what is broken": {MINE}})
    assert {f.code for f in found} <= {"SK444"}
    return [f.message.partition(" by ")[2].partition(" ")[0] for f in found]


@pytest.mark.parametrize(
    ("mine", "by"),
    [
        ({"written": 60}, "the"),
        ({"written": -60}, "the"),
        ({"version": 900}, "resourceVersion"),
        ({"version": 3}, "resourceVersion"),
        ({"generation": 3}, "generation"),
        ({"created": 60}, "creationTimestamp"),
    ],
)
def test_what_stands_alone_is_found_by_its_order(mine: dict[str, float], by: str) -> None:
    assert codes(service("cart", **{"version": 108, **mine}), others()) == [by]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "mine",
    [
        {"version": 108},
        {"written": 13, "version": 108},  # the last of all, as one of them has to be
        {"version": 117},
        {"written": 9, "version": 99},
    ],
)
def test_what_is_only_first_or_last_is_not_found(mine: dict[str, float]) -> None:
    assert codes(service("cart", **mine), others()) == []  # type: ignore[arg-type]


def test_a_bystander_that_was_written_as_late_hides_it() -> None:
    assert codes(service("cart", written=60, version=900), [*others(), service("web", written=61, version=890)]) == []


def test_two_others_are_no_order() -> None:
    assert codes(service("cart", written=60, version=900, generation=9), others(2)) == []


def test_a_status_that_is_written_again_and_again_is_a_symptom() -> None:
    mine = service("cart", version=900)
    mine["metadata"]["managedFields"].append({"manager": "kcm", "subresource": "status", "time": at(60)})

    assert codes(mine, others()) == []
