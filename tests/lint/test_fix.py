"""``lint --fix``: what can be corrected in one way is, and nothing else of the file changes."""

from __future__ import annotations

import random
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.lint import RULES, lint_text
from scenario_kit.lint.fix import fix_file, fix_text, format_diff, write
from scenario_kit.lint.framework.suppression import find_latest_month, get_today
from scenario_kit.load import LocatedFinding
from scenario_kit.load.yaml.document import parse
from scenario_kit.load.yaml.edit import Drop, Edit, Put, Rename, apply_edits
from scenario_kit.model import Finding, Severity
from tests.lint import policy_violations

CATALOG = Catalog()
MERGING = Catalog(merging=True)
NAME = "product-catalog-wrong-target-port"
TEXT = (find_data_root() / "catalog" / "scenarios" / NAME / "scenario.yaml").read_text()
#: Comments where edits could lose them.
NOTED = "# head\n" + TEXT.replace("  faults:\n", "  # what breaks\n  faults:  # one\n") + "# tail\n"
SPEC = ("spec",)
FAULT = ("spec", "faults", 0)
CAUSE = ("spec", "groundTruth", "rootCauses", 0)
STEP = ("spec", "solutions", 0, "changes", 0, "patch", "patch", 0)
ALERT = ("spec", "expect", "alerts", 0)
OLD = {"code": "SK432", "reason": "none yet", "until": "2020-01"}

FIRST_EDGE = {"from": "Service/product-catalog", "to": "Deployment/frontend", "because": "said in other words"}
#: What breaks the rule, and its code. The fix must restore what the file said.
RESTORED: list[tuple[str, Edit]] = [
    ("SK003", Put(("metadata", "name"), "catalog-port")),
    ("SK102", Rename((*FAULT, "target"), "targt")),
    ("SK103", Drop(("apiVersion",))),
    ("SK104", Put((*ALERT, "withinSeconds"), "480")),
    ("SK104", Put((*ALERT, "withinSeconds"), "8m")),
    ("SK104", Put((*FAULT, "target"), "svc/product-catalog")),
    ("SK105", Put(("apiVersion",), "scenariokit.io/v1")),
    ("SK107", Put((*SPEC, "app", "name"), "otel-dmeo")),
    ("SK107", Put((*SPEC, "app", "version"), "v2.2.0")),
    ("SK108", Put((*FAULT, "type"), "service-target-port-wrnog")),
    ("SK109", Rename((*FAULT, "parameters", "targetPort"), "targetport")),
    ("SK109", Put((*FAULT, "parameters", "targetPort"), "9999")),
    ("SK110", Put((*FAULT, "target"), "Service/product-catalogue")),
    ("SK110", Put((*FAULT, "target"), "Deployment/product-catalog")),
    ("SK112", Put((*CAUSE, "entity"), "Service/product-catlog")),
    ("SK113", Put((*ALERT, "name"), "HighRequestErorRate")),
    ("SK114", Put((*ALERT, "entity"), "Service/frontend")),
    ("SK115", Put((*SPEC, "groundTruth", "propagation", 0, "to"), "Deployment/frontned")),
    ("SK121", Put((*SPEC, "solutions", 0, "changes", 0, "patch", "target"), "Service/product-catalogs")),
    ("SK131", Put((*CAUSE, "fault"), "catalog-prt")),
    ("SK142", Put((*STEP, "path"), "/spec/port/0/targetPort")),
    ("SK308", Put((*ALERT, "withinSeconds"), 60)),
    ("SK405", Put((*CAUSE, "entity"), "Service/currency")),
    ("SK406", Put((*CAUSE, "entity"), "Deployment/frontend")),
    ("SK409", Drop((*CAUSE, "entity"))),
    ("SK455", Put((*SPEC, "groundTruth", "propagation", 4), FIRST_EDGE)),
    ("SK601", Put((*SPEC, "license"), "apache 2.0")),
    ("SK606", Put((*SPEC, "suppress"), [OLD])),
    ("SK609", Put((*SPEC, "suppress"), [{**OLD, "code": "SK125"}])),
    ("SK608", Put((*SPEC, "suspend"), True)),
]  # fmt: skip


