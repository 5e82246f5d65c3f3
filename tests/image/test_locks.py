"""Locks of packages: pins, refusals, and checksums."""

import hashlib
import zipfile

import pytest

from scenario_kit.errors import ToolchainError, UsageError
from tools.image import debian, wheels
from tools.image.debian import DebianPackage
from tools.image.locking import list_requirements
from tools.image.recipes import ARCHITECTURES, FOLDER, LAB, OPERATOR, RECIPES
from tools.image.wheels import PinnedWheel

SUM = "0" * 64


def test_lock_round_trips():
    packages = (DebianPackage("amd64", "libc6", "2.41-12+deb13u5", SUM), DebianPackage("amd64", "zlib1g", "1:1.3", SUM))
    assert debian.parse_lock(debian.format_lock(packages), "lock") == packages


@pytest.mark.parametrize("line", ["amd64 libc6 2.41", f"amd64 libc6 2.41 {SUM[1:]}", f"AMD64 libc6 2.41 {SUM}", "x"])
def test_invalid_lock_line_is_refused_with_its_number(line):
    with pytest.raises(UsageError, match="lock:2:"):
        debian.parse_lock(f"# comment\n{line}\n", "lock")


def test_wheel_lock_round_trips():
    pinned = (PinnedWheel("Jinja2", "3.1.6", frozenset({SUM, "1" * 64})),)
    assert wheels.parse_wheels(wheels.format_wheels(pinned, "3.13"), "lock") == pinned


@pytest.mark.parametrize("line", ["kopf", "kopf==1.0", f"kopf>=1.0 --hash=sha256:{SUM}", f"kopf==1 --hash=md5:{SUM}"])
def test_requirement_without_version_or_hash_is_refused(line):
    with pytest.raises(UsageError, match="lock:1:"):
        wheels.parse_wheels(line, "lock")


def report(version, sums):
    archive = {"archive_info": {"hashes": {"sha256": sums}}}
    return {"install": [{"metadata": {"name": "x", "version": version}, "download_info": archive}]}


def test_hashes_of_all_architectures_are_merged():
    merged = wheels.merge_reports([report("1", "a"), report("1", "b")])
    assert merged == [PinnedWheel("x", "1", frozenset({"a", "b"}))]


def test_architectures_get_one_version():
    with pytest.raises(UsageError, match="x: versions 1 and 2 differ"):
        wheels.merge_reports([report("1", "a"), report("2", "b")])


def test_project_locks_are_consistent():
    packages = debian.parse_lock(debian.LOCK.read_text(), debian.LOCK.name)
    by_architecture = {a: {p.name: p.version for p in packages if p.architecture == a} for a in ARCHITECTURES}
    assert by_architecture["amd64"] == by_architecture["arm64"]
    pinned = {name: wheels.parse_wheels((FOLDER / r.wheels_lock).read_text(), name) for name, r in RECIPES.items()}
    lab = {wheel.name: wheel for wheel in pinned["scenario-kit-lab"]}
    assert [w for w in pinned["scenario-kit"] if lab.get(w.name) != w] == []


def normal(name):
    return name.lower().replace("_", "-")


@pytest.mark.parametrize("recipe", [OPERATOR, LAB], ids=lambda r: r.name)
def test_every_included_requirement_is_locked(recipe):
    locked = {normal(w.name) for w in wheels.parse_wheels((FOLDER / recipe.wheels_lock).read_text(), "lock")}
    project = FOLDER.parents[1] / "pyproject.toml"
    required = {normal(wheels.parse_name(line)) for line in list_requirements(project, recipe)}
    assert required - locked == set()
    assert set(recipe.without) & locked == set()


def test_removed_project_requirement_is_reported(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\ndependencies = ["kopf>=1"]\n')
    with pytest.raises(UsageError, match="numpy"):
        list_requirements(project, OPERATOR)


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ("http://a|bookworm|Debian\nhttp://b|bookworm-security|Debian\n", ("http://a", "http://b")),
        ("http://a|bookworm-updates|\nhttp://a|bookworm|\nhttp://b|bookworm-security|\n", ("http://a", "http://b")),
        ("http://x|tools|Other\nhttp://a|trixie|Debian\nhttp://b|trixie-security|Debian\n", ("http://a", "http://b")),
    ],
)
def test_archive_of_the_machine_is_found(targets, expected):
    found = debian.parse_mirrors(targets)
    assert (found.main, found.security) == expected


@pytest.mark.parametrize(
    "targets", ["", "http://u|noble|Ubuntu\nhttp://u|noble-security|Ubuntu\n", "http://a|sid|Debian\n"]
)
def test_missing_mirror_error_names_the_flag(targets):
    with pytest.raises(UsageError) as caught:
        debian.parse_mirrors(targets)
    assert "--mirror" in caught.value.fix


def test_modified_cached_file_is_ignored(tmp_path):
    package = DebianPackage("amd64", "x", "1", hashlib.sha256(b"right").hexdigest())
    file = debian.locate_package(package, tmp_path)
    file.write_bytes(b"right")
    assert debian.is_there(package, tmp_path)
    file.write_bytes(b"wrong")
    assert not debian.is_there(package, tmp_path)


def wheel(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "text")
    return path


def test_wheel_in_the_cache_needs_no_index(tmp_path):
    file = wheel(tmp_path / "x-1-py3-none-any.whl", "x.py")
    pinned = PinnedWheel("x", "1", frozenset({debian.digest_file(file)}))
    assert wheels.download_wheels([pinned], "3.13", "amd64", tmp_path) == [file]


def test_only_importable_files_are_unpacked(tmp_path):
    file = wheel(
        tmp_path / "x.whl", "x/a.py", "x/t.pyi", "x-1.data/scripts/x", "x-1.data/platlib/y.so", "x-1.dist-info/METADATA"
    )
    wheels.unpack_wheel(file, tmp_path / "root", lambda path: not path.endswith(".pyi"))
    found = {p.relative_to(tmp_path / "root").as_posix() for p in (tmp_path / "root").rglob("*") if p.is_file()}
    assert found == {"x/a.py", "y.so", "x-1.dist-info/METADATA"}


@pytest.mark.parametrize("name", ["../x.py", "/x.py", "x/../../y.py"])
def test_wheel_with_outside_path_is_refused(name, tmp_path):
    with pytest.raises(ToolchainError, match="is outside of"):
        wheels.unpack_wheel(wheel(tmp_path / "x.whl", name), tmp_path / "root", lambda _: True)


def test_invalid_wheel_is_refused(tmp_path):
    (tmp_path / "x.whl").write_text("text")
    with pytest.raises(ToolchainError, match="cannot be unpacked"):
        wheels.unpack_wheel(tmp_path / "x.whl", tmp_path / "root", lambda _: True)
