"""Duplicates: exact and near, across the files given and the catalogue, and fast enough for a thousand."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.lint import lint_file, lint_files
from scenario_kit.lint.similarity.index import ScenarioIndex
from scenario_kit.lint.similarity.index_entry import IndexEntry, build_entry
from scenario_kit.load import load_scenario
from scenario_kit.model import Finding, Scenario
from scenario_kit.render.faults.applicability import find_offers, fits
from scenario_kit.render.faults.first_offer import render_objects_for
from tests.lint.test_rules import base

CATALOG = Catalog(merging=True)
SHIPPED = "product-catalog-wrong-target-port"


def put(document: dict[str, Any], folder: Path, name: str, **spec: Any) -> Path:
    document["metadata"]["name"] = name
    document["spec"] |= spec
    path = folder / "scenarios" / name / "scenario.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def load(path: Path) -> Scenario:
    return load_scenario(path).scenario


def list_findings(found: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.code, str(finding.severity)) for finding in found]


def test_only_renamed_copies_are_duplicates(tmp_path: Path) -> None:
    path = put(base(), tmp_path, "shop-pages-broken", title="Shop pages", description="A port is closed.")

    found = lint_file(path, CATALOG)

    assert list_findings(found) == [("SK216", "Error")]
    assert f"'{SHIPPED}'" in found[0].message
    assert found[0].fix == f"extend '{SHIPPED}', or break something else"


def own_type(path: Path, name: str, **parts: Any) -> None:
    """The catalogue's type of the shipped scenario, under another name beside this one."""
    fault = yaml.safe_load(CATALOG.fault_path("service-target-port-wrong").read_text()) | parts
    file = path.parent / "faults" / name / "fault.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump({**fault, "name": name}, sort_keys=False))


def rename_fault(name: str) -> dict[str, Any]:
    document = base()
    document["spec"]["faults"][0]["type"] = name
    return document


def test_renamed_fault_type_copy_is_the_same_incident(tmp_path: Path) -> None:
    path = put(
        rename_fault("door-moved"), tmp_path, "shop-pages-broken", title="Shop pages", description="A port is closed."
    )
    own_type(path, "door-moved", title="A door has moved", description="The way in is elsewhere.", references=[])

    assert ("SK216", "Error") in list_findings(lint_file(path, CATALOG))


def test_different_fault_type_is_another_incident(tmp_path: Path) -> None:
    path = put(rename_fault("door-moved"), tmp_path, "shop-pages-broken")
    own_type(path, "door-moved", rollout={"reconnect": "None"})

    assert "SK216" not in {code for code, _ in list_findings(lint_file(path, CATALOG))}


def test_scenarios_with_equal_own_fault_type_are_duplicates(tmp_path: Path) -> None:
    paths = [
        put(rename_fault(f"door-{name}"), tmp_path, name, title=f"{name} and only {name}") for name in ("one", "two")
    ]
    for path in paths:
        own_type(path, f"door-{path.parent.name}", rollout={"reconnect": "None"})

    assert [f.code for f in lint_files(paths, CATALOG)].count("SK216") == 2


JSON = {"type": "Json", "patch": [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}]}
MERGE = {"type": "Merge", "patch": {"spec": {"type": "ClusterIP", "sessionAffinity": "ClientIP"}}}


@pytest.mark.parametrize(
    ("target", "patch", "codes"),
    [
        pytest.param("{{ target }}", JSON, ["SK216"], id="the same value by another kind of patch"),
        pytest.param("Service/product-catalog", JSON, ["SK216"], id="the target written out"),
        pytest.param(
            "{{ target }}", {**JSON, "patch": [{**JSON["patch"][0], "value": 9998}]}, ["SK217"], id="another number"
        ),
        pytest.param(
            "{{ target }}",
            {**JSON, "patch": [{**JSON["patch"][0], "value": "grpc"}]},
            ["SK217"],
            id="a value of another type",
        ),
        pytest.param("{{ target }}", MERGE, [], id="another field"),
    ],
)
def test_fault_types_are_compared_by_their_writes(
    target: str, patch: dict[str, Any], codes: list[str], tmp_path: Path
) -> None:
    document = rename_fault("door-moved")
    spec = document["spec"]
    spec["title"], spec["description"], spec["brief"] = "A door", "It has been moved.", "Nobody finds the way in."
    for edge in spec["groundTruth"]["propagation"]:
        edge.pop("because")
    path = put(document, tmp_path, "shop-pages-broken")
    own_type(path, "door-moved", changes=[{"patch": {"target": target, **patch}}])

    assert [f.code for f in lint_file(path, CATALOG) if f.code in ("SK216", "SK217")] == codes


