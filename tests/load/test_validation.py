"""Every mistake of a file at once, with its place and a fix."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load import (
    Mistaken,
    find_scenario_files,
    load_app,
    load_fault,
    load_scenario,
    parse_scenario_object,
    suggest_path,
)
from scenario_kit.load.yaml.document import read_document

HEAD = "apiVersion: scenariokit.io/v1alpha1\nkind: Scenario\nmetadata: {name: cart-down}\nspec:\n  title: x\n"
APP = "  app: {name: otel-demo, version: 2.2.0}\n"


def findings(text: str, folder: Path) -> list[tuple[str, int, str, str]]:
    path = folder / "scenario.yaml"
    path.write_text(text)
    with pytest.raises(AuthoringError) as caught:
        load_scenario(path)
    return [(f.code, f.position.line if f.position else 0, f.message, f.fix) for f in caught.value.findings]


@pytest.mark.parametrize(
    ("text", "code", "line", "message", "fix"),
    [
        (HEAD + APP + "  expect: {alerts: [{name: A, withinSeconds: 480.0}]}\n", "SK104", 7,
         ", but is 480.0", "write 480"),
        (HEAD + APP + "  expectd: {}\n", "SK102", 7, "`expectd` is not a field of `spec`", "`expect`"),
        (HEAD + APP + "  expect: {background: [{name: A, reason: it is slow, as ever and always}]}\n", "SK102", 7,
         "`as ever and always` is not a field of", "quote the text before it"),
        (HEAD + APP + "  expect: {alerts: [{name: A, true: Deployment/a}]}\n", "SK102", 7,
         "kubectl reads as `true`, is now `entity`", "lint --fix"),
        (HEAD, "SK103", 5, "`spec` lacks the required field `app`", "add `app`"),
        (HEAD + "  app: {name: x}\n", "SK103", 6, "`spec.app` lacks the required field `version`", "add `version`"),
        (HEAD + "  app: {name: x, version: 3.0}\n", "SK104", 6, "must be text, but is 3.0", "write text"),
        (HEAD + APP + "  faults: {}\n", "SK104", 7, "`spec.faults` must be a list, but is an object", "write a list"),
        (HEAD + APP + "  domain: sr\n", "SK104", 7, "`spec.domain` must be 'sre' or", "`sre`"),
        (HEAD + APP + "  title2: x\n", "SK102", 7, "`title2`", "`title`"),
        (HEAD.replace("v1alpha1", "v1") + APP, "SK105", 1, "must be 'scenariokit.io/v1alpha1'", "v1alpha1"),
        (HEAD.replace("cart-down", "Cart_Down") + APP, "SK106", 3, "lower-case letters", "write lower-case"),
        (HEAD.replace("Scenario", "Pod") + "  x: 1\n", "SK104", 2, "contains a 'Pod'", "write `kind: Scenario`"),
        ("[1, 2]", "SK104", 1, "the document must be an object, but is a list", "write an object"),
        (
            HEAD + APP + "  faults:\n  - {name: a, type: t, target: service/x}\n",
            "SK104", 8, "a reference such as 'Deployment/cart'", "write a reference",
        ),
        (
            HEAD + APP + "  faults:\n  - {name: a, type: t, target: A/x}\n  - {name: a, type: t, target: A/x}\n",
            "SK106", 9, "has the same name as entry 0: 'a'", "another name",
        ),
        (
            HEAD + APP + "  decoys:\n  - name: d\n    changes:\n"
            "    - {scale: {target: A/x, replicas: 1}, delete: {target: A/x}}\n",
            "SK104", 10, "but has `delete` and `scale`", "keep one of `delete` and `scale`",
        ),
        (HEAD + APP + "  decoys: [{name: d, changes: [{}]}]\n", "SK104", 7, "but has none of them", "add one of"),
        (
            HEAD + APP + "  decoys: [{name: d, changes: [{scale: {target: A/x, replicas: -1}}]}]\n",
            "SK104", 7, "must be at least 0, but is -1", "at least 0",
        ),
    ],
)  # fmt: skip
def test_mistake_has_code_line_message_and_fix(
    text: str, code: str, line: int, message: str, fix: str, tmp_path: Path
) -> None:
    ((found_code, found_line, found_message, found_fix),) = findings(text, tmp_path)

    assert (found_code, found_line) == (code, line)
    assert message in found_message
    assert fix in found_fix


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    text = HEAD + "  app: {name: x, versoin: 1}\n  expect: {alerts: [{class: mustFire}]}\n  brif: x\n  brif: y\n"

    found = findings(text, tmp_path)

    assert [(code, line) for code, line, _, _ in found] == [
        ("SK101", 9), ("SK103", 6), ("SK102", 6), ("SK103", 7), ("SK104", 7), ("SK102", 8),
    ]  # fmt: skip


@pytest.mark.parametrize("old", ["on", "true"])
def test_stored_object_with_a_former_name_is_refused(old: str) -> None:
    path = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
    stored = read_document(path).data
    alert = stored["spec"]["expect"]["alerts"][0]
    alert[old] = alert.pop("entity")

    with pytest.raises(AuthoringError, match=r"`on`.* is now `entity`") as refused:
        parse_scenario_object(stored)
    (found,) = refused.value.findings
    assert found.code == "SK102"
    assert "spec.expect.alerts[0]" in found.message


def test_object_of_other_version_is_an_authoring_error() -> None:
    with pytest.raises(AuthoringError, match="cannot be read"):
        parse_scenario_object({"metadata": {"name": "x"}, "spec": {"title": "x"}})


def test_free_form_object_keeps_a_field_named_true() -> None:
    spec = {"title": "x", "app": {"name": "a", "version": "1", "options": {"true": 1}}}

    assert parse_scenario_object({"metadata": {"name": "x"}, "spec": spec}).spec.app.options == {"true": 1}


def test_catalogue_loads() -> None:
    root = find_data_root() / "catalog"
    for path in root.glob("faults/*/fault.yaml"):
        assert load_fault(path).fault.name == path.parent.name
    for path in root.glob("apps/*/app.yaml"):
        assert load_app(path)["name"] == path.parent.name


FAULT = """
name: f
version: 1
title: t
description: d
targets: [Deployment]
parameters: {type: object, properties: {n: {type: integer}}}
changes: [{scale: {target: "{{ target }}", replicas: "{{ parameters.n }}"}, when: "{{ parameters.n > 1 }}"}]
effect: [{object: {ref: "{{ target }}", path: spec.replicas, equals: 1}, withinSeconds: "{{ parameters.n }}"}]
entities: [{ref: "{{ target }}"}]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('replicas: "{{ parameters.n }}"', "replicas: many", "must be an integer"),
        ("[Deployment]", "[deployment]", "a kind such as 'Deployment'"),
        ("type: integer", "type: int", "`parameters` is not a JSON Schema"),
        ("effect:", "effects:", "lacks the required field `effect`"),
        ('ref: "{{ target }}"}]\n', "ref: target}]\n", "a reference such as"),
    ],
)
def test_mistakes_of_a_fault(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "fault.yaml"
    path.write_text(FAULT.replace(old, new))

    with pytest.raises(AuthoringError) as caught:
        load_fault(path)
    assert any(message in f.message for f in caught.value.findings), [f.message for f in caught.value.findings]


def test_template_may_replace_any_value(tmp_path: Path) -> None:
    path = tmp_path / "fault.yaml"
    path.write_text(FAULT)

    assert load_fault(path).fault.changes[0]["when"] == "{{ parameters.n > 1 }}"


def test_scenario_files_are_found_below_folders(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "scenario.yaml", tmp_path / "other.yaml"
    first.parent.mkdir()
    first.touch()
    second.touch()

    assert find_scenario_files([tmp_path, second, first]) == [first, second]


def test_no_scenario_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no"):
        find_scenario_files([tmp_path])
    with pytest.raises(UsageError, match="there is no"):
        find_scenario_files([tmp_path / "missing"])


def test_unknown_path_error_suggests_similar_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "catalog" / "scenarios" / "cart-scaled-to-zero").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    reported = {
        path: suggest_path(Path(path)) for path in ("catalog/scenario", "cart-scale-to-zero", "zzz", "no/such/folder")
    }

    assert reported == {
        "catalog/scenario": "did you mean `catalog/scenarios`?",
        "cart-scale-to-zero": "did you mean `catalog/scenarios/cart-scaled-to-zero`?",
        "zzz": "",
        "no/such/folder": "",
    }


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("properties",), ["shape"], "`options` is not a JSON Schema"),
        (("properties", "shape"), "x", "`options` is not a JSON Schema"),
        (("properties", "shape"), True, "`shape` has no schema"),
        (("properties", "shape", "enum"), 5, "`options` is not a JSON Schema"),
        (("properties", "shape", "pattern"), "(?=a)", "invalid pattern"),
        (
            ("properties", "shape", "x-requires"),
            ["nodes"],
            "`x-requires` of option 'shape' does not map values to capabilities",
        ),
        (("properties", "shape", "x-requires"), {"Surge": "nodes"}, "`x-requires` of option 'shape' does not map"),
    ],
)
def test_invalid_options_schema_is_reported(tmp_path, place, value, words):
    document = yaml.safe_load((find_data_root() / "catalog" / "apps" / "hotel-reservation" / "app.yaml").read_text())
    around = document["options"]
    for key in place[:-1]:
        around = around[key]
    around[place[-1]] = value
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))

    with pytest.raises(Mistaken) as refused:
        load_app(path)

    assert words in refused.value.findings[0].message
    assert refused.value.findings[0].position.line > 1
