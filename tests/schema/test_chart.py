"""The Helm chart renders to what `operator manifests` prints: read with the few directives of it, and by Helm."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from scenario_kit.cli import run
from scenario_kit.cli.operator import collect_chart, collect_manifests, write_folder
from scenario_kit.schema.chart import build_values_schema, list_values
from scenario_kit.schema.deployment import Installation
from scenario_kit.schema.install import NAMESPACE

_DIRECTIVE = re.compile(r"(?s)(\s*)\{\{(-?)\s*(.*?)\s*\}\}")
INSTALLATIONS = [
    Installation(
        image="registry.example/scenario-kit:1@sha256:" + "a" * 64,
        offers=offers,
        catalog_claim=claim,
        replicas=replicas,
        webhook=webhook,
        system_namespaces=namespaces,
    )
    for offers, claim, (replicas, webhook), namespaces in product(
        ((), ("nodes>=3", "jvm-agent")),
        ("", "ours"),
        ((1, False), (3, True)),
        ((), ("calico-system", "istio-system")),
    )
]


def render(template: str, values: dict[str, Any], namespace: str = NAMESPACE) -> str:
    """Evaluate the few directives that the chart uses, as Go's text/template does."""
    tokens: list[tuple[str, str]] = []
    at = 0
    for found in _DIRECTIVE.finditer(template):
        space, trim, code = found.groups()
        tokens += [("text", template[at : found.start()] + ("" if trim else space)), ("code", code)]
        at = found.end()
    tokens.append(("text", template[at:]))
    return "".join(evaluate(iter(tokens), values, namespace, None))


def evaluate(tokens: Iterator[tuple[str, str]], values: dict[str, Any], namespace: str, dot: Any) -> list[str]:
    out: list[str] = []
    for kind, text in tokens:
        if kind == "text":
            out.append(text)
        elif text == "end":
            return out
        elif text.startswith(("if ", "range ")):
            word, _, condition = text.partition(" ")
            body = []
            depth = 1
            for token in tokens:
                depth += token[0] == "code" and token[1].startswith(("if ", "range "))
                depth -= token == ("code", "end")
                if not depth:
                    break
                body.append(token)
            chosen = decide(condition, values, namespace)
            rounds = (chosen if word == "range" else [dot] if chosen else []) or []
            for each in rounds:
                out += evaluate(iter(body), values, namespace, each)
        elif text.startswith("fail "):
            raise RuntimeError(json.loads(text[5:]))
        elif text == '"{{"':
            out.append("{{")
        elif text == ". | quote":
            out.append(json.dumps(dot))
        else:
            name, _, pipe = text.partition(" | ")
            assert name.startswith(".Values."), text
            assert pipe in ("", "quote"), text
            value = values[name.removeprefix(".Values.")]
            out.append(json.dumps(value) if pipe else str(value))
    return out


def decide(condition: str, values: dict[str, Any], namespace: str) -> Any:
    if condition.startswith("ne .Release.Namespace "):
        return namespace != json.loads(condition.rpartition(" ")[2])
    if condition.startswith("not (or "):
        return not any(values[n.removeprefix(".Values.")] for n in condition[8:-1].split())
    return values[condition.removeprefix(".Values.")]


def read(texts: list[str]) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = [obj for text in texts for obj in yaml.load_all(text, Loader=loader) if obj]
    return sorted(found, key=lambda o: (o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"]))


def list_printed(installation: Installation, *, platform: bool, crds: bool = False) -> list[dict[str, Any]]:
    """List the printed objects, except the Namespace, which Helm creates."""
    parts = collect_manifests(installation, platform=platform)
    printed = read([text for name, text in parts.items() if crds or name != "crds.yaml"])
    return [o for o in printed if (o["kind"], o["metadata"]["name"]) != ("Namespace", NAMESPACE)]


@pytest.mark.parametrize("index", range(len(INSTALLATIONS)))
def test_chart_renders_printed_manifests_for_same_values(index: int) -> None:
    installation, platform = INSTALLATIONS[index], bool(index % 2)
    chart = collect_chart(Installation(), platform=False)
    values = list_values(installation, platform=platform)
    texts = [render(text, values) for path, text in chart.items() if path.startswith("templates/")]

    assert read(texts) == list_printed(installation, platform=platform)
    assert chart["crds/crds.yaml"] == collect_manifests(installation, platform=False)["crds.yaml"]


def test_chart_values_match_operator_options(tmp_path: Path) -> None:
    folder = tmp_path / "chart"
    options = ["--image", "registry.example/a:1", "--offer", "nodes>=3", "--replicas", "2", "--webhook", "--platform"]
    assert run(["operator", "manifests", "--helm", str(folder), *options]) == 0
    values = yaml.safe_load((folder / "values.yaml").read_text())

    expected = Installation(image="registry.example/a:1", offers=("nodes>=3",), replicas=2, webhook=True)
    assert values == list_values(expected, platform=True)
    jsonschema.validate(values, build_values_schema())
    assert yaml.safe_load((folder / "Chart.yaml").read_text())["apiVersion"] == "v2"


def test_chart_is_not_written_over_existing_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "mine").write_text("x")
    assert run(["operator", "manifests", "--helm", str(tmp_path / "chart")]) == 3
    assert "already exists" in capsys.readouterr().err
    assert run(["operator", "manifests", "--helm", str(tmp_path / "a"), "--kustomize", str(tmp_path / "b")]) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["chart"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"image": ""},
        {"image": "a b"},
        {"prometheusUrl": "prometheus:9090"},
        {"replicas": 0},
        {"replicas": "2"},
        {"offers": "nodes>=3"},
        {"catalog": "Ours_"},
        {"webhook": "yes"},
        {"prometheusURL": "http://a"},
    ],
)
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**list_values(Installation()), **wrong}, build_values_schema())


def test_chart_requires_its_namespace() -> None:
    access = collect_chart(Installation(), platform=False)["templates/access.yaml"]
    with pytest.raises(RuntimeError, match="--namespace scenario-kit --create-namespace"):
        render(access, list_values(Installation()), namespace="default")


@pytest.fixture
def helm() -> str:
    found = os.environ.get("SCENARIO_KIT_HELM") or shutil.which("helm")
    if not found:
        pytest.skip("there is no helm on PATH, and SCENARIO_KIT_HELM names none")
    return found


@pytest.mark.parametrize("index", [0, len(INSTALLATIONS) - 1])
def test_helm_renders_the_printed_manifests(helm: str, tmp_path: Path, index: int) -> None:
    installation, platform = INSTALLATIONS[index], bool(index)
    write_folder(tmp_path / "chart", collect_chart(Installation(), platform=False))
    values = tmp_path / "values.json"
    values.write_text(json.dumps(list_values(installation, platform=platform)))

    def call(*words: str) -> str:
        command = [helm, *words, "--values", str(values), "--namespace", NAMESPACE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "0 chart(s) failed" in call("lint", "--strict", str(tmp_path / "chart"))
    rendered = call("template", "scenario-kit", str(tmp_path / "chart"), "--include-crds", "--kube-version", "1.34.0")
    assert read([rendered]) == list_printed(installation, platform=platform, crds=True)