def test_local_fault_type_matches_catalogue_type(tmp_path: Path) -> None:
    own = put(rename_fault("door-moved"), tmp_path, "one", title="One")
    own_type(own, "door-moved", changes=[{"patch": {"target": "{{ target }}", **JSON}}])
    plain = put(base(), tmp_path, "two", title="Two")

    copies = [f for f in lint_files([own, plain], CATALOG) if f.code == "SK216"]
    assert len(copies) == 2
    assert "'two'" in copies[0].message


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"app": {"name": "otel-demo", "version": "3.0.0"}}, id="another version of the app"),
        pytest.param(
            {"noise": [{"name": "n", "restart": {"target": "Deployment/email"}, "everySeconds": 900}]}, id="noise"
        ),
        pytest.param(
            {"app": {"name": "otel-demo", "version": "2.2.0", "load": {"profile": "surge"}}}, id="another load"
        ),
    ],
)
def test_same_cause_in_different_context_is_near_duplicate(more: dict[str, Any], tmp_path: Path) -> None:
    path = put(base(), tmp_path, "shop", title="Shop", description="Pages.", brief="Nothing works.", **more)

    found = [f for f in lint_file(path, CATALOG) if f.code in ("SK216", "SK217")]
    assert list_findings(found) == [("SK217", "Warning")]
    assert found[0].message.startswith(f"it has the same root causes as '{SHIPPED}'")
    assert "cosine" not in found[0].message, "the texts have nothing in common"


def test_copied_texts_with_one_changed_number_are_near_duplicates(tmp_path: Path) -> None:
    document = base()
    document["spec"]["faults"][0]["parameters"]["targetPort"] = 9998
    path = put(document, tmp_path, "shop-pages-broken")

    found = lint_file(path, CATALOG)

    assert list_findings(found) == [("SK217", "Error")]
    assert f"'{SHIPPED}'" in found[0].message
    assert found[0].observed == "only values and texts differ"


def test_same_scenario_in_two_roots_is_no_duplicate(tmp_path: Path) -> None:
    one, other = (put(base(), tmp_path / root, SHIPPED) for root in ("here", "there"))

    assert lint_files([one, other], CATALOG) == []


def test_duplicate_draft_is_a_warning(tmp_path: Path) -> None:
    document = base()
    document["metadata"]["name"] = "mine"
    path = tmp_path / "draft.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))

    assert list_findings(lint_file(path, Catalog())) == [("SK216", "Warning")]


