"""Fuzzed scenarios are linted without a crash, and ``--fix`` does no harm."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import lint_text
from scenario_kit.lint.fix import fix_text
from scenario_kit.load import LocatedFinding
from scenario_kit.load.yaml.document import parse
from tests.fuzz.effort import effort
from tests.fuzz.mutation import LANGUAGE, add_comments, damage, dump_yaml, mutate

CATALOG = Catalog()
#: The catalogue's, and those that between them use every feature of the language.
SEEDS = [*CATALOG.scenarios(), *LANGUAGE]
CHANCE = st.randoms(use_true_random=False)


def study(text: str) -> list[LocatedFinding]:
    found = lint_text(text, SEEDS[0], CATALOG)
    for mistake in found:
        assert mistake.finding.position, mistake.finding
        assert mistake.finding.position.line > 0
        assert mistake.finding.message
        assert mistake.finding.fix
    return found


def assert_unharmed(text: str, notes: list[str]) -> None:
    result = fix_text(text, study).text
    if result != text:
        parse(result, "")
        assert [note for note in notes if note not in result] == []


@effort(100)
@given(st.text())
def test_lint_survives_any_text(text: str) -> None:
    study(text)


@effort(60)
@given(st.binary())
def test_lint_survives_any_bytes(content: bytes) -> None:
    study(content.decode("latin-1"))


@effort(40)
@given(st.sampled_from(SEEDS), CHANCE)
def test_damaged_text(seed, random: Random) -> None:
    assert_unharmed(damage(seed.read_text(), random), [])


@effort(60)
@given(st.sampled_from(SEEDS), CHANCE)
def test_changed_values(seed, random: Random) -> None:
    document = mutate(parse(seed.read_text(), "").data, random)
    study(dump_yaml(document, random))


@effort(25)
@given(st.sampled_from(SEEDS), CHANCE)
def test_fixing_changed_values_keeps_comments(seed, random: Random) -> None:
    text = dump_yaml(mutate(parse(seed.read_text(), "").data, random, 2), random)
    document = _parse_or_none(text)
    assert_unharmed(
        *add_comments(text, random, lambda tried: document is not None and _parse_or_none(tried) == document)
    )


def _parse_or_none(text: str) -> object:
    try:
        return parse(text, "").data
    except AuthoringError:
        return None
