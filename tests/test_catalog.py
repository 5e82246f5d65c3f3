"""Finding entries in folders, with small catalogues made for each test."""

from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog, UnknownEntry, find_data_root, find_longest_range
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.lab.control_plane.prometheus import list_packs

APP = {
    "name": "shop",
    "title": "A shop",
    "namespace": "shop",
    "entry": "web",
    "versions": {"1.0": {"components": [{"name": "web", "workload": "Deployment/web"}]}},
}
FAULT = {
    "name": "gone",
    "version": 1,
    "title": "Gone",
    "description": "The object is deleted.",
    "targets": ["Service"],
    "changes": [{"delete": {"target": "{{ target }}"}}],
    "effect": [{"object": {"ref": "{{ target }}", "exists": False}}],
    "entities": [{"ref": "{{ target }}"}],
}
RULE = {"alert": "Down", "expr": "up == 0", "for": "1m"}


def put(root: Path, path: str, document: object) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, "catalog/apps/shop/app.yaml", APP)
    put(tmp_path, "catalog/faults/gone/fault.yaml", FAULT)
    put(tmp_path, "catalog/scenarios/b/scenario.yaml", {})
    put(tmp_path, "catalog/scenarios/a/scenario.yaml", {})
    put(tmp_path, "catalog/alerts/plain.yaml", {"groups": [{"name": "g", "rules": [RULE]}]})
    put(tmp_path, "templates/apps/shop/1.0/manifests.yaml.j2", "")
    return tmp_path


def test_folders_are_the_registration(root):
    catalog = Catalog([root])
    assert catalog.apps() == ("shop",)
    assert catalog.versions("shop") == ("1.0",)
    assert catalog.faults() == ("gone",)
    assert catalog.alert_packs() == ("plain",)
    assert [p.parent.name for p in catalog.scenarios()] == ["a", "b"]
    put(root, "catalog/faults/other/fault.yaml", {**FAULT, "name": "other"})
    assert Catalog([root]).fault("other").name == "other"


def test_app_is_loaded_by_version(root):
    app = Catalog([root]).app("shop", "1.0")
    assert (app.name, app.version, app.entry, app.twin) == ("shop", "1.0", "web", None)
    assert [c.name for c in app.components] == ["web"]


SHARED = {
    "components": {"web": {"image": "web"}},
    "load": {"component": "web", "entry": "web/x", "users": {}, "routes": {}},
    "constants": {"sigma": 1, "hopMs": 1},
}


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({}, (1.0, 1.0)),
        ({"versions": None}, (1.0, 1.0)),
        ({"versions": {"1.0": {"constants": {"hopMs": 2}}, "2.0": {"constants": {"sigma": 3}}}}, (1.0, 2.0)),
    ],
)
def test_twin_stands_beside_the_app(root, versions, expected):
    put(root, "catalog/apps/shop/twin.yaml", {**SHARED, **versions})
    twin = Catalog([root]).app("shop", "1.0").twin
    assert (twin.constants.sigma, twin.constants.hop_ms) == expected


@pytest.mark.parametrize(
    ("wrong", "line", "message"),
    [
        ({"hop": 1}, "hop: 1", "`hop` is not a field of the document"),
        ({"components": []}, "components: []", "`components` must be an object, but is a list"),
        ({"components": {"web": 3}}, "  web: 3", "`components.web` must be an object, but is 3"),
        ({"constants": {"sigma": -1}}, "  sigma: -1", "`constants.sigma` must be at least 0, but is -1"),
        ({"constants": {"sigma": "$x"}}, "  sigma: $x", "there is no assumption '$x'; declared are none"),
        ({"assumptions": []}, "assumptions: []", "`assumptions` must be an object, but is a list"),
        ({"versions": []}, "versions: []", "Expected `object`, got `array` - at `versions`"),
        ({"versions": {"1.0": 3}}, "  '1.0': 3", "Expected `object`, got `int` - at `versions.1.0`"),
        ({"versions": {"1.0": {"load": 3}}}, "    load: 3", "`load` must be an object, but is 3"),
    ],
)
def test_malformed_twin_is_refused_with_position(root, wrong, line, message):
    file = put(root, "catalog/apps/shop/twin.yaml", {**SHARED, **wrong})
    with pytest.raises(AuthoringError) as refused:
        Catalog([root]).app("shop", "1.0")
    (finding,) = refused.value.findings
    assert (finding.code, finding.message) == ("SK138", f"the twin of shop 1.0: {message}")
    assert file.read_text().splitlines()[finding.position.line - 1] == line


