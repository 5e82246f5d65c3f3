"""The pages on adding a fault and an app, followed to the letter: what they show works."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog, data_root
from scenario_kit.draft import Answers, draft
from scenario_kit.lint import lint_file
from scenario_kit.load import load_app, load_fault
from scenario_kit.render import app_objects, options_of
from scenario_kit.render.golden import first_offer

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT, blocks

FAULT, = blocks((ROOT / "docs" / "add-a-fault.md").read_text(), "yaml")  # fmt: skip
APP, MANIFESTS = blocks((ROOT / "docs" / "add-an-app.md").read_text(), "yaml")


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
    return Catalog([collection, data_root()])


def scenario(folder, text):
    file = folder / "scenarios" / yaml.safe_load(text)["metadata"]["name"] / "scenario.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_the_app_of_the_page_is_an_app(collection, catalog):
    load_app(collection / "catalog" / "apps" / "little" / "app.yaml")
    app = catalog.app("little", "1.0")
    objects = app_objects(app, options_of(app, {"replicas": 2}), 10, "ns", templates=catalog.templates("little"))
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
def test_the_faults_of_the_catalogue_fit_it(fault, catalog, tmp_path):
    found = first_offer(catalog.fault(fault), catalog.app("little", "1.0"), catalog)
    assert found is not None
    made = draft(Answers("little", "1.0", found.target, fault, author="Ada"), catalog)
    assert [(f.code, f.message) for f in lint_file(scenario(tmp_path, made.text), catalog)] == []


def test_the_fault_of_the_page_lints_in_a_collection(tmp_path):
    path = tmp_path / "catalog" / "faults" / yaml.safe_load(FAULT)["name"] / "fault.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(FAULT)
    assert [(f.code, f.message) for f in lint_file(path, Catalog([tmp_path, data_root()]))] == []


def test_the_app_of_the_page_lints_in_a_collection(collection, catalog):
    path = collection / "catalog" / "apps" / "little" / "app.yaml"
    assert [(f.code, f.message) for f in lint_file(path, catalog)] == []


def test_the_fault_of_the_page_works_beside_its_scenario(tmp_path):
    # Drafted with the fault in a catalogue of its own, then moved beside its scenario, as an author might keep it.
    own = tmp_path / "own"
    definition = own / "catalog" / "faults" / "service-points-elsewhere" / "fault.yaml"
    definition.parent.mkdir(parents=True)
    definition.write_text(FAULT)
    load_fault(definition)
    answers = Answers("otel-demo", "2.2.0", "Service/cart", "service-points-elsewhere", author="Ada")
    made = draft(answers, Catalog([own, data_root()]))
    file = scenario(tmp_path, made.text)
    beside = file.parent / "faults" / "service-points-elsewhere" / "fault.yaml"
    beside.parent.mkdir(parents=True)
    beside.write_text(FAULT)

    assert [(f.code, f.message) for f in lint_file(file, Catalog(merging=True))] == []
    fix = json.dumps([s.to_json() for s in made.offer.fault.solutions])
    assert '"opentelemetry.io/name": "cart"' in fix
