"""Truths of ITBench: both versions, wrapped and flat, and files as they are published, with their mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load import load_scenario
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.itbench_truth import build_truth_v1, build_truth_v2, read_itbench_truth
from scenario_kit.scoring.files.scenario_truth import build_scenario_truth
from scenario_kit.scoring.files.source import parse_source
from scenario_kit.scoring.files.truths import LoadedTruth, list_incidents, read_truths
from tests.scoring.truths import decide

FLAT = """\
groups:
  - {id: cart-deploy, kind: Deployment, namespace: shop, filter: ['cart(-.*)?'], root_cause: true}
  - {id: cart-svc, kind: Service, namespace: shop, filter: 'cart'}
  - {id: front-svc, kind: Service, namespace: shop, filter: ['frontend']}
aliases: [[cart-deploy, cart-svc]]
propagations:
  - {source: cart-deploy, target: front-svc, condition: cart has no ready pod, effect: checkout requests fail}
alerts: [{id: HighRequestErrorRate, group_id: front-svc, metadata: {description: errors at the edge}}]
fault: [{category: Configuration Setting, condition: wrong command, fault_mechanism: patch}]
recommended_actions: [{solution: {id: s1, actions: [restore the command]}}]
"""
WRAPPED = "apiVersion: itbench.io/v1\nkind: GroundTruth\nmetadata: {name: scenario-7}\nspec:\n" + "".join(
    f"  {line}\n" for line in FLAT.splitlines()
)
V2 = """\
apiVersion: itbench.io/v2
kind: GroundTruth
metadata: {name: scenario-3}
spec:
  alerts: [{name: KubePodNotReady, labels: {}}]
  entities:
    - {apiVersion: apps/v1, kind: Deployment, metadata: {name: cart, namespace: shop}}
    - {apiVersion: v1, kind: Secret, metadata: {name: cart-key, namespace: shop}}
    - {apiVersion: apps/v1, kind: Deployment, metadata: {name: cart, namespace: shop}}
  solutions: [[{steps: [{text: scale it}]}]]
