"""Rendering of apps from small templates: variables, and requirements on results."""

from typing import Any

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.load.yaml.manifests import parse_manifests
from scenario_kit.model import App, Component, LoadProfile, Reference
from scenario_kit.render import render_app, resolve_options, select_options
from scenario_kit.render.apps.app import list_needs
from scenario_kit.render.apps.placement import place_objects

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
TWO = msgspec.structs.replace(APP, namespaces={"stores": "Databases"})
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: []}}}
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
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
        ("{# not shown #}a: 1\n  b: 2\n", r"version 1\.0: line 2 of the output, `b: 2`: `b` is indented deeper"),
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
        ("a: [", "did not find expected node content"),
        ("kind: ConfigMap\nmetadata: {name: a}\n", "apiVersion"),
        ("apiVersion: v1\nkind: ConfigMap\n", "metadata"),
        ("- a\n", "not an object"),
        (CONFIG + "---\n" + CONFIG, "produce ConfigMap/a twice"),
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


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("---\n" + CONFIG + "---\n", ["a"]),
        ("---\n# Source: shop/templates/none.yaml\n---\n# Source: x\n" + CONFIG + "---\n# the end\n", ["a"]),
        ("%YAML 1.1\n---\n" + CONFIG + "...\n", ["a"]),
        (
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
            "- {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, "
            "metadata: {name: b}}]}\n",
            ["a", "b"],
        ),
        ("kind: List\napiVersion: v1\nitems: []\n---\n" + CONFIG, ["a"]),
        ("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {name: shop}}\n---\n" + CONFIG, ["a"]),
    ],
)
def test_output_of_other_tools_is_accepted(rendered, template, names):
    assert [o["metadata"]["name"] for o in rendered(template)] == names


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0644", 420), ("0o644", 420), ("12:30:45", "12:30:45"), ("2027-01-01", "2027-01-01"), ("yes", True),
        ("'yes'", "yes"), ("1e3", 1000.0), ("1_000", 1000), ("!!int '480'", 480), ("!!str 480", "480"),
        ("!!float 1", 1.0), ("! 12", 12), ("~", None), ("1.29.3", "1.29.3"), ("0x1F", 31),
        ("{1: a, on: b}", {"1": "a", "true": "b"}),
    ],
)  # fmt: skip
def test_manifests_mean_what_kubectl_reads(rendered, written, value):
    (obj,) = rendered(f"apiVersion: v1\nkind: Other\nmetadata: {{name: a}}\nspec: {{value: {written}}}\n")
    assert obj["spec"]["value"] == value
    assert type(obj["spec"]["value"]) is type(value)


@pytest.mark.parametrize(
    ("template", "message", "fix", "line"),
    [
        (CONFIG + "data: {x: '{{ $labels.pod }}'}\n", "unexpected char", "{% raw %}", 4),
        (CONFIG + "data: {x: '{{ .Values.x }}'}\n", "unexpected '.'", "{% raw %}", 4),
        (CONFIG + "data: {a: b, a: c}\n", "`a` is written twice; first in line 4", "correct", 4),
        (CONFIG + "data:\n  x: a: b\n", "contains a colon and a space", 'x: "a: b"', 5),
        (CONFIG + "data: {a: !!binary aGk=}\n", "the tag 'tag:yaml.org,2002:binary' is not allowed", "correct", 4),
        (CONFIG + "data: {a: !!int x}\n", "'x' is not of the type that its tag `!!int` gives it", "correct", 4),
        (CONFIG + "data: {a: 8080}\n", "data.a must be a string, not 8080: put its text in quotes", "correct", 0),
        ("apiVersion: v1\nkind: Job\nmetadata: {generateName: a-}\n", "without metadata.name", "write `name`", 0),
        ("text\n", "a document that is not an object", "correct", 0),
        (SERVICE.replace("port: 80", "targetPort: 80"), "Service/web: spec.ports[0].port is missing", "correct", 0),
        (
            DEPLOYMENT.replace("containers: []", "containers: [{name: a, image: b, env: [{value: x}]}]"),
            "Deployment/web: spec.template.spec.containers[0].env[0].name is missing",
            "correct",
            0,
        ),
        (
            DEPLOYMENT.replace("containers: []", "containers: [{name: a, image: b}], initContainers: [{name: c}]"),
            "Deployment/web: spec.template.spec.initContainers[0].image is missing",
            "correct",
            0,
        ),
        (CONFIG + "---\n" + CONFIG, "produce ConfigMap/a twice", "keep one", 0),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: enabled}}\n",
            "the labels istio-injection, but each trial creates",
            "leave the Namespace out",
            0,
        ),
        (
            CONFIG.replace("{name: a}", "{name: a, annotations: {helm.sh/hook: test}}"),
            "ConfigMap/a with the annotation helm.sh/hook: it would be created with the app",
            "leave the object out",
            0,
        ),
        (
            CONFIG + "data:\n  b: c\n---\n" + CONFIG + "data:\n  a: d\n  b: c\n  b: c\n",
            "`b` is written twice; first in line 12",
            "correct",
            13,
        ),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: monitoring}\n",
            "Namespace/monitoring, which is not the app's",
            "declare `namespaces: {monitoring: …}`",
            0,
        ),
    ],
)
def test_unusable_manifests_are_explained(rendered, template, message, fix, line):
    with pytest.raises(AuthoringError) as caught:
        rendered(template)
    (finding,) = caught.value.findings
    assert finding.code == "SK123"
    assert message in finding.message
    assert fix in finding.fix
    assert (finding.position.line if finding.position else 0) == line


