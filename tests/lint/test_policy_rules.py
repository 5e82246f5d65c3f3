"""Policies about scenarios, faults, apps and packs: each violation is found alone, at its place, and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import CHECKS, RULES, lint_file, lint_files, lint_text, list_lintable
from scenario_kit.lint.fix import fix_text
from scenario_kit.lint.framework.suppression import find_latest_month, get_today
from scenario_kit.load import LocatedFinding
from scenario_kit.load.yaml.edit import Drop, Put, apply_edits
from scenario_kit.model import Finding
from scenario_kit.model.json_document import Place
from tests.lint import policy_violations as given
from tests.lint import truth_violations
from tests.lint.test_rules import VIOLATIONS, base, write

CATALOG = Catalog(merging=True)


def codes(found: Sequence[Finding]) -> set[str]:
    return {finding.code for finding in found}


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if "# " in line]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of one's own: an app with templates, a fault, a pack."""
    root = tmp_path_factory.mktemp("own")
    for path, text in (
        ("catalog/apps/little/app.yaml", given.APP),
        ("templates/apps/little/1.0/manifests.yaml.j2", given.TEMPLATE),
        ("catalog/faults/labels-lost/fault.yaml", given.FAULT),
        ("catalog/alerts/few.yaml", given.PACK),
        ("catalog/alerts/tests/few.yaml", given.PACK_CASES),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def study_fault(text: str) -> list[LocatedFinding]:
    return lint_text(text, Path("/nowhere/catalog/faults/labels-lost/fault.yaml"), CATALOG)


def test_good_entries_have_no_findings(own: Path) -> None:
    files = list_lintable([own])

    assert sorted(path.name for path in files) == ["app.yaml", "fault.yaml", "few.yaml"]
    assert lint_files(files, CATALOG) == []


@pytest.mark.parametrize("code", sorted(given.FAULTS))
def test_fault_violation_gives_its_finding_only(code: str) -> None:
    wrong = apply_edits(given.FAULT, given.FAULTS[code])

    found = [mistake.finding for mistake in study_fault(wrong)]

    assert codes(found) == {code}, [f.message for f in found]
    assert all(f.position and f.position.line > 1 and f.why and f.fix for f in found)


@pytest.mark.parametrize("code", given.REPAIRED)
def test_fix_of_fault_violation_changes_nothing_else(code: str) -> None:
    wrong = apply_edits(given.FAULT, given.FAULTS[code])

    result = fix_text(wrong, study_fault)

    assert result.left == ()
    assert {f.code for f in result.corrected} == {code}
    assert comments(result.text) == comments(given.FAULT)
    assert list(yaml.safe_load(result.text))[:9] == list(yaml.safe_load(given.FAULT))[:9]


@pytest.mark.parametrize("code", sorted(given.APPS))
def test_app_violation_gives_its_finding_only(code: str, tmp_path: Path) -> None:
    old, new = given.APPS[code]
    definition = tmp_path / "catalog" / "apps" / "little" / "app.yaml"
    template = tmp_path / "templates" / "apps" / "little" / "1.0" / "manifests.yaml.j2"
    for path, text in ((definition, given.APP), (template, given.TEMPLATE.replace(old, new, 1))):
        path.parent.mkdir(parents=True)
        path.write_text(text)

    found = lint_file(definition, CATALOG)

    assert codes(found) == {code}, [f.message for f in found]
    assert all(f.position and f.why and f.fix for f in found)
    if code != "SK123":
        position = found[0].position
        assert position
        assert position.path == str(template)
        assert given.TEMPLATE.splitlines()[position.line - 1] != template.read_text().splitlines()[position.line - 1]


@pytest.mark.parametrize("code", sorted(given.APP_EDITS))
def test_definition_violation_gives_one_finding(code: str, own: Path) -> None:
    found = lint_text(apply_edits(given.APP, given.APP_EDITS[code]), own / "catalog/apps/little/app.yaml", CATALOG)

    assert {mistake.finding.code for mistake in found} == {code}


def two_programs(**call: object) -> dict[str, object]:
    """Build a version with two components in the same pods, and one call."""
    components = [{"name": name, "workload": "Deployment/web"} for name in ("web", "proxy")]
    return {"components": components, "calls": [call]}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("entry",), "webb"),
        (("versions", "1.0"), two_programs(caller="webb", callee="proxy")),
        (("versions", "1.0", "aftermath"), [{"after": "web", "restart": ["web", "webb"], "because": "x"}]),
        (("versions", "1.0", "aftermath"), [{"after": "webb", "restart": ["web"], "because": "x"}]),
    ],
)
def test_fix_corrects_unknown_component(own: Path, place: Place, value: object) -> None:
    def tried(text: str) -> list[LocatedFinding]:
        return lint_text(text, own / "catalog/apps/little/app.yaml", CATALOG)

    result = fix_text(apply_edits(given.APP, [Put(place, value)]), tried)
    assert (result.left, {f.code for f in result.corrected}) == ((), {"SK139"})
    assert "webb" not in result.text


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("alertPacks",), ["defalt"], "little has no alert pack 'defalt'"),
        (("components", 0, "workload"), "Deployment/webb", "little has no object 'Deployment/webb'"),
        (("components", 0, "service"), "webs", "little has no Service 'webs'"),
        (("components", 0, "service"), "stores/web", "little has no Service 'stores/web'"),
        (
            (),
            two_programs(caller="web", callee="proxy", env=["ADDR"]),
            "little has no variable in Deployment/web called 'ADDR'",
        ),
        (
            ("load",),
            {"users": {"env": "USERS"}},
            None,
        ),
    ],
    ids=["pack", "workload", "Service", "Service with its namespace", "variable", "without a load generator"],
)
def test_app_references_exist_in_manifests(own: Path, place: Place, value: object, message: str | None) -> None:
    whole = place if place[:1] == ("alertPacks",) else ("versions", "1.0", *place)
    found = lint_text(apply_edits(given.APP, [Put(whole, value)]), own / "catalog/apps/little/app.yaml", CATALOG)

    assert [(m.finding.code, m.finding.message) for m in found] == ([("SK139", message)] if message else [])


