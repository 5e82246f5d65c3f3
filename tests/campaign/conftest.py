"""Minimal runbooks: only the parts that decide the plan of trials."""

import pytest

from scenario_kit.model import App, Fault, Procedure, Reference, Runbook, Solution, Windows
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import Expect, GroundTruth, PropagationEdge, RootCause

WINDOWS = Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600)


def build_fault(name, *, causes=1, join="Independent", role="Cause", mitigation="Native"):
    refs = [f"ConfigMap/{name}" if causes == 1 else f"ConfigMap/{name}-{i}" for i in range(causes)]
    return Fault(
        name=name, type="t", version=1, target=Reference.parse(refs[0]), role=role, causes_join=join,
        mitigation=mitigation,
        changes=(), effect=(), entities=tuple(Entity(ref=Reference.parse(r)) for r in refs),
    )  # fmt: skip


def build_runbook(
    *faults, labels=None, outcome="Incident", join="Independent", solutions=(), decoys=(), alerts=(), edges=()
):
    """``labels`` are entities, by default every cause of the faults that a ground truth labels; ``solutions`` maps
    names to the faults that each fixes."""
    by_entity = {e.ref: f for f in faults for e in f.causes}
    if labels is None:
        labels = [ref for ref, f in by_entity.items() if f.role in ("Cause", "Sustaining") and outcome == "Incident"]
    fixes = [
        Procedure(use="Fix", name=f"{f.name}:{i}", solution=Solution(name=f"{f.name}:{i}", fixes=(f.name,)))
        for f in faults
        for i, _ in enumerate(f.causes)
    ]
    documented = [
        Procedure(use="Solution", name=n, solution=Solution(name=n, fixes=tuple(fixed)))
        for n, fixed in dict(solutions).items()
    ]
    wrong = [Procedure(use="Decoy", name=n, solution=Solution(name=n)) for n in decoys]
    truth = GroundTruth(
        outcome=outcome,
        causes_join=join,
        root_causes=tuple(
            RootCause(fault=by_entity[ref].name, entity=Reference.parse(ref) if ref else None) for ref in labels
        ),
        propagation=tuple(
            PropagationEdge(from_=Reference.parse(one), to=Reference.parse(other)) for one, other in edges
        ),
    )
    return Runbook(
        scenario="s", digest="d", app=App(name="shop", version="1", namespace="shop", entry="web", components=()),
        namespace="shop", users=1, objects=(), rules=(), windows=WINDOWS, faults=faults, expect=Expect(alerts=alerts),
        ground_truth=truth, procedures=(*documented, *wrong, *fixes),
    )  # fmt: skip


@pytest.fixture
def fault():
    return build_fault


@pytest.fixture
def runbook_of():
    return build_runbook