def study(text: str, folder: str = NAME) -> list[LocatedFinding]:
    return lint_text(text, Path("/nowhere/scenarios") / folder / "scenario.yaml", MERGING)


def codes(build_finding: Sequence[LocatedFinding]) -> set[str]:
    return {mistake.finding.code for mistake in build_finding}


def test_file_is_clean_before() -> None:
    assert study(NOTED) == []


@pytest.mark.parametrize(("code", "edit"), RESTORED, ids=lambda value: value if isinstance(value, str) else "")
def test_fix_changes_nothing_else(code: str, edit: Edit) -> None:
    wrong = apply_edits(NOTED, [edit])
    assert code in codes(study(wrong))

    result = fix_text(wrong, study)

    assert result.left == ()
    assert code in {finding.code for finding in result.corrected}
    assert study(result.text) == []
    assert comments(result.text) == comments(NOTED)
    changed = [line for line in result.text.splitlines() if line not in NOTED.splitlines()]
    assert len(changed) <= 1, changed
    assert fix_text(result.text, study).text == result.text


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if "# " in line]


@pytest.mark.parametrize(
    ("spelled", "message", "right"),
    [
        ("{canary: on}", "kubectl reads `on` as true", '{canary: "on"}'),
        ("{canary: 0x1F, b: 'y'}", "kubectl reads `0x1F` as 31", "{canary: \"0x1F\", b: 'y'}"),
        ("{on: x}", "kubectl reads the name `on` as true", '{"on": x}'),
        ("{No: a, yes: b}", "kubectl reads the name `No` as false", '{"No": a, "yes": b}'),
    ],
)
def test_yaml11_ambiguous_text_is_quoted(spelled: str, message: str, right: str) -> None:
    """The field `on` of alerts stays: the schema in the cluster knows how kubectl spells it."""
    text = NOTED.replace("\nspec:", f"\n  labels: {spelled}\nspec:", 1)
    assert message in [m.finding.message for m in study(text) if m.finding.code == "SK140"]
    result = fix_text(text, study)
    assert result.left == ()
    assert result.text == NOTED.replace("\nspec:", f"\n  labels: {right}\nspec:", 1)


def test_ambiguous_yaml11_number_is_left_to_the_author() -> None:
    """Who writes 0480 may mean either."""
    result = fix_text(NOTED.replace("withinSeconds: 480", "withinSeconds: 0600", 1), study)
    assert [(f.code, f.fix) for f in result.left] == [("SK140", "write the intended number: 600 or 384")]


def test_fix_renames_to_kebab_case_with_references() -> None:
    wrong = NOTED.replace("catalog-port", "Catalog_Port")

    result = fix_text(wrong, study)

    assert result.left == ()
    assert {finding.code for finding in result.corrected} >= {"SK106"}
    assert result.text == NOTED


def test_fix_replaces_unsupported_domain() -> None:
    wrong = apply_edits(NOTED, [Put((*SPEC, "domain"), "finops")])
    assert codes(study(wrong)) == {"SK604"}

    assert fix_text(wrong, study).text == apply_edits(NOTED, [Put((*SPEC, "domain"), "sre")])


def test_fix_removes_decoy_equal_to_a_solution() -> None:
    solution = "    changes:" + NOTED.split("  solutions:\n")[1].split("    changes:")[1].split("\n  decoys:")[0]
    wrong = NOTED.replace("  decoys:\n", f"  decoys:\n  - name: again\n    description: x\n{solution}\n", 1)
    assert codes(study(wrong)) == {"SK433"}

    assert fix_text(wrong, study).text == NOTED


def test_decoy_containing_a_solution_is_reported() -> None:
    first, last = NOTED.split("  decoys:\n")
    changes = "    changes:" + first.split("  solutions:\n")[1].split("    changes:")[1]
    again = f"  - name: again\n    description: x\n{changes}    - restart: {{target: Deployment/cart}}\n"
    assert codes(study(f"{first}  decoys:\n{again}{last}")) == {"SK433"}


