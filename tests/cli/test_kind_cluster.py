"""``verify --cluster kind`` on a fake machine: invoked programs, and errors without them."""

import io
import json
import stat
import tarfile

import pytest

from scenario_kit.cli import run
from scenario_kit.cli.validation.kind_cluster import (
    CommandOutcome,
    KindCluster,
    bring_up_kind,
    build_configuration,
    find_engine,
    install,
    install_chaos,
    list_objects,
    name_cluster,
    read_image_name,
)
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.testing import FakeCluster


class FakeMachine:
    """Programs that are there, and how those end that do not succeed, by the beginning of their words."""

    def __init__(self, *programs, **failures):
        self.programs, self.failures, self.calls, self.clusters = programs, failures, [], ""

    def has(self, program):
        return program in self.programs

    def run(self, arguments, stdin="", environment=None):
        self.calls.append((list(arguments), stdin, environment))
        words = "_".join(arguments)
        failed = next((text for name, text in self.failures.items() if words.startswith(name)), None)
        if failed is not None:
            return CommandOutcome(1, "", f"first line\n{failed}\n")
        if arguments[1:3] == ["get", "clusters"]:
            return CommandOutcome(0, self.clusters)
        return CommandOutcome(0, "kubeconfig" if arguments[1:3] == ["get", "kubeconfig"] else "")

    def find(self, *words):
        return [call for call in self.calls if set(words) <= set(call[0])]


@pytest.fixture
def kind(tmp_path):
    messages = []
    return KindCluster("scenario-kit", tmp_path / "state" / "config", say=messages.append)


@pytest.mark.parametrize(
    ("machine", "message", "fix"),
    [
        (FakeMachine("kind"), "there is none of docker, podman, nerdctl", "--cluster current --context NAME"),
        (FakeMachine("docker", "kind", docker_info="no daemon"), "docker does not answer: no daemon", "start docker"),
        (FakeMachine("docker"), "the program kind, which is not on PATH", "kind.sigs.k8s.io"),
    ],
    ids=["no engine", "no answer", "no kind"],
)
def test_missing_requirement_is_named_with_fix(machine, message, fix):
    with pytest.raises(InfrastructureError, match=message) as raised:
        find_engine(machine)
    assert fix in raised.value.fix


def test_responding_container_engine_is_used():
    assert find_engine(FakeMachine("docker", "podman", "kind", docker_info="no daemon")) == "podman"


def test_missing_engine_is_reported_before_start(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCENARIO_KIT_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "scenario.yaml").write_text("kind: Scenario\n")
    assert run(["verify", "scenario.yaml", "--cluster", "kind"]) == 2
    assert "needs a container engine" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


def test_cluster_is_created_once_with_separate_kubeconfig(kind):
    machine = FakeMachine("docker", "kind")
    bring_up_kind(machine, kind)
    ((arguments, stdin, environment),) = machine.find("create")
    assert arguments[arguments.index("--kubeconfig") + 1] == str(kind.kubeconfig)
    assert stdin == build_configuration()
    assert environment == {"KIND_EXPERIMENTAL_PROVIDER": "docker"}
    machine.clusters = "another scenario-kit"
    bring_up_kind(machine, kind)
    assert len(machine.find("create")) == 1
    assert kind.kubeconfig.read_text() == "kubeconfig"
    assert stat.S_IMODE(kind.kubeconfig.stat().st_mode) == 0o600


def test_kind_failure_shows_last_line(kind):
    machine = FakeMachine("docker", "kind", kind_create="no space left")
    with pytest.raises(InfrastructureError, match="kind create cluster --name ended with 1: no space left"):
        bring_up_kind(machine, kind)


def write_archive(path, index):
    text = json.dumps(index).encode()
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("index.json")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return str(path)