@pytest.mark.parametrize("code", sorted(given.PACKS))
def test_pack_violation_gives_its_finding_only(code: str, own: Path) -> None:
    found = lint_text(apply_edits(given.PACK, given.PACKS[code]), own / "catalog/alerts/few.yaml", CATALOG)

    assert {mistake.finding.code for mistake in found} == {code}


def test_every_rule_has_a_violation_per_file_kind() -> None:
    judged = {(code, kind) for code, checks in CHECKS.items() for kind in checks}
    shown = {(code, "Scenario") for code in VIOLATIONS}
    shown |= {(code, "Fault") for code in given.FAULTS}
    shown |= {(code, "Pack") for code in (*given.PACKS, *truth_violations.PACKS)}
    shown |= {(code, "App") for code in (*given.APPS, *given.APP_EDITS)}

    apart = given.APART | {(code, "Scenario") for code in truth_violations.ELSEWHERE} & judged
    assert judged == shown | apart


def test_rules_without_check_name_their_judge() -> None:
    for code, rule in RULES.items():
        # By the loader, or where the lab is known: tests/lab/twin/test_definition_checks.py.
        above = code in {"SK101", "SK102", "SK103", "SK104", "SK105", "SK106", "SK138"}
        assert code in CHECKS or rule.unjudged or above or not rule.static, code
        assert not (code in CHECKS and rule.unjudged), code
        assert not rule.unjudged or len(rule.unjudged.split()) > 5, code


def test_half_of_the_static_rules_are_corrected() -> None:
    static = [rule for rule in RULES.values() if rule.static]
    repaired = [rule.code for rule in static if rule.repair]

    assert len(repaired) * 2 >= len(static), (len(repaired), len(static))


@pytest.mark.parametrize("code", given.REPAIRED)
def test_every_autofix_is_documented(code: str) -> None:
    assert RULES[code].repair


def test_declared_privilege_of_an_option_is_allowed(tmp_path: Path) -> None:
    definition = tmp_path / "catalog" / "apps" / "little" / "app.yaml"
    template = tmp_path / "templates" / "apps" / "little" / "1.0" / "manifests.yaml.j2"
    host = "args: [serve]\n      hostNetwork: {{ 'true' if options.agent else 'false' }}"
    for path, text in ((definition, given.APP), (template, given.TEMPLATE.replace("args: [serve]", host))):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    assert codes(lint_file(definition, CATALOG)) == {"SK202"}

    needs = {"true": ["node-access"]}
    definition.write_text(apply_edits(given.APP, [Put(("options", "properties", "agent", "x-requires"), needs)]))

    assert lint_file(definition, CATALOG) == []


def test_scenario_in_solver_visible_namespace_is_fixed() -> None:
    path = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
    text = path.read_text()
    wrong = apply_edits(text, [Put(("metadata", "namespace"), "otel-demo")])
    assert {m.finding.code for m in lint_text(wrong, path, CATALOG)} == {"SK212"}

    assert fix_text(wrong, lambda tried: lint_text(tried, path, CATALOG)).text == text