def test_decoy_must_not_be_a_solution_of_the_fault_type() -> None:
    text = (find_data_root() / "catalog" / "scenarios" / "basket-lost-its-seat" / "scenario.yaml").read_text()
    decoy = "  - {name: again, description: x, changes: [{delete: {target: Deployment/batch-mgfgb}}]}\n"
    assert codes(study(text + decoy)) - codes(study(text)) == {"SK433"}


def test_fix_removes_expired_suppressions_only() -> None:
    alive = {"code": "SK432", "reason": "nobody would try anything", "until": str(find_latest_month(get_today()))}
    plain = apply_edits(NOTED, [Drop((*SPEC, "decoys"))])
    wrong = apply_edits(plain, [Put((*SPEC, "suppress"), [OLD, alive])])

    assert fix_text(wrong, study).text == apply_edits(plain, [Put((*SPEC, "suppress"), [alive])])


def test_fix_repeats_until_no_findings_remain() -> None:
    wrong = apply_edits(
        NOTED,
        [
            Put(("kind",), "Scenaro"),
            Put((*SPEC, "app", "name"), "otel-dmeo"),
            Put((*FAULT, "type"), "service-target-port-wrnog"),
            Rename((*FAULT, "parameters", "targetPort"), "targetport"),
            Put((*ALERT, "entity"), "Deployment/frontned"),
        ],
    )

    result = fix_text(wrong, study)

    assert (result.text, result.left) == (NOTED, ())


def test_fix_leaves_ambiguous_findings() -> None:
    wrong = apply_edits(NOTED, [Put((*SPEC, "title"), "TODO"), Put((*ALERT, "name"), "Nonsense")])

    result = fix_text(wrong, study)

    assert result.text == wrong
    assert {finding.code for finding in result.left} >= {"SK602", "SK113"}


def test_fix_drops_edits_that_add_findings() -> None:
    def worse(text: str) -> list[LocatedFinding]:
        one = [] if "a: 2" in text else [LocatedFinding(build_finding("SK110"), (Put(("a",), 2),))]
        return [*one, *([LocatedFinding(build_finding("SK405"))] if "a: 2" in text else [])]

    assert fix_text("a: 1\n", worse).text == "a: 1\n"


def test_fix_terminates_on_circular_edits() -> None:
    def circular(text: str) -> list[LocatedFinding]:
        code, value = ("SK110", 2) if "a: 1" in text else ("SK112", 1)
        return [LocatedFinding(build_finding(code), (Put(("a",), value),))]

    assert fix_text("a: 1\n", circular).text == "a: 1\n"


def build_finding(code: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, message="x")


def query(expr: str) -> dict[str, object]:
    return {"query": {"expr": expr, "is": "Equal", "value": 0}, "withinSeconds": 60}


#: Wrong checks, and the same ones when they are corrected.
CHECKS: dict[str, tuple[dict[str, object], str]] = {
    "SK118": (query('sum(up{pod=~"frontend.*"})'), 'pod=~"frontend-'),
    "SK119": (query('sum(up{service_name="fronted"})'), 'service_name="frontend"'),
    "SK134": ({"endpoints": {"service": "Service/fronted", "atMost": 0}, "withinSeconds": 60}, "Service/frontend"),
}


@pytest.mark.parametrize("code", sorted(CHECKS))
def test_fix_corrects_misdirected_checks(code: str) -> None:
    check, right = CHECKS[code]

    result = fix_text(apply_edits(NOTED, [Put((*SPEC, "expect", "checks"), [check])]), study)

    assert {finding.code for finding in result.corrected} == {code}
    assert result.left == ()
    assert right in result.text.replace('\\"', '"')
    assert comments(result.text) == comments(NOTED)