@pytest.mark.parametrize(
    ("wrong", "line", "observed", "expected", "fix"),
    [
        ({"dialect": "pyton"}, "    dialect: pyton", "the text 'pyton'", "'cpp' or 'dotnet'", "did you mean `python`?"),
        ({"dialect": "javascript"}, "    dialect: javascript", "the text 'javascript'", "'cpp'", "write `node`"),
        ({"readySeconds": "5s"}, "    readySeconds: 5s", "the text '5s'", "a number", "write 5"),
        ({"cpuMs": 1e300}, "    cpuMs: 1.0e+300", "1e+300", "be at most 86400000", "it must be at most 86400000"),
        ({"thread": 2}, "    thread: 2", "", "", "did you mean `threads`?"),
        ({"operations": {"x": {"steps": [{"times": -1}]}}}, "      - times: -1", "-1", "be at least 0", "at least 0"),
    ],
)
def test_value_of_a_twin_is_refused_with_what_is_allowed(root, wrong, line, observed, expected, fix):
    file = put(root, "catalog/apps/shop/twin.yaml", {**SHARED, "components": {"web": {"image": "web", **wrong}}})
    with pytest.raises(AuthoringError) as refused:
        Catalog([root]).app("shop", "1.0")
    (finding,) = refused.value.findings
    assert file.read_text().splitlines()[finding.position.line - 1].strip() == line.strip()
    assert finding.observed == observed
    assert finding.expected.startswith(expected)
    assert fix in finding.fix


def test_all_mistakes_of_a_twin_are_reported_at_once(root):
    web = {"image": "web", "dialect": "Go", "memoryMib": "20Mi"}
    put(root, "catalog/apps/shop/twin.yaml", {**SHARED, "components": {"web": web}, "edgse": []})
    with pytest.raises(AuthoringError) as refused:
        Catalog([root]).app("shop", "1.0")
    assert len(refused.value.findings) == 3


def test_app_without_a_twin(root):
    put(root, "catalog/apps/shop/app.yaml", {**APP, "twin": "none"})
    put(root, "catalog/apps/shop/twin.yaml", {"hop": 1})
    assert Catalog([root]).app("shop", "1.0").twin is None


def test_earlier_roots_win(root, tmp_path_factory):
    own = tmp_path_factory.mktemp("own")
    put(own, "catalog/faults/gone/fault.yaml", {**FAULT, "version": 2})
    put(own, "catalog/scenarios/a/scenario.yaml", {})
    catalog = Catalog([own, root])
    assert catalog.fault("gone").version == 2
    assert catalog.app("shop", "1.0").name == "shop"
    assert [p.is_relative_to(own) for p in catalog.scenarios()] == [True, False]


def test_environment_variable_adds_collections(root, tmp_path_factory, monkeypatch):
    own = tmp_path_factory.mktemp("own")
    put(own, "catalog/faults/gone/fault.yaml", {**FAULT, "version": 2})
    monkeypatch.setenv("SCENARIO_KIT_CATALOG", f"{own}:{root}")
    catalog = Catalog()
    assert catalog.roots == (own, root, find_data_root())
    assert catalog.fault("gone").version == 2
    assert {"shop", "otel-demo"} <= set(catalog.apps())
    assert "plain" in list_packs()
    assert catalog.templates("shop") == root / "templates" / "apps" / "shop"
    monkeypatch.delenv("SCENARIO_KIT_CATALOG")
    assert Catalog().roots == (find_data_root(),)


def test_invalid_catalog_variable_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("SCENARIO_KIT_CATALOG", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"SCENARIO_KIT_CATALOG contains .*nowhere, which has no folder `catalog`"):
        Catalog()


