"""Contents of the images: the operator's imports, no lab, in agreement with the Containerfile."""

import json
import re

import grimp
import pytest

from tools.image import source
from tools.image.build import ROOT, describe_image
from tools.image.recipes import LAB, OPERATOR, PACKAGES, is_debian_file_kept, is_wheel_file_kept
from tools.image.source import SourceRevision, read_revision, select_files

FILES = {entry.path.removeprefix(f"{PACKAGES}/") for entry in select_files(ROOT, OPERATOR.kit)}
#: Imported only where the name of a lab is given, which the image refuses with these words.
WITH_A_LAB = re.compile(r"scenario_kit\.lab|operators\.scenario\.lab_platform$")


def imports():
    """Every module that the operator's can import, with the packages that it lies in; without a lab."""
    graph = grimp.build_graph("scenario_kit", "operators", include_external_packages=True)
    seen, left = set(), ["operators.scenario.__main__"]
    while left:
        module = left.pop()
        if module in seen or WITH_A_LAB.match(module):
            continue
        seen.add(module)
        left += graph.find_modules_directly_imported_by(module)
        parent = module.rpartition(".")[0]
        left += [parent] if parent in graph.modules else []
    return seen


IMPORTS = imports()


def test_image_contains_all_modules_the_operator_imports():
    own = {m.replace(".", "/") for m in IMPORTS if m.split(".")[0] in ("scenario_kit", "operators")}
    assert len(own) > 300
    assert [m for m in sorted(own) if not {f"{m}.py", f"{m}/__init__.py"} & FILES] == []


def test_excluded_requirements_are_only_imported_optionally():
    names = {"protobuf": "google", "grpcio": "grpc"}
    assert {m for m in OPERATOR.without if names.get(m, m) in IMPORTS} == {"numpy"}


def test_operator_s_image_has_the_catalogue_and_no_lab():
    assert "scenario_kit/_data/catalog/collection.yaml" in FILES
    assert any(f.startswith("scenario_kit/_data/templates/apps/") for f in FILES)
    assert [f for f in FILES if f.startswith(("scenario_kit/lab/", "scenario_kit/cli/", "tests/", "docs/"))] == []
    assert not any(f.endswith((".go", "go.mod", ".pyc")) for f in FILES)


def test_lab_image_has_wheel_files_except_go_modules_and_fakes():
    """A lab installs the kinds from the manifests, and the command line prints them."""
    there = {p.relative_to(ROOT).as_posix() for top in ("scenario_kit", "operators") for p in (ROOT / top).rglob("*")}
    expected = {p for p in there if p.endswith((".py", ".yaml", ".json", ".html", ".css", ".js"))}
    found = {entry.path.removeprefix(f"{PACKAGES}/") for entry in select_files(ROOT, LAB.kit)}
    left = {p.rpartition("/")[0] for p in expected - found}
    assert {
        p for p in left if not p.startswith(("scenario_kit/testing", "scenario_kit/lab/toolchain/modules"))
    } == set()
    assert {"operators/manifests/crds.yaml", "operators/scenario/lab_platform.py"} <= found


def test_data_files_are_next_to_their_modules():
    there = {p.relative_to(ROOT).as_posix() for p in (ROOT / "scenario_kit" / "load").rglob("*.yaml")}
    assert there
    assert there <= FILES


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("usr/bin/python3.13", True),
        ("usr/bin/pdb3.13", False),
        ("usr/lib/python3.13/asyncio/tasks.py", True),
        ("usr/lib/python3.13/test/support.py", False),
        ("usr/lib/python3.13/lib-dynload/_ssl.cpython-313-x86_64-linux-gnu.so", True),
        ("usr/lib/python3.13/lib-dynload/_sqlite3.cpython-313-x86_64-linux-gnu.so", False),
        ("usr/share/doc/libc6/copyright", True),
        ("usr/share/doc/libc6/changelog.Debian.gz", False),
        ("usr/share/man/man1/x.1.gz", False),
    ],
)
def test_files_of_packages(path, kept):
    assert is_debian_file_kept(path) is kept


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("kopf/__init__.py", True),
        ("kubernetes/client/api/core_v1_api.py", True),
        ("kubernetes/e2e_test/base.py", False),
        ("jinja2/tests.py", True),
        ("numpy/linalg/tests/test_x.py", False),
        ("certifi/cacert.pem", True),
        ("certifi-1.dist-info/METADATA", True),
        ("certifi-1.dist-info/RECORD", False),
        ("certifi-1.dist-info/licenses/LICENSE", True),
        ("x/y.pyi", False),
    ],
)
def test_files_of_wheels(path, kept):
    assert is_wheel_file_kept(path) is kept


def test_containerfile_matches_the_image_configuration():
    text = (ROOT / "Containerfile").read_text()
    image = describe_image(OPERATOR, "", "amd64", SourceRevision("", 0))
    pairs = [p for line in re.findall(r"^ENV (.*)$", text, re.M) for p in re.findall(r'(\w+)=("[^"]*"|\S+)', line)]
    assert {name: value.strip('"') for name, value in pairs} == dict(image.environment)
    assert re.findall(r"^USER (.*)$", text, re.M) == [image.user]
    assert json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.M)[1]) == list(image.entrypoint)
    assert json.loads(re.search(r"^CMD (.*)$", text, re.M)[1]) == list(image.arguments)
    bases = re.findall(r"^FROM (\S+)", text, re.M)
    assert [b for b in bases if b != "scratch" and not re.search(r"@sha256:[0-9a-f]{64}$", b)] == []


def test_containers_run_as_an_unassigned_user():
    for recipe in (OPERATOR, LAB):
        image = describe_image(recipe, "", "amd64", SourceRevision("abc", 0))
        assert image.user == "65532:65532"
        assert image.environment["HOME"] == "/tmp"
        assert image.environment["PYTHONDONTWRITEBYTECODE"] == "1"
        assert image.labels["org.opencontainers.image.revision"] == "abc"


def test_image_time_is_commit_time_or_source_date_epoch(monkeypatch, tmp_path):
    monkeypatch.delenv(source.VARIABLE, raising=False)
    with pytest.raises(source.UsageError, match="not a git checkout"):
        read_revision(tmp_path)
    monkeypatch.setenv(source.VARIABLE, "1700000000")
    assert read_revision(tmp_path) == SourceRevision("", 1_700_000_000)
    monkeypatch.setenv(source.VARIABLE, "yesterday")
    with pytest.raises(source.UsageError, match="yesterday"):
        read_revision(tmp_path)


def test_file_selection_works_without_git(monkeypatch):
    before = [entry.path for entry in select_files(ROOT, LAB.kit)]
    monkeypatch.setattr(source, "_ask_git", lambda *_: "")
    assert [entry.path for entry in select_files(ROOT, LAB.kit)] == before
