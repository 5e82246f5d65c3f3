"""Malicious files are read or refused with a position, never with a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.cli import run
from scenario_kit.errors import AuthoringError
from scenario_kit.scoring.files.answers import read_answer
from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.itbench_truth import read_itbench_truth
from scenario_kit.scoring.files.run_records import read_run_record
from scenario_kit.scoring.files.source import Source, parse_source
from scenario_kit.scoring.files.truths import read_truths
from scenario_kit.scoring.matching.policy import MatchPolicy
from scenario_kit.scoring.scores.run_score import prepare_truth, score_run
from scenario_kit.scoring.scores.settings import ScoreSettings
from tests.scoring.truths import PROPERTY, decide, roots

NAMES = (
    "entities", "name", "contributing_factor", "propagations", "source", "target", "alerts_explained", "root_causes",
    "propagation_chain", "resource", "type", "groups", "id", "kind", "filter", "root_cause", "aliases", "alerts",
    "spec", "metadata", "run_id", "scenario", "answer", "start", "end", "tokens", "tool_calls", "optimum", "model",
    "grades", "reasoning", "checklist",
)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["shop/Deployment/a", "a-.*", "*.*", "Pod", "finish", "2026-11-25T10:00:00Z"])
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)


def check_refusal(error: AuthoringError) -> None:
    assert error.findings
    assert all(finding.position and finding.fix for finding in error.findings)


def parse(value: Any) -> Source:
    text = json.dumps(value).replace("NaN", "1e99").replace("-Infinity", "-1e308").replace("Infinity", "1e308")
    return parse_source(text, "x.json")


@PROPERTY
@given(VALUES)
def test_answers(value: Any) -> None:
    try:
        answer = read_answer(parse(value))
    except AuthoringError as error:
        check_refusal(error)
    else:
        assert len(decide(roots("a"), *answer.claims)) == len(answer.claims)


@PROPERTY
@given(VALUES)
def test_records(value: Any) -> None:
    try:
        record = read_run_record(parse(value))
    except AuthoringError as error:
        check_refusal(error)
    else:
        score = score_run(prepare_truth(roots("a")), record, ScoreSettings(policy=MatchPolicy()))
        assert all(isinstance(each, float) for each in score.values.values())


@PROPERTY
@given(VALUES)
def test_truths(value: Any) -> None:
    source = parse(value)
    mistakes = Mistakes(source)
    read_itbench_truth(Fields(mistakes, (), source.data), "")
    assert all(finding.position for finding in mistakes.findings)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b"[" * 100_000),
        ("nested.json", b'{"groups": ' + b"[" * 900 + b"]" * 900 + b"}"),
        ("deep.yaml", b"a: " + b"[" * 5000),
        ("empty.json", b""),
        ("empty.yaml", b""),
        ("latin.json", b'{"groups": "\xe9"}'),
        ("bomb.yaml", b"a: &a [1, 2]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
        ("null.json", b"null"),
        ("surrogate.json", b'{"groups": [{"id": "\\ud800", "kind": "Pod", "name": "x", "root_cause": true}]}'),
        ("regex.json", b'{"groups": [{"id": "a", "kind": "Pod", "filter": "(a{1000}){1000}", "root_cause": true}]}'),
        ("dup.json", b'{"groups": [], "groups": 5}'),
        ("list.json", b"[1, 2]"),
        ("digits.json", b'{"groups": ' + b"9" * 5000 + b"}"),
        ("digits.yaml", b"groups: " + b"9" * 5000),
    ],
)
def test_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    good = tmp_path / "good.json"
    good.write_text('{"groups": [{"id": "a", "kind": "Pod", "name": "x", "root_cause": true}]}')
    for arguments in ((path, path), (good, path), (good, good, "--topology", path), (good, good, "--prices", path)):
        code = run(["score", *map(str, arguments)])
        printed = capsys.readouterr()
        assert code in (0, 1), printed.err
        assert "this is a bug" not in printed.err
    with pytest.raises(AuthoringError) as caught:
        read_truths(path)
    assert caught.value.findings


GOOD = '{"groups": [{"id": "a", "kind": "Pod", "name": "x", "root_cause": true}]}'


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ('"turns": ' + "9" * 400, "`turns` is a number beyond 1e+15"),
        ('"tokens": {"input": 1e300}', "`tokens.input` is a number beyond 1e+15"),
        ('"repeat": ' + "9" * 400, "`repeat` is a number beyond 1e+15"),
        ('"start": 1e300', "`start` is a number beyond 1e+15"),
        ('"optimum": {"cpu": {"observed": 1, "optimal": 5e-324}}', "`optimum.cpu.optimal` is 4.94066e-324"),
    ],
)
def test_absurd_numbers_of_records_are_refused(
    field: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, record = tmp_path / "truth.json", tmp_path / "record.json"
    truth.write_text(GOOD)
    record.write_text(f'{{"run_id": "", "scenario": "",\n{field}}}')
    assert run(["score", str(truth), str(record)]) == 1
    printed = capsys.readouterr()
    assert message in printed.out + printed.err
    assert f"{record}:2:" in printed.out + printed.err


def test_prices_are_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, prices = tmp_path / "truth.json", tmp_path / "prices.json"
    truth.write_text(GOOD)
    prices.write_text('{"id": "p", "date": "2026-01-01", "models": {"m": {"input": 1e308, "output": 1}}}')
    assert run(["score", str(truth), str(truth), "--prices", str(prices)]) == 1
    assert "`models.m.input` is a number beyond 1e+15" in capsys.readouterr().err


def test_file_that_is_not_json_says_so_without_an_incident(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truths = tmp_path / "truths"
    for name in ("a", "b"):
        (truths / name).mkdir(parents=True)
        (truths / name / "ground_truth.json").write_text(GOOD)
    record = tmp_path / "record.json"
    record.write_text('{"run_id": "1", "scenario": "a", "turns": NaN}')
    assert run(["score", str(truths), str(record)]) == 3
    assert "is not JSON" in capsys.readouterr().err
