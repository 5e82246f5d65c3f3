"""What is left of a trial's changes outside of the app's namespaces, and how reasons are shortened."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.changes import Receipt
from scenario_kit.changes.receipts import ReceiptEntry
from scenario_kit.model import Change, Object, Reference
from scenario_kit.trial.clean_room import find_residue
from scenario_kit.trial.status import truncate_reasons

QUOTA = Reference("ConfigMap", "quota", "elsewhere")
HOME = Reference("Namespace", "elsewhere")


def build_object(ref: Reference = QUOTA, uid: str = "1", **fields: Any) -> Object:
    metadata = {"name": ref.name, "uid": uid, **fields.pop("metadata", {})}
    if ref.namespace:
        metadata["namespace"] = ref.namespace
    return {"apiVersion": "v1", "kind": ref.kind, "metadata": metadata, **fields}


def build_receipt(
    change: Object, prior: Object | None, after: Object | None, uid: str = "1", ref: Reference = QUOTA
) -> Receipt:
    entry = ReceiptEntry(ref=ref, prior=prior, after=after, uid=uid)
    return Receipt(
        trial="t", ordinal=1, group="Fault/f", change=Change.from_json(change), causal=True, at=1.0, entries=(entry,)
    )


def patch(prior: str, after: str) -> Receipt:
    body = {"target": str(QUOTA), "type": "Merge", "patch": {"data": {"k": after}}}
    return build_receipt({"patch": body}, build_object(data={"k": prior}), build_object(data={"k": after}))


DELETE = build_receipt({"delete": {"target": str(QUOTA)}}, build_object(data={"k": "a"}), None)
CREATE = build_receipt({"create": build_object(data={"k": "a"})}, None, build_object(data={"k": "a"}))
UNSENT = build_receipt({"create": build_object(data={"k": "a"})}, None, None, uid="")


@pytest.mark.parametrize(
    ("receipts", "live", "residue"),
    [
        ([patch("a", "b")], None, ""),  # others deleted it
        ([patch("a", "b")], build_object(data={"k": "a"}), ""),
        ([patch("a", "b")], build_object(data={"k": "b"}), "changed"),
        ([patch("a", "b")], build_object(data={"k": "other"}), "changed"),  # still not as it was
        ([patch("a", "b"), patch("b", "c")], build_object(data={"k": "c"}), "changed"),
        ([DELETE], None, "missing"),
        ([DELETE], build_object(data={"k": "a"}, uid="2"), ""),
        ([patch("a", "b"), DELETE], None, "missing"),
        ([CREATE], None, ""),
        ([CREATE], build_object(data={"k": "a"}), "new"),
        ([CREATE], build_object(data={"k": "a"}, uid="2"), ""),  # another object of the same name
        ([UNSENT], build_object(data={"k": "a"}, uid="2"), "new"),  # perhaps ours: it never answered
        ([CREATE, DELETE], None, ""),
    ],
)
def test_residue_of_changes(receipts: list[Receipt], live: Object | None, residue: str) -> None:
    assert find_residue(QUOTA, receipts, live) == (f"{residue}: {QUOTA}" if residue else "")


def test_terminating_namespace_is_gone() -> None:
    made = build_receipt({"create": build_object(HOME)}, None, build_object(HOME), ref=HOME)
    assert find_residue(HOME, [made], build_object(HOME)) == "new: Namespace/elsewhere"
    going = build_object(HOME, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert find_residue(HOME, [made], going) == ""


def test_reasons_beyond_a_line_are_counted() -> None:
    reasons = [f"r{number}" for number in range(20)]
    shown = truncate_reasons(reasons).split("; ")
    most = len(shown) - 1
    assert shown == [*reasons[:most], f"and {20 - most} more"]
    assert truncate_reasons(reasons[:most]) == "; ".join(reasons[:most])
    assert truncate_reasons(reasons[: most + 1]).endswith("; and 1 more")
    assert truncate_reasons([]) == ""