def test_image_archive_and_reference_are_loaded_differently(kind, tmp_path):
    archive = write_archive(tmp_path / "image.tar", {"manifests": []})
    for image, verb in ((archive, "image-archive"), ("scenario-kit:1", "docker-image")):
        machine = FakeMachine("docker", "kind")
        bring_up_kind(machine, kind._replace(image=image))
        ((arguments, _, _),) = machine.find("load")
        assert arguments[2:] == [verb, image, "--name", "scenario-kit"]


@pytest.mark.parametrize("name", ["io.containerd.image.name", "org.opencontainers.image.ref.name"])
def test_image_name_is_read_from_the_archive(tmp_path, name):
    index = {"manifests": [{"annotations": {name: "scenario-kit:7"}}]}
    assert read_image_name(write_archive(tmp_path / "i.tar", index)) == "scenario-kit:7"
    assert read_image_name("registry.example/kit:1") == "registry.example/kit:1"


def test_invalid_image_archive_is_refused(tmp_path):
    (tmp_path / "text").write_text("no archive")
    for file in (str(tmp_path / "text"), write_archive(tmp_path / "empty.tar", {"manifests": [{}]})):
        with pytest.raises(UsageError, match="--image"):
            read_image_name(file)


def test_operator_is_installed_from_the_image_and_waited_for(kind):
    cluster = FakeCluster()
    for obj in list_objects("scenario-kit:7"):
        if obj["kind"] == "Namespace":
            cluster.put(obj)
    applied, pauses = [], []
    cluster.apply = applied.append

    def pause(seconds):
        pauses.append(seconds)
        cluster.put({
            "apiVersion": "apps/v1", "kind": "Deployment", "spec": {}, "status": {"availableReplicas": 1},
            "metadata": {"name": "scenario-kit-operator", "namespace": "scenario-kit"},
        })  # fmt: skip

    install(cluster, kind._replace(image="scenario-kit:7"), pause)
    images = {
        c["image"] for o in applied if o["kind"] == "Deployment" for c in o["spec"]["template"]["spec"]["containers"]
    }
    assert "scenario-kit:7" in images
    assert len(images) == 3
    assert len(pauses) == 1


def test_missing_operator_and_image_is_a_usage_error(kind):
    with pytest.raises(UsageError, match="has no operator yet") as raised:
        install(FakeCluster(), kind, lambda seconds: None)
    assert "--image" in raised.value.fix


def test_unavailable_operator_times_out(kind):
    cluster = FakeCluster()
    cluster.apply = lambda obj: obj
    with pytest.raises(InfrastructureError, match="is not available after 600 s"):
        install(cluster, kind._replace(image="scenario-kit:7"), lambda seconds: None)


def test_chaos_mesh_is_installed_with_helm(kind):
    machine = FakeMachine("helm")
    install_chaos(machine, FakeCluster(), kind)
    ((arguments, _, _),) = machine.calls
    assert arguments[:4] == ["helm", "upgrade", "--install", "chaos-mesh"]
    assert arguments[arguments.index("--kubeconfig") + 1] == str(kind.kubeconfig)
    with pytest.raises(InfrastructureError, match="ended with 1: no chart"):
        install_chaos(FakeMachine("helm", helm_upgrade="no chart"), FakeCluster(), kind)


def test_existing_chaos_mesh_is_kept(kind):
    there = {
        "apiVersion": "apps/v1", "kind": "Deployment", "spec": {},
        "metadata": {"name": "chaos-controller-manager", "namespace": "chaos-mesh"},
    }  # fmt: skip
    machine = FakeMachine("helm")
    install_chaos(machine, FakeCluster([there]), kind)
    assert machine.calls == []
    install_chaos(FakeMachine(), FakeCluster(), kind)


def test_cluster_name_includes_the_lab_name():
    assert name_cluster("default") == "scenario-kit"
    assert name_cluster("mine") == "scenario-kit-mine"
    with pytest.raises(UsageError, match="not a valid lab name"):
        name_cluster("../mine")