def test_scenario_folder_may_contain_faults(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenario")
    put(folder, "faults/gone/fault.yaml", {**FAULT, "version": 3})
    put(folder, "faults/mine/fault.yaml", {**FAULT, "name": "mine"})
    scenario = put(folder, "scenario.yaml", {})
    catalog = Catalog([root])
    assert catalog.fault("gone", scenario).version == 3
    assert catalog.fault("mine", folder).name == "mine"
    assert catalog.fault("gone").version == 1


def test_prometheus_rules_contain_known_fields_only(root):
    known = {"alert": "A", "expr": "up == 0", "for": "3m", "labels": {"a": "b"}, "annotations": {"summary": "s"}}
    entity = {"label": "l", "kind": "Pod"}
    groups = [{"name": "g", "interval": "15s", "limit": 0, "rules": [{**known, "entity": entity}]}]
    put(root, "catalog/alerts/plain.yaml", {"assumes": ["NoBackgroundErrors"], "groups": groups})
    rules = Catalog([root]).prometheus_rules("plain")
    assert rules == {"groups": [{"name": "plain-g", "interval": "15s", "rules": [known]}]}


@pytest.mark.parametrize(
    ("look", "suggestion"),
    [
        (lambda c: c.app("shp", "1.0"), "shop"),
        (lambda c: c.app("shop", "1.1"), "1.0"),
        (lambda c: c.fault("gon"), "gone"),
        (lambda c: c.alert_pack("plane"), "plain"),
        (lambda c: c.templates("shopp"), "shop"),
    ],
)
def test_unknown_names_come_with_suggestions(root, look, suggestion):
    with pytest.raises(UnknownEntry) as caught:
        look(Catalog([root]))
    assert isinstance(caught.value, AuthoringError)
    assert isinstance(caught.value, LookupError)
    assert suggestion in caught.value.fix


@pytest.mark.parametrize(
    ("path", "content", "look", "part"),
    [
        ("catalog/faults/gone/fault.yaml", "a: [", lambda c: c.fault("gone"), "not YAML"),
        ("catalog/faults/gone/fault.yaml", "- a", lambda c: c.fault("gone"), "must be an object"),
        ("catalog/faults/gone/fault.yaml", {**FAULT, "name": "x"}, lambda c: c.fault("gone"), "name of its folder"),
        ("catalog/faults/gone/fault.yaml", {**FAULT, "changes": 1}, lambda c: c.fault("gone"), "`changes` must be"),
        ("catalog/faults/gone/fault.yaml", {**FAULT, "chnges": []}, lambda c: c.fault("gone"), "chnges"),
        ("catalog/apps/shop/app.yaml", {**APP, "namspace": "x"}, lambda c: c.app("shop", "1.0"), "namspace"),
        (
            "catalog/alerts/plain.yaml",
            {"groups": [{"name": "g", "rules": [{**RULE, "expr": "sum("}]}]},
            lambda c: c.alert_pack("plain"),
            "'Down'",
        ),
        (
            "catalog/alerts/plain.yaml",
            {"groups": [{"name": "g", "rules": [{**RULE, "for": "soon"}]}]},
            lambda c: c.alert_pack("plain"),
            "must be a duration such as '5m'",
        ),
        (
            "catalog/alerts/plain.yaml",
            {"groups": [{"name": "g", "rules": [{"alert": "Down"}]}]},
            lambda c: c.alert_pack("plain"),
            "lacks the required field `expr`",
        ),
        (
            "catalog/alerts/plain.yaml",
            {"groups": [{"name": "g", "rules": [{**RULE, "entity": {"label": "pod", "kind": "Pood"}}]}]},
            lambda c: c.alert_pack("plain"),
            "Pood",
        ),
    ],
)
def test_broken_definitions_name_the_file_and_the_mistake(root, path, content, look, part):
    put(root, path, content)
    with pytest.raises(AuthoringError) as caught:
        look(Catalog([root]))
    assert str(root / path) in caught.value.message
    assert part in caught.value.message


@pytest.mark.parametrize(
    ("expr", "seconds"),
    [
        ("up == 0", 0),
        ("rate(a[2m]) > 0", 120),
        ("rate(a[2m]) / on (x) rate(b[5m])", 300),
        ("rate(a[2m] offset 3m)", 300),
        ("max_over_time(rate(a[1m])[5m:15s])", 360),
        ("histogram_quantile(0.95, sum by (le) (rate(a[2m])))", 120),
        ("-(rate(a[90s]))", 90),
        ("quantile(scalar(rate(b[10m])), a)", 600),
    ],
)
def test_longest_range_of_an_expression_is_found(expr, seconds):
    assert find_longest_range(expr) == seconds


def test_shipped_data_is_found():
    assert (find_data_root() / "catalog" / "apps" / "otel-demo" / "app.yaml").is_file()
    assert (find_data_root() / "templates" / "apps" / "otel-demo").is_dir()


def test_on_and_off_are_words(root):
    text = yaml.safe_dump({**FAULT, "symptoms": []}).replace("symptoms: []", "symptoms: [{alert: A, entity: Callers}]")
    put(root, "catalog/faults/gone/fault.yaml", text)
    fault = Catalog([root]).fault("gone")
    assert fault.symptoms[0].entity == "Callers"
    assert fault.effect[0]["object"]["exists"] is False
