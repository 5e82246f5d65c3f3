"""The cache by identity: what counts as the same arguments, its bound, and errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from scenario_kit.model.identity_cache import cache_by_identity


def test_same_object_is_computed_once_and_equal_one_again() -> None:
    seen: list[object] = []

    @cache_by_identity(maxsize=8)
    def compute(value: list[int], name: str) -> list[int]:
        seen.append((value, name))
        return [*value, len(name)]

    one, other = [1], [1]
    assert compute(one, "a") is compute(one, "".join(["a"]))
    assert compute(other, "a") == compute(one, "a")
    assert compute(other, "a") is not compute(one, "a")
    assert compute(one, "bb") == [1, 2]
    assert len(seen) == 3


def test_identity_is_not_reused_for_another_value() -> None:
    compute = cache_by_identity(maxsize=4)(lambda value: list(value))
    assert [compute([n]) for n in range(50)] == [[n] for n in range(50)]


def test_least_recently_used_results_are_dropped() -> None:
    seen: list[str] = []

    @cache_by_identity(maxsize=2)
    def compute(name: str) -> str:
        seen.append(name)
        return name

    for name in ("a", "b", "a", "c", "b", "a"):
        compute(name)
    assert seen == ["a", "b", "c", "b", "a"]


def test_none_is_cached_and_errors_are_not() -> None:
    seen: list[str] = []

    @cache_by_identity(maxsize=2)
    def compute(name: str) -> None:
        seen.append(name)
        if name == "bad":
            raise ValueError(name)

    for name in ("good", "good"):
        compute(name)
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            compute("bad")
    assert seen == ["good", "bad", "bad"]


def test_numbers_and_texts_of_equal_value_differ() -> None:
    compute = cache_by_identity(maxsize=4)(lambda value: repr(value))
    assert [compute(each) for each in ("1", 1, True, None)] == ["'1'", "1", "True", "None"]


def test_threads_share_results() -> None:
    compute = cache_by_identity(maxsize=4)(lambda value: list(value))
    values = [[n] for n in range(16)]

    def read(offset: int) -> bool:
        return all(compute(values[(n + offset) % 16]) == values[(n + offset) % 16] for n in range(400))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(8)))
