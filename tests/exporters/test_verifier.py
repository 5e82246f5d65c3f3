"""The program that exported tasks carry decides as scenario-kit does, on whatever an answer holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.exporters.gates import score_text
from scenario_kit.exporters.rules import VERIFIER, build_rules, load_verifier
from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from tests.scoring.truths import PROPERTY, decide, group

KINDS = (
    "Deployment",
    "Pod",
    "Service",
    "ConfigMap",
    "Namespace",
    "Schedule",
    "NetworkChaos",
    "HTTPChaos.chaos-mesh.org",
)
NAMES = ("cart", "cart-7f9-abc12", "cart-0", "cart-x5k2p", "cart-6d5f8b7c9-x2x4z", "front", "pod-s8vrx", "pod")
UUID = "123e4567-e89b-12d3-a456-426614174000"


def spell(namespace: str, kind: str, name: str, ending: str) -> str:
    return "/".join(part for part in (namespace, kind, name) if part) + ending


CLAIMS = st.one_of(
    st.builds(
        spell, st.sampled_from(("", "shop", "other")), st.sampled_from((*KINDS, "deployment", "PODCHAOS", "")),
        st.sampled_from(NAMES), st.sampled_from(("", "", "", f"/{UUID}", f" ({UUID})", f"-{UUID}", " ")),
    ),
    st.text(max_size=12),
)  # fmt: skip
GROUPS = st.lists(
    st.builds(
        lambda kind, namespace, names, root: TruthGroup(
            id=f"{namespace}/{kind}/{'+'.join(names)}", kind=kind, namespace=namespace, names=names, root=root
        ),
        st.sampled_from(KINDS), st.sampled_from(("", "shop")),
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True).map(tuple), st.booleans(),
    ),
    min_size=1, max_size=5, unique_by=lambda each: each.id,
)  # fmt: skip


@st.composite
def truths(draw: st.DrawFn) -> IncidentTruth:
    groups = draw(GROUPS)
    ids = [each.id for each in groups]
    aliases = draw(st.lists(st.lists(st.sampled_from(ids), min_size=2, max_size=3).map(tuple), max_size=2))
    roots = groups if any(each.root for each in groups) else [*groups[1:], group("r", "shop/Service/front", root=True)]
    outcome = draw(st.sampled_from(("Incident", "Incident", "Benign", "NoIncident")))
    return IncidentTruth(incident="one", outcome=outcome, groups=tuple(roots), aliases=tuple(aliases))


def reward(truth: IncidentTruth, text: str | None) -> float:
    rules = json.loads(build_rules(truth).render())
    return load_verifier().score_answer(rules, text)["rewards"]["reward"]


@PROPERTY
@given(truths(), st.lists(CLAIMS, max_size=6))
def test_every_decision_is_the_same(truth: IncidentTruth, claims: list[str]) -> None:
    if truth.outcome != "Incident":
        truth = IncidentTruth(incident="one", groups=truth.groups, aliases=truth.aliases)
    rules = json.loads(build_rules(truth).render())
    mine = [each["verdict"] for each in load_verifier().decide_claims(rules, claims)]
    theirs = [each.verdict for each in decide(truth, *[c if "/" in c else f"{c}/" for c in claims])]
    if all("/" in claim for claim in claims):
        assert mine == theirs
    text = json.dumps({"contributing_factors": [{"name": claim} for claim in claims]})
    assert reward(truth, text) == pytest.approx(score_text(truth, text))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(("shop/Deployment/cart", "x", "")),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(("name", "kind", "namespace", "source", "target", "type", "id", "root_cause",
                                       "contributing_factor")), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
ANSWERS = st.dictionaries(
    st.sampled_from(("entities", "propagations", "alerts_explained", "contributing_factors", "root_causes",
                     "propagation_chain", "resource", "alert_start_time", "more")), VALUES, max_size=5,
) | VALUES  # fmt: skip


@PROPERTY
@given(truths(), ANSWERS)
def test_an_answer_of_any_shape_counts_alike(truth: IncidentTruth, answer: object) -> None:
    text = json.dumps(answer)
    assert reward(truth, text) == pytest.approx(score_text(truth, text))


@pytest.mark.parametrize("text", ["", " ", "{", "[]", "null", '{"entities": NaN}', "\ufeff{}", "{}", "[" * 100_000])
@pytest.mark.parametrize("outcome", ["Incident", "NoIncident"])
def test_what_is_no_answer_scores_nothing(text: str, outcome: str) -> None:
    groups = (group("cart", "shop/Deployment/cart", root=True),)
    truth = IncidentTruth(incident="one", outcome=outcome, groups=groups)
    assert reward(truth, text) == score_text(truth, text) == 0.0


def run_program(folder: Path, answer: bytes | None) -> dict[str, float]:
    truth = IncidentTruth(incident="one", groups=(group("cart", "shop/Deployment/cart", root=True),))
    (folder / "rules.json").write_text(build_rules(truth).render())
    if answer is not None:
        (folder / "answer.json").write_bytes(answer)
    command = [sys.executable, "-I", VERIFIER, "--rules", "rules.json", "--answer", "answer.json"]
    subprocess.run([*map(str, command), "--reward", "reward.json", "--decisions", "why.json"], cwd=folder, check=True)
    assert json.loads((folder / "why.json").read_text())["rewards"].keys() >= {"reward", "answered"}
    return json.loads((folder / "reward.json").read_text())


def test_the_program_alone(tmp_path: Path) -> None:
    """Apart from the kit, by the standard library; what cannot be read is no answer, and never an error."""
    named = b'{"contributing_factors": [{"name": "shop/Deployment/cart"}, {"name": "shop/Deployment/front"}]}'
    found = run_program(tmp_path, named)
    assert found == {
        "answered": 1.0, "reward": 0.5, "root_cause_precision": 0.5, "root_cause_recall": 1.0,
        "root_cause_f1": pytest.approx(0.6667, abs=1e-4),
    }  # fmt: skip
    assert run_program(tmp_path, b"\xff\xfe")["reward"] == 0.0
    (tmp_path / "answer.json").unlink()
    assert run_program(tmp_path, None) == {"reward": 0.0, "answered": 0.0}
    (tmp_path / "answer.json").mkdir()
    assert run_program(tmp_path, None) == {"reward": 0.0, "answered": 0.0}
