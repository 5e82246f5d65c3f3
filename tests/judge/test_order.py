"""Which objects an order of writes finds alone, and which it does not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scenario_kit.judge.order import check_order
from scenario_kit.model import Object, Reference, Severity

MINE = Reference("Service", "cart", "shop")


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(1_700_000_000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def service(name: str, *, written: float = 10, version: int = 100, generation: int = 1, created: float = 0) -> Object:
    metadata = {
        "name": name, "namespace": "shop", "resourceVersion": str(version), "generation": generation,
        "creationTimestamp": stamp(created), "managedFields": [{"manager": "platform", "time": stamp(written)}],
    }  # fmt: skip
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata}


def others(count: int = 5) -> list[Object]:
    return [service(f"s{i}", written=10 + i % 3, version=100 + 4 * i, created=i % 2) for i in range(count)]


def codes(mine: Object, rest: list[Object]) -> list[str]:
    found = check_order([mine, *rest], {"what is broken": {MINE}})
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
def test_outlier_in_write_order_is_reported(mine: dict[str, float], by: str) -> None:
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
def test_object_last_by_one_measure_only_is_not_reported(mine: dict[str, float]) -> None:
    assert codes(service("cart", **mine), others()) == []  # type: ignore[arg-type]


def test_unrelated_late_write_hides_the_outlier() -> None:
    assert codes(service("cart", written=60, version=900), [*others(), service("web", written=61, version=890)]) == []


def test_two_other_objects_are_too_few() -> None:
    assert codes(service("cart", written=60, version=900, generation=9), others(2)) == []


def test_repeated_status_writes_are_a_symptom() -> None:
    mine = service("cart", version=900)
    mine["metadata"]["managedFields"].append({"manager": "kcm", "subresource": "status", "time": stamp(60)})

    assert codes(mine, others()) == []


@pytest.mark.parametrize(
    ("rest", "mine", "reported"),
    [
        ((10, 20, 30), 61, "61, all others at most 30"),
        ((10, 20, 30), 60, None),
        ((10, 20, 40), 91, None),
        ((10, 30, 40), 101, "101, all others at most 40"),
        ((100, 110, 120), 69, "69, all others at least 100"),
        ((100, 110, 120), 70, None),
        ((10, 10, 10), 14, "14, all others at most 10"),
        ((10, 10, 10), 13, None),
        ((10, 20), 90, None),
    ],
)
def test_outlier_distance_has_a_threshold(rest: tuple[int, ...], mine: int, reported: str | None) -> None:
    objects = [service(f"s{i}", version=version) for i, version in enumerate(rest)]
    found = check_order([*objects, service("cart", version=mine)], {"what is broken": {MINE}})

    assert [f.observed for f in found] == ([reported] if reported else [])
    assert [f.severity for f in found] == [Severity.ERROR] * len(found)


@pytest.mark.parametrize(
    ("generations", "mine", "alone"), [((1, 1, 1), 2, True), ((1, 2, 3), 6, False), ((1, 2, 3), 7, True)]
)
def test_highest_generation_gives_object_away(generations: tuple[int, ...], mine: int, alone: bool) -> None:
    objects = [service(f"s{i}", generation=generation) for i, generation in enumerate(generations)]
    found = check_order([*objects, service("cart", generation=mine)], {"what is broken": {MINE}})

    assert [f.message.startswith("sorting every Service by generation") for f in found] == [True] * alone


def test_objects_are_compared_with_those_of_their_kind() -> None:
    configs = [{**service(f"c{i}", version=900 + i), "kind": "ConfigMap"} for i in range(5)]
    found = check_order([service("cart", version=900), *others(), *configs], {"what is broken": {MINE}})

    assert [f.message for f in found] == ["sorting every Service by resourceVersion finds what is broken: Service/cart"]


def test_namespace_belongs_to_an_object() -> None:
    elsewhere = {"what is broken": {Reference("Service", "cart", "other")}}

    assert check_order([service("cart", version=900), *others()], elsewhere) == []


def test_joint_outliers_are_named_together() -> None:
    two = {Reference("Service", "cart", "shop"), Reference("Service", "ad", "shop")}
    objects = [service("cart", version=901), service("ad", version=990), *others()]
    (found,) = check_order(objects, {"nothing of it": set(), "what is broken": two, "the same": two})

    assert found.message.endswith("finds what is broken: Service/ad, Service/cart")
    assert found.observed == "901, all others at most 116"


def test_objects_without_order_are_ignored() -> None:
    bare = {"kind": "Service", "metadata": {"name": "cart", "namespace": "shop"}}
    assert check_order([bare, *others()], {"what is broken": {MINE}}) == []
    odd = service("cart", version=108)
    odd["metadata"]["resourceVersion"] = "x1"
    assert check_order([odd, *others()], {"what is broken": {MINE}}) == []


@pytest.mark.parametrize(("after", "found"), [(2, ["resourceVersion"]), (3, [])])
def test_version_counts_unless_the_status_is_written_on(after: int, found: list[str]) -> None:
    mine = service("cart", version=900)
    mine["metadata"]["managedFields"].append({"manager": "kcm", "subresource": "status", "time": stamp(10 + after)})

    assert codes(mine, others()) == found
