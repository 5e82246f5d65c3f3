"""The shape of contributions: tables over changed files and commit messages."""

import pytest

from scenario_kit.contribution import (
    Commit,
    FileChange,
    PullRequestScope,
    check_sign_off,
    determine_scope,
    report_missing_scenario,
)
from scenario_kit.model import Finding, Severity

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
        ([ONE + "scenario.yaml", "scenario_kit/judge/repair/resolution.py"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", "catalog/scenarios-evil/x"], "web-errors", ["SK002"]),
        ([ONE + "evidence.json"], "web-errors", ["SK006"]),
        ([ONE + "scenario.yaml", ONE + "evidence/summary.json"], "web-errors", ["SK006"]),
        ([ONE + "scenario.yaml", ONE + "evidence.json/summary.json"], "web-errors", ["SK006"]),
        ([ONE + "scenario.yaml", ONE + "evidence"], "web-errors", ["SK006"]),
        ([ONE + "scenario.yaml", ONE + "Evidence/summary.json"], "web-errors", ["SK006"]),
        ([ONE + "scenario.yaml", ONE + "faults/a/b/fault.yaml"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "fault.yaml"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "catalog/scenarios/other/scenario.yaml"], "web-errors", ["SK002"]),
        ([ONE + "evidence.md"], "web-errors", []),
        ([ONE + "evidence.json.md"], "web-errors", []),
        ([ONE + "notes/evidence.json"], "web-errors", []),
        ([ONE + "README.md", ONE + "evidence/a/b\n.json"], "web-errors", ["SK006"]),
        (["catalog/scenarios/a/scenario.yaml"], "a", []),
        (["catalog/scenarios/a-/scenario.yaml"], "a-", ["SK106"]),
        (["catalog/scenarios/-a/scenario.yaml"], "-a", ["SK106"]),
        (["catalog/scenarios/Web_Errors/scenario.yaml"], "Web_Errors", ["SK106"]),
        (["catalog/scenarios/../../etc/scenario.yaml"], "..", ["SK106"]),
        ([ONE + "scenario.yaml", ONE + "Scenario.yaml"], "web-errors", ["SK002"]),
        ([ONE + "faults/mine/fault.yaml", ONE + "faults/Mine/fault.yaml"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "scenario.yml"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "Evidence.json"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + ".gitattributes"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "faults/mine/.GitModules"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "notes.md "], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "notes\x07.md"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "cafe\u0301.md", ONE + "caf\u00e9.md"], "web-errors", ["SK002"]),
        ([ONE + "scenario.yaml", ONE + "README.md", ONE + "graph.png"], "web-errors", []),
        (["Catalog/scenarios/web-errors/scenario.yaml"], "", ["SK002"]),
    ],
)
def test_shapes(paths, scenario, codes):
    found = determine_scope(changes(*paths))
    assert found.scenario == scenario
    assert [f.code for f in found.findings] == codes


def error(code: str, message: str, expected: str, fix: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, message=message, expected=expected, fix=fix)


@pytest.mark.parametrize(
    ("paths", "mode", "expected"),
    [
        (
            [ONE + "scenario.yaml", "catalog/scenarios/other/scenario.yaml"],
            "100644",
            error(
                "SK001",
                "this pull request changes 2 scenarios: web-errors, other",
                "one",
                "open one pull request per scenario",
            ),
        ),
        (
            [ONE + "scenario.yaml", "README.md"],
            "100644",
            error(
                "SK002",
                f"this pull request touches files outside {ONE}: README.md",
                f"changes in {ONE} only",
                "move everything else to a separate pull request",
            ),
        ),
        (
            [ONE + "scenario.yaml"],
            "120000",
            error(
                "SK002",
                f"{ONE}scenario.yaml is a symbolic link",
                "regular files",
                "replace it with the file itself",
            ),
        ),
        (
            [ONE + "faults"],
            "160000",
            error("SK002", f"{ONE}faults is a submodule", "regular files", "replace it with the file itself"),
        ),
        (
            ["catalog/scenarios/Web_Errors/scenario.yaml"],
            "100644",
            error(
                "SK106",
                "'Web_Errors' is not a valid scenario name",
                "lower-case letters, digits and hyphens",
                "rename the folder",
            ),
        ),
        (
            [ONE + "evidence.json"],
            "100644",
            error(
                "SK006",
                f"{ONE}evidence.json was changed by hand",
                "evidence is written only by ci/evidence, on the maintainers' machine, after the merge",
                "restore this file from the base",
            ),
        ),
    ],
)
def test_out_of_scope_files_are_reported(paths, mode, expected):
    assert determine_scope(changes(*paths, mode=mode)).findings == (expected,)


def test_folder_without_scenario_error():
    assert report_missing_scenario("web-errors") == error(
        "SK002",
        "catalog/scenarios/web-errors/ has no scenario.yaml",
        "a folder with scenario.yaml, or no folder",
        "add the file, or remove the whole folder",
    )


@pytest.mark.parametrize(
    ("count", "end"),
    [
        (1, ": docs/0.md"),
        (3, ": docs/0.md, docs/1.md, docs/2.md"),
        (4, ": docs/0.md, docs/1.md, docs/2.md and 1 more"),
        (9, ": docs/0.md, docs/1.md, docs/2.md and 6 more"),
    ],
)
def test_message_lists_unexpected_files_briefly(count, end):
    found = determine_scope(changes(ONE + "scenario.yaml", *(f"docs/{i}.md" for i in range(count))))
    assert found.findings[0].message.endswith(end)