def test_given_files_are_compared_with_each_other(tmp_path: Path) -> None:
    new = {"type": "deployment-scaled-to-zero", "target": "Deployment/currency", "name": "gone"}
    paths = []
    for name in ("one", "two"):
        document = base()
        document["spec"]["faults"] = [dict(new)]
        document["spec"]["title"] = f"{name} and only {name}"
        paths.append(put(document, tmp_path, name))

    found = lint_files(paths, CATALOG)

    copies = [f for f in found if f.code == "SK216"]
    assert len(copies) == 2
    assert "'two'" in copies[0].message
    assert "'one'" in copies[1].message


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param({}, True, id="nothing"),
        pytest.param({"title": "Another", "brief": "Another", "tags": ["x"], "decoys": []}, True, id="what is told"),
        pytest.param({"app": {"name": "otel-demo", "version": "2.2.0", "load": {"users": 60}}}, True, id="users"),
        pytest.param(
            {"app": {"name": "otel-demo", "version": "2.2.0", "options": {"browserTraffic": False}}}, True, id="default"
        ),
        pytest.param(
            {"app": {"name": "otel-demo", "version": "2.2.0", "options": {"browserTraffic": True}}}, False, id="option"
        ),
        pytest.param({"app": {"name": "otel-demo", "version": "3.0.0"}}, False, id="version"),
        pytest.param({"fault": {"name": "renamed"}}, True, id="name of the fault"),
        pytest.param({"fault": {"target": "app/Service/product-catalog"}}, True, id="spelling of the target"),
        pytest.param({"fault": {"target": "Service/currency"}}, False, id="target"),
        pytest.param({"fault": {"parameters": {"port": 8080, "targetPort": 4711}}}, False, id="parameter"),
        pytest.param({"fault": {"start": {"afterSeconds": 60}}}, False, id="timing"),
    ],
)
def test_fingerprint_covers_the_incident_only(change: dict[str, Any], same: bool, tmp_path: Path) -> None:
    before = build_entry(tmp_path, load(put(base(), tmp_path / "a", "x")), CATALOG).fingerprint
    document = base()
    document["spec"]["faults"][0] |= change.pop("fault", {})

    after = build_entry(tmp_path, load(put(document, tmp_path / "b", "x", **change)), CATALOG).fingerprint

    assert (before == after) is same


def test_default_parameters_make_no_difference(tmp_path: Path) -> None:
    document = base()
    document["spec"]["faults"] = [{"name": "x", "type": "host-port-conflict", "target": "Deployment/cart"}]
    plain = build_entry(tmp_path, load(put(document, tmp_path / "a", "x")), CATALOG)
    document["spec"]["faults"][0]["parameters"] = {"hostPort": 19100}

    assert build_entry(tmp_path, load(put(document, tmp_path / "b", "x")), CATALOG).fingerprint == plain.fingerprint


def entries(count: int) -> list[IndexEntry]:
    """Entries of a few hundred words, most of them shared; every tenth is almost its predecessor."""
    made = []
    for i in range(count):
        about = i - 1 if i % 10 == 9 else i
        words = {f"common {n}": 1 for n in range(150)} | {f"rare {about} {n}": 1 for n in range(150)}
        words |= {f"own {i} {n}": 1 for n in range(3)}
        made.append(
            IndexEntry(
                f"s-{i}", f"/x/scenarios/s-{i}/scenario.yaml", f"print-{i}", words, f"scenarios/s-{i}/scenario.yaml"
            )
        )
    return made


def test_index_size_does_not_affect_comparison() -> None:
    some = entries(40)
    few, many = ScenarioIndex(some), ScenarioIndex([*some, *entries(120)[40:]])
    assert len(few.entries) < 48 < len(many.entries)

    for entry in some:
        assert [other.name for _, other in few.near(entry)] == [other.name for _, other in many.near(entry)]
    assert [other.name for _, other in many.near(some[9])] == ["s-8"]
    assert [other.name for _, other in many.near(some[8])] == ["s-9"]
    assert many.near(some[5]) == []


def test_thousand_scenarios_are_compared_in_seconds() -> None:
    shelf = ScenarioIndex(entries(1000))
    start = time.process_time()

    near = sum(len(shelf.near(entry)) for entry in shelf.entries)

    assert near == 200
    assert time.process_time() - start < 20  # a second or two; the limit only tells squares from cubes


def drafts(fault_names: list[str], folder: Path) -> list[IndexEntry]:
    """Drafts of these faults at up to two targets each, in both apps, as `new` writes them."""
    made = []
    for app, version in (("otel-demo", "2.2.0"), ("hotel-reservation", "6ecb097")):
        known = CATALOG.app(app, version)
        for name in fault_names:
            fault_type = CATALOG.fault(name)
            if not fits(fault_type, known):
                continue
            found = find_offers(fault_type, known, render_objects_for(fault_type, known, CATALOG))
            for offer in islice(found, 2):
                written = draft(Answers(app, version, offer.target, name, author="Ada"), CATALOG)
                path = folder / app / written.name / "scenario.yaml"
                path.parent.mkdir(parents=True)
                path.write_text(written.text)
                made.append(build_entry(path, load(path), CATALOG))
    return made