def test_all_unusable_documents_are_reported(rendered):
    with pytest.raises(AuthoringError) as caught:
        rendered("a\n---\nkind: x\n---\n" + CONFIG + "data: {a: 1}\n")
    assert len(caught.value.findings) == 3


def place(template: str, app: App = APP, namespace: str = "shop-abcd") -> list[tuple[str, str]]:
    objects = place_objects(app, parse_manifests(template), namespace)
    return [(f"{o['kind']}/{o['metadata']['name']}", o["metadata"].get("namespace", "")) for o in objects]


@pytest.mark.parametrize(
    ("written", "real"),
    [
        ("", "shop-abcd"),
        ("shop", "shop-abcd"),
        ("app", "shop-abcd"),
        ("stores", "shop-abcd-stores"),
        ("shop-stores", "shop-abcd-stores"),
        ("monitoring", "monitoring"),
    ],
)
def test_conventional_namespaces_become_real_ones(written, real):
    metadata = f"{{name: a, namespace: {written}}}" if written else "{name: a}"
    assert place(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n", TWO) == [("ConfigMap/a", real)]


@pytest.mark.parametrize(
    ("field", "written", "real"),
    [
        ("url", "http://web.shop/x", "http://web.shop-abcd/x"),
        ("url", "web.shop.svc.cluster.local:80", "web.shop-abcd.svc.cluster.local:80"),
        ("url", "web-0.web.shop-stores,web.shop", "web-0.web.shop-abcd-stores,web.shop-abcd"),
        ("url", "/etc/config.shop", "/etc/config.shop"),
        ("url", "web.shop.example.com", "web.shop.example.com"),
        ("url", "my-web.shop", "my-web.shop"),
        ("subjects", [{"kind": "User", "namespace": "shop"}], [{"kind": "User", "namespace": "shop-abcd"}]),
        ("matchLabels", {"kubernetes.io/metadata.name": "shop"}, {"kubernetes.io/metadata.name": "shop-abcd"}),
        ("matchLabels", {"app": "shop"}, {"app": "shop"}),
    ],
)  # fmt: skip
def test_conventional_namespaces_in_fields_become_real_ones(field, written, real):
    document = {"apiVersion": "v1", "kind": "Other", "metadata": {"name": "a"}, "spec": {field: written}}
    *_, obj = place_objects(TWO, [*parse_manifests(SERVICE), document], "shop-abcd")
    assert obj["spec"][field] == real


@pytest.mark.parametrize(
    ("written", "real"),
    [
        ({"clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7"]}, {}),
        ({"clusterIP": "None", "clusterIPs": ["None"]}, {"clusterIP": "None", "clusterIPs": ["None"]}),
        ({"ports": [{"port": 80, "nodePort": 30080}]}, {"ports": [{"port": 80}]}),
        ({"healthCheckNodePort": 31000, "type": "LoadBalancer"}, {"type": "LoadBalancer"}),
    ],
)  # fmt: skip
def test_addresses_and_node_ports_of_services_are_assigned(written, real):
    """A cluster has each only once, and trials run beside each other."""
    document = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": written}

    (obj,) = place_objects(APP, [document], "shop-abcd")
    assert obj["spec"] == real


def test_texts_of_secrets_are_stored_with_their_data():
    secret = parse_manifests(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"
        "data: {user: cm9vdA==}\nstringData: {address: 'http://web.shop:80'}\n---\n" + SERVICE
    )
    placed, _ = place_objects(APP, secret, "shop-abcd")
    assert placed["data"] == {"user": "cm9vdA==", "address": "aHR0cDovL3dlYi5zaG9wLWFiY2Q6ODA="}
    assert "stringData" not in placed


def test_a_name_may_occur_once_in_each_namespace():
    other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: stores}\n"
    assert place(CONFIG + other, TWO) == [("ConfigMap/a", "shop-abcd"), ("ConfigMap/a", "shop-abcd-stores")]


@pytest.mark.parametrize("text", [DEPLOYMENT, SERVICE])
def test_names_of_components_are_unique_across_namespaces(text):
    with pytest.raises(AuthoringError, match="in two namespaces, app and stores"):
        place(text + "---\n" + text.replace("{name: web}", "{name: web, namespace: stores}", 1), TWO)
