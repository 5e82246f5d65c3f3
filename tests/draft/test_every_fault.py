"""A draft of every fault in every app where it fits lints green and renders; the counts are printed."""

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.model import Reference
from scenario_kit.render import resolve
from scenario_kit.render.faults.applicability import list_targets
from scenario_kit.render.faults.first_offer import find_first_offer, render_objects_for

CATALOG = Catalog(merging=True)
APPS = [(name, version) for name in CATALOG.apps() for version in CATALOG.versions(name)]
DRAFTED: dict[tuple[str, str], str] = {}


@pytest.mark.parametrize("fault", CATALOG.faults())
@pytest.mark.parametrize(("app", "version"), APPS, ids=[f"{a}-{v}" for a, v in APPS])
def test_draft_lints_green_and_renders(app, version, fault, tmp_path):
    found = find_first_offer(CATALOG.fault(fault), CATALOG.app(app, version), CATALOG)
    if found is None:
        pytest.skip(f"nothing in {app} that {fault} could break with its defaults")
    made = draft(Answers(app, version, found.target, fault, author="Ada Lovelace"), CATALOG)
    file = tmp_path / "scenarios" / made.name / "scenario.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(made.text)

    findings = lint_file(file, CATALOG)

    # A draft may be what the catalogue has already: that a copy is told (SK216) is right, and no mistake of the draft.
    assert [(f.code, f.message) for f in findings if f.severity == "Error" and f.code != "SK216"] == []
    scenario = load_scenario(file).scenario
    runbook = resolve(scenario, CATALOG, "somewhere", beside=file.parent)
    assert runbook.faults[0].changes
    made_objects = [c.operation.resource or {} for p in runbook.procedures for c in p.solution.changes]
    homes = {m.get("metadata", {}).get("namespace") for m in made_objects}
    assert runbook.app.namespace not in homes, "trials are elsewhere"
    assert scenario.spec.brief
    assert scenario.spec.ground_truth.root_causes
    DRAFTED[(app, fault)] = found.target


def has_target(fault_type, app, version):
    known = CATALOG.app(app, version)
    return bool(list_targets(fault_type, known, render_objects_for(fault_type, known, CATALOG)))


def test_every_fault_has_a_target(capsys):
    """Every fault is applicable to some app, or needs a capability that no app has."""
    rows, lonely = [], []
    for fault in CATALOG.faults():
        fault_type = CATALOG.fault(fault)
        counts = {}
        for app, version in APPS:
            found = find_first_offer(fault_type, CATALOG.app(app, version), CATALOG)
            counts[f"{app} {version}"] = "-" if found is None else found.target
        rows.append((fault, *counts.values()))
        if set(counts.values()) == {"-"} and not fault_type.requires and any(has_target(fault_type, *a) for a in APPS):
            lonely.append(fault)
    with capsys.disabled():
        print(
            f"\n{len(rows)} faults; drafts: "
            + ", ".join(f"{app} {v} {sum(row[i + 1] != '-' for row in rows)}" for i, (app, v) in enumerate(APPS))
        )
    assert lonely == []


def test_draft_text_has_no_unrendered_templates(tmp_path):
    made = draft(
        Answers("otel-demo", "2.2.0", Reference("Service", "product-catalog"), "service-target-port-wrong"), CATALOG
    )
    assert "{{" not in made.text
    assert Path(made.name).name == "product-catalog-service-target-port-wrong"
