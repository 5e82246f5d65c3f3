"""``operator``: the manifests that it prints, which options it refuses, and what it starts."""

import os
import sys

import pytest
import yaml

from scenario_kit.cli import run
from scenario_kit.cli.operator import build_solver_kubeconfig

IMAGE = "registry.example:5000/kit/operator:1@sha256:" + "a" * 64


def print_manifests(capsys, *options):
    assert run(["operator", "manifests", *options]) == 0
    return list(yaml.safe_load_all(capsys.readouterr().out))


def test_everything_is_printed_in_the_order_in_which_it_is_applied(capsys):
    kinds = [obj["kind"] for obj in print_manifests(capsys)]
    assert kinds[:4] == ["CustomResourceDefinition"] * 3 + ["Namespace"]
    assert kinds[-3:] == ["Deployment", "PodDisruptionBudget", "NetworkPolicy"]


def test_options_change_the_deployment_alone(capsys):
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


def test_the_webhook_is_printed_where_it_is_asked_for(capsys):
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
def test_what_would_not_work_is_refused(capsys, options, text):
    assert run(["operator", "manifests", *options]) == 3
    streams = capsys.readouterr()
    assert text in streams.err
    assert not streams.out


def test_a_kubeconfig_of_a_solver_has_a_token_and_one_name_to_act_as():
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
        (["--context", "nowhere", "--as", "admin"], 3, "--as has no value 'admin'"),
        (["--context", "nowhere", "--namespace", "A b"], 3, "this is not the name of a namespace"),
        (["--context", "nowhere", "--hours", "0"], 3, "0 is not in the range"),
    ],
)
def test_a_kubeconfig_needs_a_context_that_is_there(capsys, monkeypatch, tmp_path, options, code, text):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert run(["operator", "kubeconfig", *options]) == code
    streams = capsys.readouterr()
    assert text in streams.err
    assert not streams.out


def test_the_operator_takes_the_place_of_the_command(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.append((program, arguments)))
    run(["operator", "run", "--name", "mine", "--listen", "127.0.0.1:0", "--webhook", "127.0.0.1:1"])
    run(["operator", "run", "--context", "kind-a", "--prometheus-url", "http://p:1", "--offer", "jvm"])
    lab, cluster = (arguments[3:] for program, arguments in started if program == sys.executable)
    assert lab == ["--lab", "mine", "--clock", "Wall", "--listen", "127.0.0.1:0", "--webhook", "127.0.0.1:1"]
    assert cluster == ["--context", "kind-a", "--allow-context", "", "--prometheus-url", "http://p:1", "--offer", "jvm"]
