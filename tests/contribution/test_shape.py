"""The shape of contributions: tables over changed files and commit messages."""

import pytest

from scenario_kit.contribution import Commit, FileChange, shape, signed_off

ONE = "catalog/scenarios/web-errors/"


def changes(*paths, status="M", mode="100644"):
    return [FileChange(path=p, status=status, mode=mode) for p in paths]


@pytest.mark.parametrize(
    ("paths", "scenario", "codes"),
    [
        ([ONE + "scenario.yaml"], "web-errors", []),
        ([ONE + "scenario.yaml", ONE + "faults/mine/fault.yaml"], "web-errors", []),
        (["README.md", "scenario_kit/errors.py"], "", []),
        (["catalog/scenarios/README.md"], "", []),
        ([ONE + "scenario.yaml", "catalog/scenarios/other/scenario.yaml"], "", ["SK001"]),
        ([ONE + "scenario.yaml", "scenario_kit/judge/resolved.py"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", "catalog/scenarios-evil/x"], "web-errors", ["SK002"]),
        ([ONE + "evidence.json"], "web-errors", ["SK006"]),
        ([ONE + "scenario.yaml", ONE + "evidence/summary.json"], "web-errors", ["SK006"]),
        ([ONE + "evidence.md"], "web-errors", []),
        (["catalog/scenarios/Web_Errors/scenario.yaml"], "Web_Errors", ["SK106"]),
        (["catalog/scenarios/../../etc/scenario.yaml"], "..", ["SK106"]),
    ],
)
def test_shapes(paths, scenario, codes):
    found = shape(changes(*paths))
    assert found.scenario == scenario
    assert [f.code for f in found.findings] == codes


def test_one_sentence_names_what_is_too_much():
    found = shape(changes(ONE + "scenario.yaml", *(f"docs/{i}.md" for i in range(9))))
    assert found.findings[0].message.endswith("docs/0.md, docs/1.md, docs/2.md and 6 more")


def test_links_out_of_the_folder_are_refused():
    for mode in ("120000", "160000"):
        assert [f.code for f in shape(changes(ONE + "scenario.yaml", mode=mode)).findings] == ["SK002"]


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_a_scenario_that_is_a_link_is_refused(mode):
    (finding,) = shape(changes("catalog/scenarios/web-errors", status="A", mode=mode)).findings
    assert finding.code == "SK002"
    assert shape(changes("docs/latest", status="A", mode=mode)).findings == (), "nothing that is judged here"


@pytest.mark.parametrize(("status", "told"), [("A", "added"), ("M", "changed"), ("D", "removed")])
def test_nobody_writes_evidence_by_hand(status, told):
    (found,) = shape(changes(ONE + "evidence.json", status=status)).findings
    assert (found.code, told in found.message) == ("SK006", True)


def test_a_scenario_is_removed_with_its_evidence():
    found = shape(changes(ONE + "scenario.yaml", ONE + "evidence.json", status="D"))
    assert (found.removed, found.findings) == (True, ())


def test_names_cannot_write_into_a_log():
    found = shape(changes(ONE + "scenario.yaml", "docs/\n::error::\x1b[31mevil"))
    assert "\n" not in found.findings[0].message
    assert "\x1b" not in found.findings[0].message


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Add it\n\nSigned-off-by: A Person <a@example.org>\n", 0),
        ("Add it\n\nSigned-off-by: A Person\n", 1),
        ("Signed-off-by: nobody", 1),
        ("", 1),
    ],
)
def test_sign_off(message, found):
    assert len(signed_off([Commit(hash="abc", message=message)])) == found
