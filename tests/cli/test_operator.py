"""``operator``: printed manifests, refused options, and started processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scenario_kit.cli import run
from scenario_kit.cli.operator import build_solver_kubeconfig

IMAGE = "registry.example:5000/kit/operator:1@sha256:" + "a" * 64


def print_manifests(capsys, *options):
    assert run(["operator", "manifests", *options]) == 0
    return list(yaml.safe_load_all(capsys.readouterr().out))


def test_manifests_are_printed_in_apply_order(capsys):
    kinds = [obj["kind"] for obj in print_manifests(capsys)]
    assert kinds[:4] == ["CustomResourceDefinition"] * 3 + ["Namespace"]
    assert kinds[-3:] == ["Deployment", "PodDisruptionBudget", "NetworkPolicy"]


def test_options_change_the_deployment_only(capsys):
    plain = print_manifests(capsys)
    options = [
        "--image",
        IMAGE,
        "--prometheus-url",
        "https://p.example/prefix",
        "--offer",
        "nodes>=3",
        "--offer",
        "jvm",
    ]
    chosen = print_manifests(capsys, *options, "--catalog", "ours", "--replicas", "2")
    assert [a["kind"] for a, b in zip(plain, chosen, strict=True) if a != b] == ["Deployment"]
    spec = next(obj for obj in chosen if obj["kind"] == "Deployment")["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert spec["replicas"] == 2
    assert container["image"] == IMAGE
    assert container["args"] == [
        "--in-cluster", "--prometheus-url", "https://p.example/prefix", "--listen", "0.0.0.0:8080",
        "--offer", "nodes>=3", "--offer", "jvm",
    ]  # fmt: skip


def test_webhook_option_adds_webhook_manifests(capsys):
    plain = [obj["kind"] for obj in print_manifests(capsys)]
    chosen = [obj["kind"] for obj in print_manifests(capsys, "--webhook")]
    assert chosen == [*plain, "Service", "ValidatingWebhookConfiguration"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--image", "a image"], "--image a image: this is not an image reference"),
        (["--image", "kit@sha256:abc"], "this is not an image reference"),
        (["--prometheus-url", "prometheus:9090"], "this is not an HTTP address"),
        (["--catalog", "Our_Claim"], "this is not the name of a claim"),
        (["--offer", "jmv"], "there is no such capability"),
        (["--replicas", "0"], "0 is not in the range"),
    ],
)
def test_invalid_manifest_option_is_refused(capsys, options, text):
    assert run(["operator", "manifests", *options]) == 3
    streams = capsys.readouterr()
    assert text in streams.err
    assert not streams.out


def test_solver_kubeconfig_has_token_and_impersonates_one_user():
    endpoint = {"server": "https://a:1", "certificate-authority-data": "Yw=="}
    document = build_solver_kubeconfig(endpoint, "t", "shop")
    assert document["clusters"] == [{"name": "oncall", "cluster": endpoint}]
    assert document["users"] == [{"name": "oncall", "user": {"token": "t", "as": "oncall"}}]
    assert document["contexts"][0]["context"]["namespace"] == "shop"


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        ([], 3, "--context"),
        (["--context", "nowhere"], 2, "context 'nowhere' cannot be used"),
        (["--context", "nowhere", "--as", "admin"], 3, "invalid value 'admin' for --as"),
        (["--context", "nowhere", "--namespace", "A b"], 3, "this is not the name of a namespace"),
        (["--context", "nowhere", "--hours", "0"], 3, "0 is not in the range"),
    ],
)
def test_kubeconfig_needs_an_existing_context(capsys, monkeypatch, tmp_path, options, code, text):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert run(["operator", "kubeconfig", *options]) == code
    streams = capsys.readouterr()
    assert text in streams.err
    assert not streams.out


def test_operator_takes_the_place_of_the_command(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.append((program, arguments)))
    run(["operator", "run", "--name", "mine", "--listen", "127.0.0.1:0", "--webhook", "127.0.0.1:1"])
    run(["operator", "run", "--context", "kind-a", "--prometheus-url", "http://p:1", "--offer", "jvm"])
    lab, cluster = (arguments[3:] for program, arguments in started if program == sys.executable)
    assert lab == ["--lab", "mine", "--clock", "Wall", "--listen", "127.0.0.1:0", "--webhook", "127.0.0.1:1"]
    assert cluster[:4] == ["--context", "kind-a", "--clock", "Wall"]
    assert cluster[4:] == ["--prometheus-url", "http://p:1", "--offer", "jvm"]


def write_base(folder, *options):
    return run(["operator", "manifests", "--kustomize", str(folder), *options])


def read_base(folder):
    """Read a base as Kustomize does: the resources of its file, in their order."""
    base = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert (base["apiVersion"], base["kind"]) == ("kustomize.config.k8s.io/v1beta1", "Kustomization")
    return [obj for name in base["resources"] for obj in yaml.safe_load_all((folder / name).read_text())]


@pytest.mark.parametrize("options", [[], ["--platform"], ["--image", IMAGE, "--replicas", "2", "--offer", "jvm"]])
def test_kustomize_base_equals_printed_manifests(capsys, tmp_path, options):
    printed = print_manifests(capsys, *options)
    assert write_base(tmp_path / "new" / "base", *options) == 0
    assert read_base(tmp_path / "new" / "base") == printed
    assert (tmp_path / "new" / "base" / "chaos-mesh-values.yaml").exists() == ("--platform" in options)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["base"]


def test_kustomize_base_builds_the_printed_objects(capsys, tmp_path):
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("there is no kubectl on PATH, which has kustomize inside")
    printed = print_manifests(capsys, "--platform")
    write_base(tmp_path / "base", "--platform")
    built = subprocess.run(
        [kubectl, "kustomize", str(tmp_path / "base")], capture_output=True, text=True, timeout=60, check=False
    )
    assert built.returncode == 0, built.stderr
    assert sorted(yaml.safe_load_all(built.stdout), key=identify) == sorted(printed, key=identify)


def identify(obj):
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def test_non_empty_folder_is_refused(capsys, tmp_path):
    (tmp_path / "kept").write_text("mine")
    assert write_base(tmp_path) == 3
    assert "already exists" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["kept"]
    assert write_base(tmp_path / "kept") == 3


def test_failed_base_write_leaves_no_folder(tmp_path, monkeypatch):
    def fail(path, target):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "rename", fail)
    assert write_base(tmp_path / "base") == 2
    assert not list(tmp_path.iterdir())


def test_platform_manifests_precede_the_operator(capsys):
    plain, objects = print_manifests(capsys), print_manifests(capsys, "--platform")
    added = [obj for obj in objects if obj not in plain]
    assert [obj for obj in objects if obj in plain] == plain
    assert {obj["metadata"].get("namespace", "monitoring") for obj in added} == {"monitoring"}
    assert {obj["metadata"]["name"] for obj in added if obj["kind"] == "Service"} == {
        "prometheus", "kube-state-metrics",
    }  # fmt: skip
    for obj in (obj for obj in added if obj["kind"] == "ClusterRole"):
        for rule in obj["rules"]:
            assert set(rule["verbs"]) <= {"get", "list", "watch"}
            assert "secrets" not in rule["resources"]
    for obj in (obj for obj in added if obj["kind"] == "Deployment"):
        (container,) = obj["spec"]["template"]["spec"]["containers"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert obj["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"]
