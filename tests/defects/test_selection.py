"""Which copies are tried, and which records are kept."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.catalog import Catalog
from tools.defects.kind import Defect, DoesNotApply, Kind
from tools.defects.record import UNTOUCHED, Caught, digest_copy
from tools.defects.selection import choose_scenarios, list_copies, list_current
from tools.defects.subject import Subject, subjects

SUBJECTS = subjects(Catalog())


def _everywhere(subject: Subject) -> Iterator[Defect]:
    yield Defect("", {"name": subject.name})


def _nowhere(subject: Subject) -> Iterator[Defect]:
    raise DoesNotApply("never")


ANY = Kind("any", "Any", frozenset({"SK1"}), "Trial", _everywhere)
NONE = Kind("none", "None", frozenset({"SK1"}), "Trial", _nowhere)


def test_choice_is_reproducible_and_spread_over_apps() -> None:
    names = [subject.name for subject, _ in choose_scenarios(ANY, SUBJECTS, 2)]
    assert names == [subject.name for subject, _ in choose_scenarios(ANY, list(reversed(SUBJECTS)), 2)]
    apps = {subject.spec.app.name for subject, _ in choose_scenarios(ANY, SUBJECTS, 2)}
    assert len(apps) == 2
    assert len(choose_scenarios(ANY, SUBJECTS, 100)) == len(SUBJECTS)
    assert choose_scenarios(NONE, SUBJECTS, 2) == []


def test_kinds_are_chosen_round_robin() -> None:
    also = Kind("also", "Also", frozenset({"SK1"}), "Trial", _everywhere)
    turns = [(kind.name, subject.name) for kind, subject, _ in list_copies([ANY, NONE, also], SUBJECTS, 3)]
    assert [kind for kind, _ in turns] == ["any", "also"] * 3
    assert len(set(turns)) == 6
    assert len(list(list_copies([ANY, also], SUBJECTS, len(SUBJECTS)))) == 2 * len(SUBJECTS)


def test_outdated_records_are_not_current() -> None:
    one = SUBJECTS[0]
    (defect,) = ANY.of(one)
    kept = [
        Caught(kind="any", scenario=one.name, answer="Right", digest=digest_copy(defect)),
        Caught(kind=UNTOUCHED, scenario=one.name, answer="Missed", digest="quick"),
    ]
    gone = [
        Caught(kind="any", scenario=one.name, answer="Right", digest="another"),
        Caught(kind="none", scenario=one.name, answer="Right", digest=digest_copy(defect)),
        Caught(kind=UNTOUCHED, scenario="no-more", answer="Missed", digest="quick"),
    ]
    assert list_current([*kept, *gone], [ANY, NONE], SUBJECTS) == kept