"""


def read(tmp_path: Path, text: str, name: str = "truth.yaml") -> list[LoadedTruth]:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return read_truths(path)


@pytest.mark.parametrize(("text", "incident"), [(FLAT, "1"), (WRAPPED, "7")])
def test_version_1(tmp_path: Path, text: str, incident: str) -> None:
    (loaded,) = read(tmp_path, text)
    assert loaded.warnings == ()
    truth = loaded.truth
    assert truth.incident == incident
    assert [(g.id, g.root, g.patterns) for g in truth.groups] == [
        ("cart-deploy", True, ("cart(-.*)?",)), ("cart-svc", False, ("cart",)), ("front-svc", False, ("frontend",)),
    ]  # fmt: skip
    assert truth.aliases == (("cart-deploy", "cart-svc"),)
    assert truth.edges[0].effect == "checkout requests fail"
    assert truth.alerts == ("HighRequestErrorRate",)
    assert decide(truth, "shop/Service/cart")[0].verdict == "RootCause"


def test_version_2_has_no_roles(tmp_path: Path) -> None:
    (loaded,) = read(tmp_path, V2)
    assert [(g.kind, g.names, g.root) for g in loaded.truth.groups] == [
        ("Deployment", ("cart",), True), ("Secret", ("cart-key",), True),
    ]  # fmt: skip
    assert loaded.truth.incident == "3"


def test_json_truth_is_read_like_yaml(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(yaml.safe_load(FLAT)), "truth.json")[0].truth == read(tmp_path, FLAT)[0].truth


def test_lists_and_folders(tmp_path: Path) -> None:
    rows = [yaml.safe_load(FLAT) | {"id": 4}, yaml.safe_load(FLAT) | {"id": "Scenario-5"}]
    assert [t.truth.incident for t in read(tmp_path, json.dumps(rows), "a/ground_truths.json")] == ["4", "5"]
    assert [t.truth.incident for t in read_truths(tmp_path / "a")] == ["4", "5"]
    read(tmp_path, FLAT, "b/Scenario-8/ground_truth.yaml")
    read(tmp_path, FLAT, "b/Scenario-9/gt.yml")
    assert list_incidents(read_truths(tmp_path / "b")) == ["8", "9"]
    assert read_truths(tmp_path / "b" / "Scenario-8")[0].truth.incident == "8"
    with pytest.raises(UsageError, match="duplicate ground truth"):
        list_incidents([*read_truths(tmp_path / "b"), *read_truths(tmp_path / "b")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="contains no ground truth"):
        read_truths(tmp_path / "empty")
    with pytest.raises(UsageError, match="does not exist"):
        read_truths(tmp_path / "missing")


def test_numeric_ids_are_accepted(tmp_path: Path) -> None:
    text = "groups: [{id: 1, kind: Pod, name: a, root_cause: true}, {id: 2, kind: Service, name: b}]\naliases: [[1, 2]]"
    (loaded,) = read(tmp_path, text)
    assert (loaded.truth.aliases, loaded.warnings) == ((("1", "2"),), ())


def test_table_of_rows(tmp_path: Path) -> None:
    row = {"id_aa": "x", "scenario_id": "Scenario-12", "category": "sre", "ground_truth_yaml": WRAPPED}
    (loaded,) = read(tmp_path, json.dumps(row) + "\n\n", "data.jsonl")
    assert loaded.truth.incident == "12"


@pytest.mark.parametrize(
    ("more", "message", "line"),
    [
        ("propagations: [{source: cart, target: nowhere}]", "is not the id of a group: 'nowhere'", 3),
        ("propagations: [{source: null, target: cart}]", "is not the id of a group: ''", 3),
        ("aliases: [[cart, gone]]", "unknown group id 'gone'", 3),
        ("propagations: [{source: other, target: cart}]", "is neither a root nor affected by one", 3),
        ("alerts: []", "", 0),
    ],
)
def test_invalid_parts_of_published_files_are_skipped_with_warning(
    tmp_path: Path, more: str, message: str, line: int
) -> None:
    text = f"groups: [{{id: cart, kind: Deployment, filter: ['cart', '*.*'], root_cause: true}}, \
{{id: null, kind: Pod}},\n  {{id: other, kind: Pod, name: x}}]\n{more}\n"
    (loaded,) = read(tmp_path, text)
    messages = {(finding.message, finding.position.line if finding.position else 0) for finding in loaded.warnings}
    assert any("invalid pattern '*.*' of group 'cart'" in text for text, _ in messages)
    assert any("has no id" in text for text, _ in messages)
    assert not message or any(message in text and at == line for text, at in messages)
    assert decide(loaded.truth, "shop/Deployment/cart")[0].verdict == "RootCause"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("groups: [{id: a, kind: Hpa, filter: ['*.*'], root_cause: true}]", "no answer can name the root 'a'", (1, 1)),
        ("groups: [{id: a, kind: Pod, name: x}]", "has no root cause", (1, 1)),
        (
            "groups:\n- {id: a, kind: 7, name: x, root_cause: true}",
            "`groups[0].kind` is a number, not a string",
            (2, 17),
        ),
        ("groups:\n- {id: a, name: x, root_cause: true}", "group 'a' has no kind", (2, 3)),
        ("groups:\n- {id: a, kind: Pod, name: x, root_cause: maybe}", "not a boolean", (2, 43)),
        ("groups: 5", "`groups` is a number, not a list", (1, 9)),
        ("groups: [{id: a, kind: A, name: x}, {id: a, kind: B, name: y, root_cause: true}]", "duplicate group", (1, 9)),
        ("hello: world", "not a ground truth", (1, 1)),
        ('{"groups": [{"id": "a",\n "kind": []}]}', "`groups[0].kind` is a list, not a string", (2, 10)),
        ('{"groups": [}', "not JSON", (1, 13)),
        ("groups: ]", "not YAML", (1, 9)),
        ("[]: 1", "a field name must be text", (1, 1)),
    ],
)
def test_unscorable_truth_is_refused_with_position(
    tmp_path: Path, text: str, message: str, place: tuple[int, int]
) -> None:
    with pytest.raises(AuthoringError) as caught:
        read(tmp_path, text, "truth.json" if text.startswith("{") else "truth.yaml")
    found = next(finding for finding in caught.value.findings if message in finding.message)
    assert found.position is not None
    assert (found.position.line, found.position.column) == place
    assert found.fix


def reread(document: dict[str, object]) -> IncidentTruth:
    source = parse_source(json.dumps(document), "written.json")
    return read_itbench_truth(Fields(Mistakes(source), (), source.data), "")


def test_written_truth_round_trips(tmp_path: Path) -> None:
    truth = read(tmp_path, WRAPPED)[0].truth
    assert reread(build_truth_v1(truth)) == truth
    two = read(tmp_path, V2)[0].truth
    assert reread(build_truth_v2(two)).groups == two.groups
    assert reread(build_truth_v1(two)).groups == two.groups


def test_scenario_of_ours(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "catalog/scenarios/ads-tuned-to-death/scenario.yaml"
    scenario = load_scenario(path).scenario
    truth = build_scenario_truth(scenario.name, scenario.spec, scenario.spec.ground_truth, ())
    assert (truth.groups[0].id, truth.groups[0].root) == ("Deployment/ad", True)
    assert decide(truth, "otel-demo/Deployment/ad")[0].verdict == "RootCause"
    assert (truth.steps, len(truth.edges)) == (1, 2)
    assert [group.id for group in truth.repaired] == ["Deployment/ad"]
    placed = build_scenario_truth(scenario.name, scenario.spec, scenario.spec.ground_truth, (), "shop")
    assert decide(placed, "other/Deployment/ad")[0].verdict == "Unmatched"
    assert decide(placed, "shop/Deployment/ad")[0].verdict == "RootCause"
    assert reread(build_truth_v1(placed)).edges[0].source == "Deployment/ad"


def test_folders_of_itbench_have_two_versions_of_which_the_fuller_one_counts(tmp_path: Path) -> None:
    roots = {"entities": [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}}]}
    second = {"apiVersion": "itbench.io/v2", "kind": "GroundTruth", "metadata": {"name": "scenario-7"}, "spec": roots}
    folder = tmp_path / "scenario_7"
    folder.mkdir()
    (folder / "groundtruth.yaml").write_text(yaml.safe_dump(second))
    assert [group.names for group in read_truths(tmp_path)[0].truth.groups] == [("web",)]

    groups = [{"id": "db", "kind": "Pod", "name": "db-0", "root_cause": True}, {"id": "web", "kind": "Service"}]
    first = {"apiVersion": "itbench.io/v1", "kind": "GroundTruth", "spec": {"groups": groups}}
    (folder / "groundtruth_v1.yaml").write_text(yaml.safe_dump(first))
    (loaded,) = read_truths(tmp_path)
    assert (loaded.truth.incident, [group.id for group in loaded.truth.groups]) == ("7", ["db", "web"])
