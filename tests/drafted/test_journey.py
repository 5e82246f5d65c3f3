"""How far a draft comes, and what is tried again."""

import pytest

from tests.drafted.journey import Journey, append, left, read, summary, travel
from tests.matrix.pairs import Pair

PAIR = Pair("shop", "1.0", "pod-kill", 1, "Pod", "Deployment/cart")
ALL = ["new", "lint", "try", "lint", "verify"]


@pytest.mark.parametrize(
    ("answers", "ran", "stopped", "corrected"),
    [
        ({}, ALL, "", False),
        ({"lint": (1, "SK105")}, ["new", "lint"], "lint", False),
        ({"try": (1, "FAIL; accepted into scenario.yaml")}, ALL, "", True),
        ({"try": (1, "FAIL; nothing to accept")}, ["new", "lint", "try"], "try", False),
        ({"verify": (4, "INCONCLUSIVE")}, ALL, "verify", False),
        ({"try": (2, "the lab is gone")}, ["new", "lint", "try"], "try", False),
    ],
)
def test_a_journey_ends_where_a_command_is_not_content(tmp_path, answers, ran, stopped, corrected):
    seen = []

    def run(arguments):
        seen.append(arguments)
        return answers.get(arguments[0], (0, "fine"))

    came = travel(PAIR, tmp_path, run, ("--name", "lab"))
    assert [step[0] for step in seen] == ran
    assert (came.stopped, came.corrected) == (stopped, corrected)
    assert bool(came.said) == bool(stopped)
    assert came.pair == PAIR
    assert all(("--name" in step) == (step[0] in ("try", "verify")) for step in seen)


def test_records_survive_and_infrastructure_is_tried_again(tmp_path):
    file = tmp_path / "runs" / "drafts.jsonl"
    others = [PAIR._replace(target=f"Deployment/{name}") for name in ("a", "b", "c")]
    proven, refused, broken = (
        Journey(pair=pair, stopped=stopped, code=code)
        for pair, stopped, code in zip(others, ("", "lint", "try"), (0, 1, 2), strict=True)
    )
    append(file, proven)
    with file.open("a") as out:
        out.write('{"app": "half of')
    for each in (refused, broken):
        append(file, each)
    known = read(file)
    assert known == [proven, refused, broken]
    assert left([PAIR, *others], known) == [PAIR, others[2]]
    assert left([PAIR, *others], known, again=True) == [PAIR, others[1], others[2]]
    assert summary(known).splitlines()[-1] == "1 of 3 proven, 0 of them after a correction"