def test_every_tested_fix_is_documented() -> None:
    tested = {code for code, _ in RESTORED} | {"SK106", "SK140", "SK433", "SK604", *CHECKS}
    tested |= {*policy_violations.REPAIRED, *policy_violations.REPAIRED_APART}
    tested |= {"SK124", "SK127", "SK128", "SK133", "SK309", "SK311", "SK313", "SK314", "SK315", "SK319", "SK413"}
    tested |= {"SK170", "SK417"}  # those of the last two lines with their rules' tests

    assert {code for code, rule in RULES.items() if rule.repair} == tested
    static = [rule for rule in RULES.values() if rule.static]
    assert len(tested) * 2 >= len(static)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text(apply_edits(NOTED, [Put((*FAULT, "type"), "service-target-port-wrnog")]))
    return path


def test_fix_keeps_file_mode_and_symlinks(wrong: Path, tmp_path: Path) -> None:
    wrong.chmod(0o640)
    (tmp_path / "shown").mkdir()
    link = tmp_path / "shown" / wrong.name
    link.symlink_to(wrong)

    write(fix_file(link, CATALOG))

    assert link.is_symlink()
    assert wrong.read_text() == NOTED
    assert stat.S_IMODE(wrong.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["scenario.yaml", "shown"]


def test_concurrently_changed_file_is_not_overwritten(wrong: Path, tmp_path: Path) -> None:
    result = fix_file(wrong, CATALOG)
    wrong.write_text("mine\n")

    with pytest.raises(UsageError, match="changed while it was checked"):
        write(result)
    assert wrong.read_text() == "mine\n"
    assert [p.name for p in tmp_path.iterdir()] == ["scenario.yaml"]


@pytest.mark.parametrize(
    "spelled",
    [
        pytest.param(lambda text: text.replace("\n", "\r\n").encode(), id="Windows line ends"),
        pytest.param(lambda text: b"\xef\xbb\xbf" + text.encode(), id="byte order mark"),
        pytest.param(lambda text: text.rstrip("\n").encode(), id="no last line end"),
    ],
)
def test_fix_keeps_surrounding_bytes(wrong: Path, spelled: Callable[[str], bytes]) -> None:
    wrong.write_bytes(spelled(wrong.read_text()))

    result = fix_file(wrong, CATALOG)

    assert (result.new, result.left) == (spelled(NOTED), ())


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a: [", b"", b"# " + b"x" * 300_000])
def test_fix_leaves_unreadable_files(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_bytes(data)

    result = fix_file(path, CATALOG)

    assert result.old == result.new
    assert {finding.code for finding in result.left} == {"SK101"}


def test_difference_names_the_file_and_the_line(wrong: Path) -> None:
    lines = format_diff(fix_file(wrong, CATALOG)).splitlines()

    assert lines[:2] == [f"--- {wrong}", f"+++ {wrong}"]
    assert [line for line in lines[2:] if line[0] in "+-"] == [
        "-    type: service-target-port-wrnog",
        "+    type: service-target-port-wrong",
    ]


def slip(seed: int) -> tuple[Path, str]:
    """A scenario of the catalogue with one wrong letter in one of its names, references or words."""
    choose = random.Random(seed)
    path = choose.choice(CATALOG.scenarios())
    texts = parse(path.read_text(), str(path)).positions.texts
    place = choose.choice([p for p in texts if p[-1] not in ("title", "description", "brief", "because")])
    value = texts[place]
    at = choose.randrange(len(value))
    wrong = value[:at] + choose.choice(["", 2 * value[at], "x"]) + value[at + 1 :]
    return path, apply_edits(path.read_text(), [Put(place, wrong)])


@pytest.mark.parametrize("seed", range(24))
def test_fix_never_worsens_a_typo(seed: int) -> None:
    path, wrong = slip(seed)
    before = lint_text(wrong, path, CATALOG)

    result = fix_text(wrong, lambda text: lint_text(text, path, CATALOG))

    assert len(result.left) <= len(before)
    assert bool(result.corrected) == (result.text != wrong)
    assert comments(result.text) == comments(wrong)
    assert fix_text(result.text, lambda text: lint_text(text, path, CATALOG)).text == result.text
