"""Files that go with the work: what is packed comes out the same, and nothing is written anywhere else."""

from __future__ import annotations

import base64
import gzip
import json
import random
import shutil
from pathlib import Path

import pytest

from scenario_kit.campaign import QUICK
from scenario_kit.catalog import find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.shards.content_digest import digest_root, digest_scenario, name_differing_parts
from scenario_kit.shards.payload import (
    MAX_BYTES,
    choose_root,
    list_shipped_files,
    locate_item,
    locate_shipped_root,
    pack_files,
    unpack_files,
)
from scenario_kit.shards.planning import WorkRequest, plan_work
from scenario_kit.shards.work_list import CatalogueRoot

REALNODE = find_data_root() / "tools" / "realnode" / "collection"


def write(folder: Path, **files: bytes) -> dict[str, Path]:
    found = {}
    for name, data in files.items():
        (folder / name).write_bytes(data)
        found[f"alone/x/{name}"] = folder / name
    return found


def test_packed_files_round_trip(tmp_path):
    noise = random.Random(1).randbytes(30_000)
    files = write(tmp_path, a=b"text\n", b=noise, c=b"", d="ä".encode())

    documents = pack_files(files, limit=50_000)
    assert unpack_files((d.encode() for d in documents), tmp_path / "out") == 4
    for place, path in files.items():
        assert (tmp_path / "out" / place).read_bytes() == path.read_bytes()


def test_documents_are_filled_up_to_the_limit_and_not_beyond(tmp_path):
    files = write(tmp_path, **{f"f{n}": random.Random(n).randbytes(9_000) for n in range(10)})

    documents = pack_files(files, limit=30_000)
    assert all(len(document) <= 30_000 for document in documents)
    assert len(documents) == 5
    assert documents == pack_files(dict(reversed(files.items())), limit=30_000)


def test_oversized_file_is_named_with_its_size(tmp_path):
    files = write(tmp_path, big=random.Random(1).randbytes(MAX_BYTES))
    with pytest.raises(UsageError, match=r"big takes \d+ bytes, compressed; a ConfigMap has room for") as caught:
        pack_files(files)
    assert "--in-image" in caught.value.fix


def test_too_many_documents_are_refused(tmp_path):
    files = write(tmp_path, **{f"f{n}": random.Random(n).randbytes(300) for n in range(101)})
    with pytest.raises(UsageError, match="need 101 ConfigMaps"):
        pack_files(files, limit=500)


def pack(place: str, data: bytes = b"x") -> bytes:
    return json.dumps({place: base64.b64encode(gzip.compress(data, mtime=0)).decode()}).encode()


@pytest.mark.parametrize(
    "document",
    [
        pack("../escape"), pack("/etc/escape"), pack("a/../../escape"), pack(""), b"[]", b"{", b'{"a": 1}',
        b'{"a": "!"}', json.dumps({"a": base64.b64encode(gzip.compress(b"x" * 99, mtime=0)[:-5]).decode()}).encode(),
    ],
)  # fmt: skip
def test_damaged_or_hostile_document_is_refused(document, tmp_path):
    with pytest.raises(UsageError, match="files of the work"):
        unpack_files([document], tmp_path / "in")
    assert not list(tmp_path.rglob("escape"))


def test_collection_round_trips(tmp_path):
    """As a pod does: unpack, compare digests, find the scenario."""
    home = tmp_path / "ours"
    shutil.copytree(REALNODE, home)
    file = next(iter(sorted(home.glob("catalog/scenarios/*/scenario.yaml"))))
    work = plan_work(WorkRequest([file], QUICK, 1))
    roots = [home, find_data_root()]
    assert [root.shipped for root in work.roots] == [True, False]

    documents = pack_files(list_shipped_files(work, roots))
    unpack_files((d.encode() for d in documents), tmp_path / "pod")
    there = locate_shipped_root(tmp_path / "pod", 0)
    assert digest_root(there) == work.roots[0].parts
    (item,) = work.items
    unpacked = locate_item(item, tmp_path / "pod", [there, find_data_root()])
    assert digest_scenario(unpacked) == digest_scenario(file)
    assert len(list(there.glob("catalog/scenarios/*/scenario.yaml"))) == len(
        list(home.glob("catalog/scenarios/*/scenario.yaml"))
    )


def test_folders_of_the_same_name_are_refused(tmp_path):
    source = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
    files = []
    for number in (1, 2):
        file = tmp_path / str(number) / "same" / "scenario.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(source.read_text().replace("cart-scaled-to-zero", f"cart-{number}"))
        files.append(file)
    work = plan_work(WorkRequest(files, QUICK, 1))
    with pytest.raises(UsageError, match="folders of the same name"):
        list_shipped_files(work, [find_data_root()])


def test_scenarios_of_one_folder_share_its_faults(tmp_path):
    source = (find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml").read_text()
    files = [tmp_path / "both" / f"{name}.yaml" for name in ("first", "second")]
    (tmp_path / "both" / "faults").mkdir(parents=True)
    (tmp_path / "both" / "faults" / "own.yaml").write_text("name: own\n")
    for file in files:
        file.write_text(source.replace("cart-scaled-to-zero", file.stem))
    work = plan_work(WorkRequest(files, QUICK, 1))
    shipped = list_shipped_files(work, [find_data_root()])
    assert set(shipped) == {f"alone/both/{name}" for name in ("first.yaml", "second.yaml", "faults/own.yaml")}


def test_different_catalogue_is_refused_with_differences():
    known = CatalogueRoot(parts={"catalog/apps": "1", "catalog/faults": "2"})
    good, bad = Path("/good"), Path("/bad")
    assert choose_root(known, {bad: {"catalog/apps": "1"}, good: dict(known.parts)}) == good
    with pytest.raises(UsageError, match="/bad differs in catalog/faults"):
        choose_root(known, {bad: {"catalog/apps": "1", "catalog/faults": "3"}, Path("/worse"): {}})
    with pytest.raises(UsageError, match="does not have the catalogue"):
        choose_root(known, {})


def test_digests_notice_every_change_that_counts(tmp_path):
    shutil.copytree(REALNODE, tmp_path / "ours")
    home = tmp_path / "ours"
    before, scenario = digest_root(home), next(iter(home.glob("catalog/scenarios/*/scenario.yaml")))
    own = digest_scenario(scenario)

    (scenario.parent / "evidence.json").write_text("{}")
    (home / "catalog" / ".hidden").write_text("x")
    assert (digest_root(home), digest_scenario(scenario)) == (before, own)

    scenario.write_text(scenario.read_text() + "\n")
    assert digest_root(home) == before
    assert digest_scenario(scenario) != own
    (scenario.parent / "faults" / "mine").mkdir(parents=True)
    changed = digest_scenario(scenario)
    (scenario.parent / "faults" / "mine" / "fault.yaml").write_text("name: mine\n")
    assert digest_scenario(scenario) != changed

    app = next(iter(home.glob("catalog/apps/*/app.yaml")))
    app.write_text(app.read_text() + "\n")
    assert name_differing_parts(before, digest_root(home)) == ["catalog/apps"]