def test_fix_adds_missing_canary() -> None:
    path = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
    text = path.read_text()
    wrong = apply_edits(text, [Drop(("metadata", "annotations"))])
    assert {m.finding.code for m in lint_text(wrong, path, CATALOG)} == {"SK218"}

    assert fix_text(wrong, lambda tried: lint_text(tried, path, CATALOG)).text == text


@pytest.mark.parametrize("name", ["flood.py", "faults.sh"])
def test_program_file_next_to_scenario_is_reported(name: str, tmp_path: Path) -> None:
    path = write(base(), tmp_path)
    (path.parent / name).write_text("print(1)\n")
    (path.parent / "README.md").write_text("Read me.\n")

    found = lint_file(path, CATALOG)

    assert codes(found) == {"SK219"}
    assert found[0].position
    assert found[0].position.path.endswith(name)


@pytest.mark.parametrize(
    ("name", "content", "reported"),
    [
        ("data.bin", b"a\0b", ["'data.bin' is no text"]),
        ("notes.md", b"a" * ((1 << 20) + 1), ["'notes.md' has more than 1024 KiB"]),
        ("graph.png", b"\x89PNG\0", []),
        ("graph.png", b"\x89PNG\0" * (1 << 18), ["'graph.png' has more than 1024 KiB"]),
        ("notes.md", "Hütte".encode(), []),
    ],
)
def test_file_that_nobody_can_review_is_reported(
    name: str, content: bytes, reported: list[str], tmp_path: Path
) -> None:
    path = write(base(), tmp_path)
    (path.parent / name).write_bytes(content)
    assert [f.message for f in lint_file(path, CATALOG)] == reported


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    path = write(base(), tmp_path)
    for number in range(501):
        (path.parent / f"{number}.txt").touch()
    (path.parent / "z.py").write_text("print(1)\n")

    (found,) = lint_file(path, CATALOG)

    assert (found.code, found.observed) == ("SK219", "502 files")


def test_program_beside_a_fault_is_found(tmp_path: Path) -> None:
    path = tmp_path / "faults" / "labels-lost" / "fault.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(given.FAULT)
    (path.parent / "flood").write_text("#!/bin/sh\n")

    assert codes(lint_file(path, CATALOG)) == {"SK219"}


def test_experiment_mode_one_is_fixed_to_all() -> None:
    path = find_data_root() / "catalog" / "faults" / "pod-failure" / "fault.yaml"
    text = path.read_text()
    wrong = text.replace("mode: all", "mode: one")
    assert "SK214" in {m.finding.code for m in lint_text(wrong, path, CATALOG)}

    assert fix_text(wrong, lambda tried: lint_text(tried, path, CATALOG)).text == text


def test_unused_suppression_is_stale(tmp_path: Path) -> None:
    document = base()
    document["spec"]["suppress"] = [
        {"code": "SK432", "reason": "there was none", "until": str(find_latest_month(get_today()))}
    ]

    found = lint_file(write(document, tmp_path), CATALOG)

    assert [(f.code, f.severity) for f in found] == [("SK606", "Warning")]


CONTAINER = "{{ container(target).name }}"
HOOK = {"exec": {"command": ["/bin/true"]}}


@pytest.mark.parametrize(
    ("pod", "field"),
    [
        ({"hostAliases": [{"ip": "10.0.0.9", "hostnames": ["cart"]}]}, ""),
        ({"securityContext": {"runAsNonRoot": True}}, "securityContext"),
        ({"containers": [{"name": CONTAINER, "lifecycle": {"postStart": HOOK}}]}, "postStart"),
        ({"containers": [{"name": CONTAINER, "lifecycle": {"preStop": HOOK}}]}, ""),
        ({"nodeSelector": {"disk": "fast"}}, ""),
    ],
    ids=["names", "rights", "a hook at the start", "a hook at the end", "what the scheduler acts on"],
)
def test_real_data_plane_fields_need_declaration(pod: dict[str, object], field: str) -> None:
    good = CATALOG.fault_path("deployment-scaled-to-zero").read_text()
    patch = {"target": "{{ target }}", "type": "Strategic", "patch": {"spec": {"template": {"spec": pod}}}}
    found = [m.finding for m in study_fault(apply_edits(good, [Put(("changes", 1), {"patch": patch})]))]

    reported = [f.message for f in found if f.code == "SK209"]
    assert [field in message and "'real-data-plane'" in message for message in reported] == ([True] if field else [])


def test_secret_cannot_be_suppressed(tmp_path: Path) -> None:
    document = base()
    given.VIOLATIONS["SK206"](document["spec"])
    document["spec"]["suppress"] = [{"code": "SK206", "reason": "x", "until": "2999-12"}]

    assert codes(lint_file(write(document, tmp_path), CATALOG)) == {"SK206", "SK609"}
