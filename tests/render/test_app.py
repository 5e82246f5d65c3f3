"""Rendering of apps from small templates: variables, and requirements on results."""

from typing import Any

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Component, LoadProfile, Reference
from scenario_kit.render import render_app, resolve_options, select_options
from scenario_kit.render.apps.app import list_needs

APP = App(
    name="shop",
    version="1.0",
    namespace="shop",
    entry="web",
    components=(Component(name="web", workload=Reference("Deployment", "web")),),
    loads={"steady": LoadProfile(), "browsers": LoadProfile(options={"browsers": True})},
    options={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "browsers": {"type": "boolean", "default": False},
            "replicas": {"type": "integer", "minimum": 1, "default": 1},
            "size": {"enum": ["S", "L"], "default": "S"},
        },
    },
)
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@pytest.fixture
def rendered(tmp_path):
    def render(template, options=None, data="", namespace="shop-abcd", **files):
        folder = tmp_path / "shop"
        (folder / "1.0").mkdir(parents=True)
        (folder / "1.0" / "manifests.yaml.j2").write_text(template)
        for name, text in files.items():
            (folder / f"{name}.j2").write_text(text)
        if data:
            (folder / "1.0" / "data.yaml").write_text(data)
        return render_app(APP, options or {}, 7, namespace, templates=folder)

    return render


def test_templates_see_the_choice(rendered):
    text = CONFIG + (
        "data: {all: '{{ app.name }} {{ app.version }} {{ app.entry }} {{ app.namespace }} {{ namespace }} "
        "{{ options.replicas }} {{ load.users }} {{ data.x }} {{ enabled(data) }}'}\n"
    )
    data = "x: 5\nwhen: {size: L}\n"
    assert rendered(text, {"replicas": 2}, data)[0]["data"] == {"all": "shop 1.0 web shop shop-abcd 2 7 5 False"}


def test_options_required_by_faults_exist_in_apps():
    fault_type = Catalog().fault("traffic-surge")
    asks = msgspec.structs.replace(fault_type, app_options={"browsers": True, "size": "Tight", "autoscaling": True})
    assert select_options(APP, asks) == {"browsers": True}


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("a: 1\nb: {{ data.nope }}\n", r"version 1\.0: 1\.0/manifests\.yaml\.j2:2: UndefinedError: "),
        ("a: 1\n\n{% iff %}\n", r"1\.0/manifests\.yaml\.j2:3: TemplateSyntaxError: "),
        ("{% include 'one.j2' %}", r"version 1\.0: one\.j2:2: UndefinedError: "),
        ("{# not shown #}a: 1\n  b: 2\n", r"version 1\.0: line 2 of the output, `b: 2`: ScannerError: "),
    ],
)
def test_template_error_has_its_line(rendered, template, place):
    with pytest.raises(AuthoringError, match=place):
        rendered(template, one="a: 1\nb: {{ nope }}\n")


def test_templates_may_include_app_files(rendered):
    assert [o["metadata"]["name"] for o in rendered("{% include 'one.j2' %}", one=CONFIG)] == ["a"]


def test_namespaced_objects_are_placed(rendered):
    role = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n"
    other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: kube-system}\n"
    found = {o["metadata"]["name"]: o["metadata"].get("namespace") for o in rendered(CONFIG + role + other)}
    assert found == {"a": "shop-abcd", "r": None, "b": "kube-system"}


def test_callers_do_not_share_objects(tmp_path, rendered):
    one = rendered(CONFIG)
    one[0]["data"] = {"changed": "yes"}
    assert "data" not in render_app(APP, {}, 7, "shop-abcd", templates=tmp_path / "shop")[0]


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("{{ missing }}", "missing"),
        ("{% include '/etc/passwd' %}", "TemplateNotFound"),
        ("{% include '../../../etc/passwd' %}", "TemplateNotFound"),
        ("{{ app.__class__ }}", "unsafe"),
        ("a: [", "expected"),
        ("kind: ConfigMap\nmetadata: {name: a}\n", "apiVersion"),
        ("apiVersion: v1\nkind: ConfigMap\n", "metadata"),
        ("- a\n", "without"),
        (CONFIG + "---\n" + CONFIG, "duplicate objects: ConfigMap/a"),
        (CONFIG + "data: [x]\n", "invalid ConfigMap/a: data must be a mapping"),
    ],
)
def test_invalid_template_is_an_authoring_error(rendered, template, part):
    with pytest.raises(AuthoringError, match="templates") as caught:
        rendered(template)
    assert part in caught.value.message


@pytest.mark.parametrize(
    ("chosen", "profile", "expected"),
    [
        ({}, "", {"browsers": False, "replicas": 1, "size": "S"}),
        ({"size": "L"}, "steady", {"browsers": False, "replicas": 1, "size": "L"}),
        ({}, "browsers", {"browsers": True, "replicas": 1, "size": "S"}),
        ({"browsers": False}, "browsers", {"browsers": False, "replicas": 1, "size": "S"}),
    ],
)
def test_options_are_filled(chosen, profile, expected):
    assert resolve_options(APP, chosen, profile) == expected


@pytest.mark.parametrize(
    ("chosen", "profile", "codes"),
    [
        ({"replicas": 0}, "", ["SK104"]),
        ({"replicas": "2", "size": "M"}, "", ["SK104", "SK104"]),
        ({"replicass": 2, "browsers": 1}, "", ["SK102", "SK104"]),
        ({}, "stedy", ["SK104"]),
    ],
)
def test_invalid_options_are_reported_together(chosen, profile, codes):
    with pytest.raises(AuthoringError) as caught:
        resolve_options(APP, chosen, profile)
    assert [f.code for f in caught.value.findings] == codes


@pytest.mark.parametrize(
    ("options", "needs"),
    [
        ({"replicas": 2, "autoscaling": False}, {}),
        ({"autoscaling": True}, {"autoscaling: true": ("metrics-server",)}),
        ({"storage": "Claim"}, {"storage: Claim": ("dynamic-storage",)}),
        ({"storage": "Ephemeral", "unheard": "of"}, {}),
    ],
)
def test_options_add_capability_needs(options: dict[str, Any], needs: dict[str, tuple[str, ...]]) -> None:
    assert list_needs(Catalog().app("hotel-reservation", "6ecb097"), options) == needs
