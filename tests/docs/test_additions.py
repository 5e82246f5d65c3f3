"""The pages on adding a fault and an app, executed literally."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli.authoring.twin_findings import check_files
from scenario_kit.draft import Answers, draft
from scenario_kit.lab.twin.dry_run import find_misses
from scenario_kit.lint import lint_file
from scenario_kit.load import load_app, load_fault
from scenario_kit.model import Reference
from scenario_kit.model.authored.effect_check import EFFECT_CHECKS
from scenario_kit.render import render_app, resolve_options
from scenario_kit.render.apps.namespaces import locate_components
from scenario_kit.render.faults.component_lookups import ResolvedComponent
from scenario_kit.render.faults.first_offer import find_first_offer
from scenario_kit.render.faults.target_lookups import ResolvedTarget
from scenario_kit.render.faults.template_context import Scope
from scenario_kit.render.templating.target import resolve_target

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT, blocks

FAULT, = blocks((ROOT / "docs" / "add-a-fault.md").read_text(), "yaml")  # fmt: skip
APP, MANIFESTS, *PAIR = blocks((ROOT / "docs" / "add-an-app.md").read_text(), "yaml")


@pytest.fixture
def collection(tmp_path):
    """A collection of one's own, with nothing but the little app in it."""
    app = tmp_path / "catalog" / "apps" / "little" / "app.yaml"
    manifests = tmp_path / "templates" / "apps" / "little" / "1.0" / "manifests.yaml.j2"
    for path, text in ((app, APP), (manifests, MANIFESTS)):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture
def catalog(collection):
    return Catalog([collection, find_data_root()])


