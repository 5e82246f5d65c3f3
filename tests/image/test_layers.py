"""Layers: equal files give equal bytes, independent of owner, time and order."""

import os
import tarfile

import pytest

from scenario_kit.errors import KitError
from tools.image.layer import FileEntry, add_parents, collect_entries, read_layer, write_layer

ENTRIES = [
    FileEntry("usr/bin/program", 0o755, b"#!"),
    FileEntry("etc/name", content=b"text"),
    FileEntry("bin", 0o777, link="usr/bin"),
]


def names(layer):
    with layer.blob.open("rb") as blob:
        return {info.name: info for info, _ in read_layer(blob)}


def test_entry_order_and_folder_do_not_affect_the_layer(tmp_path):
    one = write_layer("x", ENTRIES, 7, tmp_path / "one")
    other = write_layer("x", reversed(ENTRIES), 7, tmp_path / "other")
    assert (one.digest, one.diff_id, one.size) == (other.digest, other.diff_id, other.size)
    assert one.blob.read_bytes() == other.blob.read_bytes()


def test_owner_time_and_umask_do_not_affect_the_layer(tmp_path):
    digests = []
    for number, umask in enumerate((0o022, 0o077)):
        before = os.umask(umask)
        try:
            root = tmp_path / str(number)
            (root / "folder").mkdir(parents=True)
            (root / "folder" / "file").write_text("text")
            (root / "link").symlink_to("folder/file")
            os.utime(root / "folder" / "file", (number * 1000, number * 1000))
        finally:
            os.umask(before)
        digests.append(write_layer("x", collect_entries(root), 0, tmp_path / f"layer-{number}").digest)
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    "change",
    [
        [*ENTRIES, FileEntry("etc/other", content=b"")],
        [FileEntry("etc/name", 0o600, b"text"), *ENTRIES[:1], ENTRIES[2]],
        [*ENTRIES[:2], FileEntry("bin", 0o777, link="usr/sbin")],
    ],
)
def test_content_mode_and_time_affect_the_layer(change, tmp_path):
    assert write_layer("x", change, 7, tmp_path / "a").diff_id != write_layer("x", ENTRIES, 7, tmp_path / "b").diff_id


def test_layer_files_belong_to_root_with_given_time(tmp_path):
    found = names(write_layer("x", ENTRIES, 1_700_000_000, tmp_path / "layer"))
    assert list(found) == ["bin", "etc", "etc/name", "usr", "usr/bin", "usr/bin/program"]
    assert {(i.uid, i.gid, i.mtime, i.uname) for i in found.values()} == {(0, 0, 1_700_000_000, "")}
    assert found["usr/bin/program"].mode == 0o755
    assert found["etc"].type == tarfile.DIRTYPE
    assert found["bin"].linkname == "usr/bin"


def test_long_path_is_preserved(tmp_path):
    path = "/".join(["a" * 90] * 4)
    assert path in names(write_layer("x", [FileEntry(path, content=b"")], 0, tmp_path / "layer"))


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../b", "", "a//b", "./a"])
def test_path_outside_the_image_is_refused(path):
    with pytest.raises(KitError, match="not a path in an image"):
        add_parents([FileEntry(path, content=b"")])