def test_scenario_folder_is_configurable():
    found = determine_scope(changes("incidents/web-errors/scenario.yaml"), scenarios="incidents/")
    assert found == PullRequestScope(scenario="web-errors")
    assert determine_scope(changes(ONE + "scenario.yaml"), scenarios="incidents/") == PullRequestScope()
    assert report_missing_scenario("a", scenarios="incidents/").message == "incidents/a/ has no scenario.yaml"


def test_folder_problems_are_reported_together():
    broken = changes(ONE + "a", ONE + "b", mode="120000") + changes(ONE + "evidence.json", status="A")
    assert [f.code for f in determine_scope(broken).findings] == ["SK002", "SK002", "SK006"]


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_symlinked_scenario_is_refused(mode):
    (finding,) = determine_scope(changes("catalog/scenarios/web-errors", status="A", mode=mode)).findings
    assert finding.code == "SK002"
    assert determine_scope(changes("docs/latest", status="A", mode=mode)).findings == (), "nothing that is judged here"


@pytest.mark.parametrize(("status", "what"), [("A", "added"), ("M", "changed"), ("T", "changed"), ("D", "removed")])
def test_handwritten_evidence_is_refused(status, what):
    (found,) = determine_scope(changes(ONE + "evidence.json", status=status)).findings
    assert (found.code, found.message) == ("SK006", f"{ONE}evidence.json was {what} by hand")


@pytest.mark.parametrize(
    ("scenario", "evidence", "removed", "codes"),
    [
        ("D", "D", True, []),
        ("D", "M", False, ["SK006"]),
        ("D", "A", False, ["SK006"]),
        ("M", "D", False, ["SK006"]),
        ("A", "A", False, ["SK006"]),
    ],
)
def test_evidence_is_removed_only_with_its_scenario(scenario, evidence, removed, codes):
    found = determine_scope(
        [*changes(ONE + "scenario.yaml", status=scenario), *changes(ONE + "evidence.json", status=evidence)]
    )
    assert (found.scenario, found.removed, [f.code for f in found.findings]) == ("web-errors", removed, codes)


@pytest.mark.parametrize(
    ("others", "removed"),
    [([], True), ([("README.md", "D"), ("faults/own/fault.yaml", "D")], True), ([("README.md", "M")], False)],
)
def test_scenario_is_removed_as_a_whole(others, removed):
    whole = [("scenario.yaml", "D"), *others]
    found = determine_scope([change for path, status in whole for change in changes(ONE + path, status=status)])
    assert (found.removed, found.findings) == (removed, ())


def test_nested_scenario_file_is_not_the_scenario():
    assert determine_scope(changes(ONE + "faults/scenario.yaml", status="D")).removed is False


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("docs/\n::error::\x1b[31mevil", "docs/?::error::?[31mevil"),
        ("docs/\u202eevil", "docs/?evil"),
        ("d" * 200, "d" * 120),
    ],
)
def test_names_cannot_write_into_a_log(path, shown):
    found = determine_scope(changes(ONE + "scenario.yaml", path))
    assert found.findings[0].message == f"this pull request touches files outside {ONE}: {shown}"


@pytest.mark.parametrize(
    ("message", "signed"),
    [
        ("Add it\n\nSigned-off-by: A Person <a@example.org>\n", True),
        ("Add it\n\nSigned-off-by: A Person <a@example.org>", True),
        ("Add it\n\nSigned-off-by: A Person <a@example.org>\r\n", True),
        ("Add it\n\nSigned-off-by: A Person <a@example.org>\nReviewed-by: B <b@example.org>\n", True),
        ("Add it\n\nSigned-off-by: A Person\n", False),
        ("Add it\n\nSigned-off-by: <a@example.org>\n", False),
        ("Add it\n\nSigned-off-by: A Person <nowhere>\n", False),
        ("Add it\n\nSigned-off-by: A Person <a@example.org> and so on\n", False),
        ("Add it\n\n> Signed-off-by: A Person <a@example.org>\n", False),
        ("Add it\n\nsigned-off-by: A Person <a@example.org>\n", False),
        ("Signed-off-by: nobody", False),
        ("", False),
    ],
)
def test_sign_off(message, signed):
    assert (check_sign_off([Commit(hash="abc", message=message)]) == []) is signed


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Add it\n\nMore of it.\n", "Add it"),
        ("Add\x1b[31m it", "Add?[31m it"),
        ("\nAdd it", ""),
        ("", ""),
    ],
)
def test_unsigned_commit_is_reported_with_its_subject(message, shown):
    assert check_sign_off([Commit(hash="abc123", message=message)]) == [
        error(
            "SK004",
            f"commit abc123 is not signed off: {shown}",
            "a last line 'Signed-off-by: Name <address>'",
            "run `git rebase --signoff` on the base, then push again",
        )
    ]


def test_every_unsigned_commit_is_reported():
    good, bad = "a\n\nSigned-off-by: A <a@b.org>", "b"
    found = check_sign_off([Commit(hash=str(i), message=m) for i, m in enumerate((bad, good, bad))])
    assert [f.message for f in found] == ["commit 0 is not signed off: b", "commit 2 is not signed off: b"]