@pytest.fixture
def pair(tmp_path):
    """The whole app of the page, with its twin, in a collection of its own."""
    app = tmp_path / "catalog" / "apps" / "pair"
    manifests = tmp_path / "templates" / "apps" / "pair" / "1.0"
    for path, text in zip((app / "app.yaml", app / "twin.yaml", manifests / "manifests.yaml.j2"), PAIR, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def scenario(folder, text):
    file = folder / "scenarios" / yaml.safe_load(text)["metadata"]["name"] / "scenario.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_app_of_the_page_is_an_app(collection, catalog):
    load_app(collection / "catalog" / "apps" / "little" / "app.yaml")
    app = catalog.app("little", "1.0")
    objects = render_app(app, resolve_options(app, {"replicas": 2}), 10, "ns", templates=catalog.templates("little"))
    assert [(o["kind"], o["metadata"]["name"]) for o in objects] == [
        ("Deployment", "web"), ("Service", "web"), ("Deployment", "store"), ("Service", "store"),
    ]  # fmt: skip
    assert objects[0]["spec"]["replicas"] == 2
    assert {o["metadata"]["namespace"] for o in objects} == {"ns"}
    images = [
        c["image"] for o in objects if o["kind"] == "Deployment" for c in o["spec"]["template"]["spec"]["containers"]
    ]
    assert set(images) == set(app.images)


@pytest.mark.parametrize("fault", ["service-target-port-wrong", "deployment-scaled-to-zero", "env-value-wrong"])
def test_catalogue_faults_apply_to_the_added_app(fault, catalog, tmp_path):
    found = find_first_offer(catalog.fault(fault), catalog.app("little", "1.0"), catalog)
    assert found is not None
    made = draft(Answers("little", "1.0", found.target, fault, author="Ada"), catalog)
    assert [(f.code, f.message) for f in lint_file(scenario(tmp_path, made.text), catalog)] == []


def test_fault_of_the_page_lints_in_a_collection(tmp_path):
    path = tmp_path / "catalog" / "faults" / yaml.safe_load(FAULT)["name"] / "fault.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(FAULT)
    assert [(f.code, f.message) for f in lint_file(path, Catalog([tmp_path, find_data_root()]))] == []


def test_app_of_the_page_lints_in_a_collection(collection, catalog):
    path = collection / "catalog" / "apps" / "little" / "app.yaml"
    assert [(f.code, f.message) for f in lint_file(path, catalog)] == []


def test_documented_fault_works_next_to_scenario(tmp_path):
    # Drafted with the fault in a catalogue of its own, then moved beside its scenario, as an author might keep it.
    own = tmp_path / "own"
    definition = own / "catalog" / "faults" / "service-points-elsewhere" / "fault.yaml"
    definition.parent.mkdir(parents=True)
    definition.write_text(FAULT)
    load_fault(definition)
    answers = Answers("otel-demo", "2.2.0", Reference("Service", "cart"), "service-points-elsewhere", author="Ada")
    made = draft(answers, Catalog([own, find_data_root()]))
    file = scenario(tmp_path, made.text)
    beside = file.parent / "faults" / "service-points-elsewhere" / "fault.yaml"
    beside.parent.mkdir(parents=True)
    beside.write_text(FAULT)

    # The page says that its example has a known mechanism.
    assert [f.code for f in lint_file(file, Catalog(merging=True))] == ["SK222"]
    fix = json.dumps([s.to_json() for s in made.offer.fault.solutions])
    assert '{"selector": {"tier": null}}' in fix


def test_documented_app_is_valid_and_short(pair):
    path, catalog = pair / "catalog" / "apps" / "pair" / "app.yaml", Catalog([pair, find_data_root()])
    assert [(f.code, f.message) for f in (*lint_file(path, catalog), *check_files([path], catalog))] == []
    assert len(PAIR[1].splitlines()) <= 32


def test_documented_calls_reach_their_callees(pair):
    catalog = Catalog([pair, find_data_root()])
    app = catalog.app("pair", "1.0")
    templates = catalog.templates("pair")
    objects = render_app(app, resolve_options(app, {}), 20, app.namespace, templates=templates)
    assert find_misses(locate_components(app, objects, app.namespace), app.twin, objects) == ()


@pytest.mark.parametrize(
    ("before", "after", "missed"),
    [
        ("API_URL", "ORDERS_URL", "edges[1]"),
        ("number: 9000", "number: 9001", "edges[1]"),
        ("paths: [/ready]", "paths: [/live]", "components.page.ports"),
        ("env: USERS", "env: VUS", "load.users"),
    ],
)
def test_twin_contradicting_manifests_is_reported_with_position(pair, before, after, missed):
    path = pair / "catalog" / "apps" / "pair" / "app.yaml"
    twin = path.with_name("twin.yaml")
    twin.write_text(twin.read_text().replace(before, after))
    found = check_files([path], Catalog([pair, find_data_root()]))
    assert found
    assert all(f.code == "SK138" for f in found)
    assert any(missed in f.message for f in found), [f.message for f in found]


@pytest.mark.parametrize("fault", ["service-target-port-wrong", "env-value-wrong"])
def test_faults_of_the_catalogue_fit_the_whole_app(fault, pair, tmp_path):
    catalog = Catalog([pair, find_data_root()])
    found = find_first_offer(catalog.fault(fault), catalog.app("pair", "1.0"), catalog)
    assert found is not None
    made = draft(Answers("pair", "1.0", found.target, fault, author="Ada"), catalog)
    assert [(f.code, f.message) for f in lint_file(scenario(tmp_path, made.text), catalog)] == []


def test_page_lists_every_template_variable():
    """But for the names of the older form, which faults go on being able to use."""
    older = {"callers", "dependants", "pod_selector", "env_index", "fault", "ref", "group"}
    page = (ROOT / "docs" / "add-a-fault.md").read_text()
    catalog = Catalog()
    app = catalog.app("otel-demo", "2.2.0")
    scope = Scope(app, (), "app", "s", "f", resolve_target(Reference("Deployment", "cart"), "app"), {})
    names = {*scope.variables({}, catalog.fault("pod-kill")), *EFFECT_CHECKS}
    names |= {name for kind in (ResolvedTarget, ResolvedComponent) for name in dir(kind) if not name.startswith("_")}

    assert {name for name in names if not re.search(rf"[`.]{name}\b", page)} <= older