def test_drafts_of_other_faults_or_targets_are_not_near_duplicates(tmp_path: Path) -> None:
    """Texts of a fault do not make drafts near duplicates."""
    own = [build_entry(path, load_scenario(path).scenario, CATALOG) for path in CATALOG.scenarios()]
    made = drafts(CATALOG.faults()[::8], tmp_path)
    shelf = ScenarioIndex([*own, *made])

    near = [(one, other) for one in shelf.entries for _, other in shelf.near(one) if not shelf.copies(one)]

    assert len(made) > 25
    assert [(a.name, b.name) for a, b in near if not set(a.breaks) & set(b.breaks)] == []
    assert [(a.name, b.name) for a, b in near if a in own and b in own] == []
    assert len({a.path for a, _ in near if a in made}) <= len(made) // 12


def test_reworded_copy_with_other_numbers_is_near_duplicate(tmp_path: Path) -> None:
    document = base()
    document["spec"]["faults"][0]["parameters"]["targetPort"] = 9998
    spec = document["spec"]
    spec["description"] = "Somebody tidied up ports on a Friday, and nobody looked at what listens there."
    spec["brief"] = "Shoppers complain. Please have a look."
    for edge in spec["groundTruth"]["propagation"]:
        edge["because"] = "it asks for what it does not get"
    path = put(document, tmp_path, "friday-tidying", title="A Friday afternoon")

    found = [f for f in lint_file(path, CATALOG) if f.code == "SK217"]

    assert len(found) == 1
    assert found[0].message.startswith(f"it breaks the same fields of the same objects as '{SHIPPED}'")
    assert found[0].severity == "Error"


@pytest.mark.parametrize(
    ("fault", "near"),
    [
        pytest.param({"target": "Service/currency"}, False, id="another target"),
        pytest.param({"type": "service-deleted", "parameters": {}}, False, id="another fault"),
        pytest.param({"parameters": {"port": 8080, "targetPort": 9998}}, True, id="another number"),
    ],
)
def test_copied_texts_are_near_duplicates_for_the_same_fault(fault: dict[str, Any], near: bool, tmp_path: Path) -> None:
    one = put(base(), tmp_path, "one")
    document = base()
    document["spec"]["faults"][0] |= fault
    other = put(document, tmp_path, "other")

    shelf = ScenarioIndex([build_entry(path, load(path), CATALOG) for path in (one, other)])

    assert bool(shelf.near(shelf.entries[0])) is near


@pytest.mark.parametrize(
    ("edit", "near"),
    [
        pytest.param({}, True, id="nothing else"),
        pytest.param(
            {"alerts": [{"name": "KubePodNotReady", "entity": "Deployment/frontend"}]}, False, id="other alerts"
        ),
        pytest.param({"second": "Deployment/email"}, False, id="one more fault"),
    ],
)
def test_same_fields_with_other_values_are_distinguished_by_signs(
    edit: dict[str, Any], near: bool, tmp_path: Path
) -> None:
    document = base()
    spec = document["spec"]
    spec["faults"][0]["parameters"]["targetPort"] = 9998
    spec["expect"]["alerts"] += edit.get("alerts", [])
    if target := edit.get("second"):
        more = {"name": "slow", "type": "network-delay", "target": target, "role": "Distractor"}
        spec["faults"].append(more)
    path = put(document, tmp_path, "friday-tidying", title="A Friday afternoon", description="Ports were tidied up.")

    found = [f for f in lint_file(path, CATALOG) if f.code == "SK217"]
    assert any(f.message.startswith("it breaks the same fields") for f in found) is near
