"""The matrix of an app: the last record of a pair counts, and none of a fault type that is another one by now."""

from datetime import date

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.matrix import read_rows, select_current
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference
from scenario_kit.model.results.matrix import MatrixRow


def row(fault, change=1, version="1", date=date(2026, 11, 24)):
    return MatrixRow(
        app="shop", version=version, fault=fault, change=change, family="Chaos", target=Reference("Deployment", "a"),
        outcome="Ran",
        date=date,
    )  # fmt: skip


def test_last_record_counts_and_partial_line_is_ignored(tmp_path):
    path = tmp_path / "matrix.jsonl"
    assert read_rows(path) == []
    kept = [row("a", date=date(2026, 11, 21)), row("b"), row("a")]
    path.write_bytes(b"\n".join(r.to_bytes() for r in kept) + b'\n{"app":"shop","ver')
    assert read_rows(path) == [row("a"), row("b")]


def test_invalid_record_line_is_reported_with_position(tmp_path):
    path = tmp_path / "matrix.jsonl"
    path.write_text('{"app":"shop"}\n')
    with pytest.raises(AuthoringError, match=r"matrix\.jsonl:1: invalid record"):
        read_rows(path)


def test_changed_faults_and_other_versions_are_excluded():
    found = [row("a"), row("b", change=1), row("c", version="2"), row("gone")]
    assert select_current(found, "1", {"a": 1, "b": 2, "c": 1}) == (row("a"),)


def test_rows_of_one_fault_are_filtered():
    catalog = Catalog()
    app = catalog.app("otel-demo", "2.2.0")
    some = catalog.matrix(app, "pod-failure")
    assert some == tuple(r for r in catalog.matrix(app) if r.fault == "pod-failure") != ()
