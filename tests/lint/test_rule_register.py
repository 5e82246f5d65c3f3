"""Entries of ``rules.yaml`` and their checks match; a gap is an import error."""

import re

import msgspec
import pytest

from scenario_kit.lint.framework import rule
from scenario_kit.load.rules import Rule, build_finding, load_rules
from scenario_kit.model import Severity


def test_check_without_an_entry_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("load/rules.yaml has no static rule SK999")):
        rule.register_check("SK999")(lambda case: iter(()))


def test_check_for_a_dynamic_code_is_refused() -> None:
    with pytest.raises(ValueError, match="no static rule SK322"):
        rule.register_check("SK322")(lambda case: iter(()))


def test_second_check_per_file_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="SK118 has two checks of a Scenario"):
        rule.register_check("SK118")(lambda case: iter(()))


def test_entry_without_a_check_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "CHECKS", {code: rule.CHECKS[code] for code in rule.CHECKS if code != "SK118"})
    with pytest.raises(ValueError, match="rules without a check: SK118"):
        rule.require_checks()


@pytest.mark.parametrize(
    "entry", [{"title": "t", "by": "lint"}, {"title": "t", "why": "w", "by": "nobody"}, {"why": "w", "by": "run"}]
)
def test_incomplete_rule_entry_is_an_error(entry: dict[str, str]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**entry, "code": "SK999"}, Rule)


def test_every_rule_entry_has_bad_good_and_fix() -> None:
    for code, entry in load_rules().items():
        assert entry.unjudged or (entry.bad and entry.good and entry.fix), code


def test_finding_defaults_come_from_its_rule() -> None:
    rule_entry = load_rules()["SK452"]
    plain = build_finding("SK452", "m")
    own = build_finding("SK452", "m", why="", fix="f", severity=Severity.ERROR)

    assert (plain.severity, plain.why, plain.fix) == (rule_entry.severity, rule_entry.why, rule_entry.fix)
    assert (own.severity, own.why, own.fix) == (Severity.ERROR, "", "f")


def test_finding_of_a_code_without_an_entry_is_an_error() -> None:
    with pytest.raises(KeyError):
        build_finding("SK999", "m")
