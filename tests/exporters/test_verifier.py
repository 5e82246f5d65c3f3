"""The verifier of exported tasks agrees with scenario-kit on every answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenario_kit.exporters.gates import score_text
from scenario_kit.exporters.rules import VERIFIER, build_rules, load_verifier
from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from scenario_kit.scoring.matching.matcher import build_truth_index, match_claims
from tests.scoring.truths import DEFAULT, group

#: Generated cases, the same ones each time: enough that each rule of the matcher comes up. How long one takes says
#: nothing on a machine with other work.
MANY = settings(deadline=None, max_examples=300, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

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


@st.composite
def cases(draw: st.DrawFn) -> tuple[IncidentTruth, list[str]]:
    """A truth, and claims most of which are near to it: another kind, another namespace, a suffix more or less."""
    truth = draw(truths())
    near = []
    for _ in range(draw(st.integers(0, 5))):
        chosen = draw(st.sampled_from(truth.groups))
        name = draw(st.sampled_from(chosen.names))
        endings = ("", "", "", "-0", "-x2x4z", "-6d5f8b7c9-x2x4z", f"/{UUID}", f" ({UUID})", f"-{UUID}")
        name = draw(st.sampled_from((name, name, name[:-6] or name))) + draw(st.sampled_from(endings))
        kind = draw(st.sampled_from((chosen.kind, chosen.kind, chosen.kind.lower(), "Pod", "Service", "Schedule",
                                     "NetworkChaos")))  # fmt: skip
        near.append(
            "/".join(filter(None, (draw(st.sampled_from((chosen.namespace, "", "shop", "other"))), kind, name)))
        )
    return truth, draw(st.permutations([*near, *near[:1], *draw(st.lists(CLAIMS, max_size=1))]))


def reward(truth: IncidentTruth, text: str | None) -> float:
    rules = json.loads(build_rules(truth).render())
    return load_verifier().score_answer(rules, text)["rewards"]["reward"]


@MANY
@given(cases())
def test_verifier_matches_the_scorer(case: tuple[IncidentTruth, list[str]]) -> None:
    truth, claims = case
    incident = IncidentTruth(incident="one", groups=truth.groups, aliases=truth.aliases)
    rules = json.loads(build_rules(incident).render())
    mine = [each["verdict"] for each in load_verifier().decide_claims(rules, claims)]
    theirs = [each.verdict for each in match_claims(build_truth_index(incident), claims, DEFAULT)]
    assert mine == theirs
    text = json.dumps({"contributing_factors": [{"name": claim} for claim in claims]})
    assert reward(truth, text) == pytest.approx(score_text(truth, text))


def test_generated_cases_cover_every_verdict() -> None:
    """The comparison is meaningful only if generated cases cover every verdict."""
    seen: set[str] = set()

    @MANY
    @given(cases())
    def collect(case: tuple[IncidentTruth, list[str]]) -> None:
        rules = json.loads(
            build_rules(IncidentTruth(incident="one", groups=case[0].groups, aliases=case[0].aliases)).render()
        )
        seen.update(each["verdict"] for each in load_verifier().decide_claims(rules, case[1]))

    collect()
    assert seen == {"RootCause", "OtherEntity", "Duplicate", "Alias", "Unmatched", "Ambiguous", "Unreadable"}


NAMED = {"name": "shop/Deployment/cart"}
EDGE = {"source": "a", "target": "b"}
#: Answers in each form, every part of which is then spoiled.
FORMS = (
    {"entities": [{**NAMED, "contributing_factor": True}], "propagations": [EDGE], "alerts_explained": [{}]},
    {"entities": [{"id": "shop/Deployment/cart", "root_cause": True}], "propagations": [EDGE], "alert_start_time": "x"},
    {"contributing_factors": [NAMED, NAMED]},
    {"root_causes": [{**NAMED, "kind": "Deployment", "namespace": "shop"}], "propagation_chain": ["x", EDGE, NAMED]},
    {"root_causes": [{"name": "cart", "kind": "Deployment", "namespace": "shop"}]},
    {"resource": [{"name": "a", "type": "b"}]},
)
VALUES = (None, True, False, 1, "x", "", [], {}, ["x"], [None], [{}], [[]])


def spoil(value: object) -> Iterator[object]:
    """Yield a document with one value replaced, left out or doubled, for each of its values."""
    yield from VALUES
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: inner} for inner in spoil(value[key]))
    elif isinstance(value, list):
        yield [*value, *value]
        for n, item in enumerate(value):
            yield from ([*value[:n], inner, *value[n + 1 :]] for inner in spoil(item))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: next(iter(form)))
@pytest.mark.parametrize("outcome", ["Incident", "NoIncident"])
def test_malformed_answer_scores_equally(form: object, outcome: str) -> None:
    groups = (group("cart", "shop/Deployment/cart", root=True),)
    truth = IncidentTruth(incident="one", outcome=outcome, groups=groups)
    for answer in (form, *spoil(form)):
        text = json.dumps(answer)
        assert reward(truth, text) == pytest.approx(score_text(truth, text)), text


@pytest.mark.parametrize("text", ["", " ", "{", "[]", "null", '{"entities": NaN}', "\ufeff{}", "{}", "[" * 100_000])
@pytest.mark.parametrize("outcome", ["Incident", "NoIncident"])
def test_non_answer_scores_zero(text: str, outcome: str) -> None:
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


def test_verifier_runs_standalone(tmp_path: Path) -> None:
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
