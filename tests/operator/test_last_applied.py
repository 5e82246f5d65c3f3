"""Nulls that ``kubectl apply`` does not send, and how its annotation tells."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from operators.last_applied import LAST_APPLIED_ANNOTATION, find_lost_nulls

PATCH = ("spec", "solutions", 0, "changes", 0, "patch", "patch")
SENT: dict[str, Any] = {
    "metadata": {"name": "resolver"},
    "spec": {
        "brief": None,
        "solutions": [{"changes": [{"patch": {"type": "Merge", "patch": {"data": {"gone": None, "other": "x"}}}}]}],
    },
}


def drop_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: drop_nulls(part) for key, part in value.items() if part is not None}
    return [drop_nulls(part) for part in value] if isinstance(value, list) else value


def store(spec: Any, applied: str | None = None) -> dict[str, Any]:
    annotations = {LAST_APPLIED_ANNOTATION: json.dumps(SENT) if applied is None else applied}
    return {"metadata": {"name": "resolver", "annotations": annotations}, "spec": spec}


def test_null_that_was_not_sent_is_found() -> None:
    assert find_lost_nulls(store(drop_nulls(SENT["spec"]))) == [(*PATCH, "data", "gone")]


def edit(change: Callable[[Any], Any]) -> Any:
    patch = copy.deepcopy(drop_nulls(SENT["spec"]))
    change(patch["solutions"][0]["changes"][0]["patch"])
    return patch


@pytest.mark.parametrize(
    "obj",
    [
        {**SENT, "metadata": {"name": "resolver"}},
        store(SENT["spec"]),
        store(edit(lambda patch: patch.update(type="Json", patch=[{"op": "remove", "path": "/data/gone"}]))),
        store({"solutions": []}),
        store(drop_nulls(SENT["spec"]), "not JSON"),
        store(drop_nulls(SENT["spec"]), "[" * 100_000),
        store(drop_nulls(SENT["spec"]), "[]"),
    ],
    ids=["no annotation", "sent", "edited since", "solution removed since", "no JSON", "nested too deeply", "a list"],
)
def test_nothing_is_lost(obj: dict[str, Any]) -> None:
    assert find_lost_nulls(obj) == []
