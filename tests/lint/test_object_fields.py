"""SK142, SK143 in files: where they point, what they say, and what else is found there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file, lint_text
from scenario_kit.lint.context.template_lines import find_template_line
from scenario_kit.model import Finding, Position
from scenario_kit.schema.object_types.kubernetes import DATA, get_version
from tests.lint import policy_violations as given
from tests.lint.test_rules import base, write

CATALOG = Catalog(merging=True)
CODES = {"SK142", "SK143"}


def lint_decoy(folder: Path, *changes: dict[str, Any]) -> tuple[list[Finding], Path]:
    document = base()
    document["spec"]["decoys"][0]["changes"] = list(changes)
    path = write(document, folder)
    return [f for f in lint_file(path, CATALOG) if f.code in CODES], path


def read_at(finding: Finding) -> str:
    """Return the line at which a finding points, from its column on."""
    assert finding.position
    lines = Path(finding.position.path).read_text().splitlines()
    return lines[finding.position.line - 1][finding.position.column - 1 :]


def patch(form: str, document: Any, target: str = "Deployment/cart") -> dict[str, Any]:
    return {"patch": {"target": target, "type": form, "patch": document}}


def inside(**container: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "cart", **container}]}}}}


@pytest.mark.parametrize(
    ("change", "text", "fix"),
    [
        (patch("Strategic", inside(enviroment=[])), "enviroment: []", "did you mean `env`"),
        (patch("Merge", {"spec": {"replicas": "3"}}), "'3'", "write 3"),
        (patch("Merge", {"replicas": 3}), "replicas: 3", "`spec.replicas`"),
        (patch("Json", [{"op": "add", "path": "/spec/replica", "value": 2}]), "/spec/replica", "`replicas`"),
        (patch("Json", [{"op": "add", "path": "/spec/replicas", "value": "2"}]), "'2'", "write 2"),
    ],
)
def test_finding_points_at_the_field_and_names_the_server(
    change: dict[str, Any], text: str, fix: str, tmp_path: Path
) -> None:
    (found,), _ = lint_decoy(tmp_path, change)

    assert found.code == "SK142"
    assert read_at(found) == text
    assert fix in found.fix
    assert f"Kubernetes {get_version()}" in found.message


def test_version_is_reported_where_it_stands_and_once(tmp_path: Path) -> None:
    body = {"apiVersion": "extensions/v1beta1", "kind": "Ingress", "metadata": {"name": "cart"}, "spec": {"rules": []}}
    document = base()
    document["spec"]["decoys"][0]["changes"] = [{"create": body}]
    (found,) = lint_file(write(document, tmp_path), CATALOG)

    assert (found.code, found.expected) == ("SK143", "networking.k8s.io/v1")
    assert read_at(found) == "extensions/v1beta1"


def test_custom_resource_is_not_judged_here(tmp_path: Path) -> None:
    body = {
        "apiVersion": "security.istio.io/v1",
        "kind": "PeerAuthentication",
        "metadata": {"name": "cart"},
        "spek": {},
    }

    assert lint_decoy(tmp_path, {"create": body})[0] == []


def study_fault(text: str) -> list[Finding]:
    path = Path("/nowhere/catalog/faults/labels-lost/fault.yaml")
    return [each.finding for each in lint_text(text, path, CATALOG) if each.finding.code in CODES]


def get_line(text: str, position: Position | None) -> str:
    assert position
    return text.splitlines()[position.line - 1][position.column - 1 :]


def test_field_of_a_fault_type_is_found_in_its_template() -> None:
    text = given.FAULT.replace("            command: [sleep", "            comand: [sleep")
    (found,) = study_fault(text)

    assert get_line(text, found.position) == 'comand: [sleep, "3600"]'
    assert "`command`" in found.fix


def test_value_that_a_template_gives_is_found_at_the_template() -> None:
    text = given.FAULT.replace(
        "    spec:\n      selector", "    spec:\n      replicas: \"{{ '3' ~ '' }}\"\n      selector"
    )
    (found,) = study_fault(text)

    assert "must be an integer" in found.message
    assert get_line(text, found.position).startswith('"{{')


def test_mistake_in_a_solution_of_a_fault_type_is_found_there() -> None:
    text = given.FAULT.replace("solutions:\n- name: restore\n  changes:\n", (
        "solutions:\n- name: restore\n  changes:\n"
        "  - patch: {target: '{{ target }}', type: Merge, patch: {spec: {selektor: {app: cart}}}}\n"
    ))  # fmt: skip
    (found,) = study_fault(text)

    assert get_line(text, found.position).startswith("selektor")


def test_field_of_a_fault_type_that_cannot_be_rendered_is_found() -> None:
    text = given.FAULT.replace("command: [sleep", "comand: [sleep").replace("tier}", "'{{ nothing }}'}")
    found = study_fault(text.replace('{spec: {selector: {"{{ p', '{spec: {selektor: {"{{ p'))

    assert [get_line(text, f.position)[:8] for f in found[:1]] == ["comand: "]
    assert ["selektor" in f.message for f in found] == [False, True]


@pytest.mark.parametrize(
    ("step", "lacking"),
    [
        ({"op": "remove", "path": "/spec/template/spec/containers/0/name"}, "`name`"),
        ({"op": "remove", "path": "/spec/selector"}, "`selector`"),
        ({"op": "replace", "path": "/spec/selector", "value": None}, "`selector`"),
    ],
)
def test_required_field_that_a_patch_removes_is_found(step: dict[str, Any], lacking: str, tmp_path: Path) -> None:
    (found,), _ = lint_decoy(tmp_path, patch("Json", [step]))

    assert (found.expected, read_at(found)[:3]) == (lacking, "- o")


TEMPLATE = """\
{%- for name in data.names %}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ name }}, label: {app: {{ name }}}}
spec:
  template:
    spec:
      containers:
      - name: {{ name }}
        resources: {limits: {memory: 1}}
        resource: {}
{%- endfor %}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80, resource: 1}]}
"""


@pytest.mark.parametrize(
    ("kind", "place", "line", "column"),
    [
        ("Deployment", ("spec", "template", "spec", "containers", 0, "resource"), 12, 9),
        ("Deployment", ("metadata", "label"), 5, 30),
        ("Service", ("spec", "ports", 0, "resource"), 18, 27),
        ("Service", ("spec", "ports", 0, "missing"), 18, 8),
        ("Service", ("nothing",), 0, 0),
    ],
)
def test_line_of_a_template_is_found_by_the_names_above_it(
    kind: str, place: tuple[str | int, ...], line: int, column: int
) -> None:
    at = find_template_line({Path("a.yaml.j2"): TEMPLATE}, {"kind": kind, "metadata": {"name": "web"}}, place)

    assert (at.line, at.column) == (line, column) if at else not line


@pytest.mark.parametrize(
    ("new", "reported"),
    [
        ("arg: [serve]", "arg: [serve]"),
        ("env: {name: A, value: b}", "env: {name: A, value: b}"),
        ("env: [{value: b}]", "env: [{value: b}]"),
        ("args: serve", "args: serve"),
    ],
)
def test_file_of_an_app_is_named_with_line_and_column(new: str, reported: str, tmp_path: Path) -> None:
    definition = tmp_path / "catalog" / "apps" / "little" / "app.yaml"
    template = tmp_path / "templates" / "apps" / "little" / "1.0" / "manifests.yaml.j2"
    for path, text in ((definition, given.APP), (template, given.TEMPLATE.replace("args: [serve]", new))):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (found,) = lint_file(definition, CATALOG)

    assert (found.position and found.position.path, read_at(found)) == (str(template), reported)
    assert found.message.startswith("Deployment/web: ")


def test_table_is_small_and_of_the_pinned_version() -> None:
    from scenario_kit.lab.toolchain.components import KUBERNETES

    assert DATA.stat().st_size < 300_000
    assert json.loads(DATA.read_text())["version"] == KUBERNETES
