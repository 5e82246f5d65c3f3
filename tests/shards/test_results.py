"""Stores of results: one suite over ConfigMaps of the fake, of a real API server, and a folder."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from pathlib import Path

import msgspec
import pytest

from scenario_kit.errors import InfrastructureError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Reference, Verdict
from scenario_kit.report.document import dump_report
from scenario_kit.shards import results as results_module
from scenario_kit.shards.execution import describe_report
from scenario_kit.shards.result_store import ConfigMapStore, FolderStore, ResultStore
from scenario_kit.shards.results import (
    ShardResult,
    StoredResult,
    UnreadableResult,
    derive_result_name,
    pack_report,
    parse_result,
    unpack_report,
)
from scenario_kit.testing import FakeCluster
from tests.shards.conftest import make_report, make_work

WORK = make_work("cart-down")
(ITEM,) = WORK.items
OPENING = ShardResult(
    schema_version=1, work="nightly", catalogue=WORK.catalogue, scenario="cart-down", digest=ITEM.digest, shard=0,
    state="Begun",
)  # fmt: skip


@pytest.fixture(params=["fake", "folder", pytest.param("real", marks=pytest.mark.lab)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ResultStore:
    if request.param == "folder":
        return FolderStore(tmp_path / "new" / "results")
    if request.param == "real":
        return ConfigMapStore(request.getfixturevalue("kube"), request.getfixturevalue("kube_namespace"))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "there"}}
    return ConfigMapStore(FakeCluster([namespace]), "there")


def test_stored_result_is_read_back(store):
    ended = describe_report(OPENING, make_report(ITEM))
    assert store.read("nightly", "cart-down") is None
    store.write(ended)
    assert store.read("nightly", "cart-down") == ended
    assert store.read("nightly", "cart") is None
    assert store.read("weekly", "cart-down") is None


def test_later_result_replaces_an_earlier_one(store):
    store.write(describe_report(OPENING, make_report(ITEM)))
    store.write(StoredResult(OPENING))
    assert store.read("nightly", "cart-down") == StoredResult(OPENING)
    failed = describe_report(OPENING, make_report(ITEM, Verdict.FAIL))
    store.write(failed)
    assert store.read("nightly", "cart-down") == failed


@pytest.mark.parametrize("scenario", ["Übung & Co", "x" * 200, "..", "a/../../b", "con"])
def test_any_name_of_a_scenario_can_be_kept(scenario, store):
    result = msgspec.structs.replace(OPENING, scenario=scenario)
    store.write(StoredResult(result))
    assert store.read("nightly", scenario) == StoredResult(result)


def test_names_are_different_where_their_readable_part_is_not():
    assert derive_result_name("w", "a_b") != derive_result_name("w", "a-b")
    assert len(derive_result_name("w" * 30, "x" * 300)) <= 110


def test_unreadable_store_is_a_store_error(tmp_path):
    store, name = FolderStore(tmp_path), derive_result_name("nightly", "cart-down")
    good = json.loads(OPENING.to_bytes())
    for document in ("", "[]", json.dumps(good | {"state": "Odd"}), json.dumps(good | {"more": 1}),
                     json.dumps(good | {"schemaVersion": 2})):  # fmt: skip
        (tmp_path / f"{name}.json").write_text(document)
        with pytest.raises(UnreadableResult):
            store.read("nightly", "cart-down")

    cluster = FakeCluster([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}])
    ConfigMapStore(cluster, "n").write(StoredResult(OPENING))
    cluster.patch(Reference("ConfigMap", name, "n"), {"data": None})
    with pytest.raises(UnreadableResult, match=r"has no result\.json"):
        ConfigMapStore(cluster, "n").read("nightly", "cart-down")


def test_unwritable_folder_is_an_infrastructure_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InfrastructureError, match="cannot write results"):
        FolderStore(tmp_path / "file").write(StoredResult(OPENING))


def test_reports_within_the_limit_are_kept_whole():
    report = make_report(ITEM)
    packed, digest = pack_report(report)
    stored = StoredResult(msgspec.structs.replace(OPENING, report_digest=digest), packed)
    assert unpack_report(stored) == report
    assert pack_report(report) == (packed, digest)
    assert unpack_report(StoredResult(OPENING)) is None


def test_truncated_report_states_omissions(monkeypatch):
    noise = random.Random(1)
    finding = build_finding("SK501", message="x")
    many = tuple(msgspec.structs.replace(finding, message=noise.randbytes(200).hex()) for _ in range(500))
    report = make_report(ITEM, findings=many)
    monkeypatch.setattr(results_module, "_MAX_REPORT_BYTES", 100_000)
    packed, digest = pack_report(report)
    assert len(packed) <= 100_000
    kept = unpack_report(StoredResult(msgspec.structs.replace(OPENING, report_digest=digest), packed))
    assert kept.left_out
    assert kept.validation.verdict == Verdict.PASS


@pytest.mark.parametrize("data", [b"", b"[" * 100_000, b'{"work":"\xff"}', b"[]", b'{"schemaVersion":1}'])
def test_damaged_summary_is_detected(data):
    with pytest.raises(UnreadableResult, match="not a result of this version"):
        parse_result(data)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        *(
            dump_report(msgspec.structs.replace(make_report(ITEM), created=created)).encode()
            for created in ("", "yesterday", "0001-01-01T00:00:00+14:00")
        ),
    ],
)
def test_report_of_another_form_is_detected(text):
    result = msgspec.structs.replace(OPENING, report_digest=hashlib.sha256(text).hexdigest())
    with pytest.raises(UnreadableResult, match="the report cannot be read"):
        unpack_report(StoredResult(result, gzip.compress(text)))


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"x",
        gzip.compress(b"{}", mtime=0),
        gzip.compress(b"not the same", mtime=0),
        pack_report(make_report(ITEM))[0][:-9],
    ],
)
def test_modified_report_is_detected(packed):
    result = msgspec.structs.replace(OPENING, report_digest=pack_report(make_report(ITEM))[1])
    with pytest.raises(UnreadableResult):
        unpack_report(StoredResult(result, packed))
