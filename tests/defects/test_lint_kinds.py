"""Every kind of defect that needs no cluster is caught with the right code.

That good scenarios have no finding, tests/lint shows. Each kind gets a few of the scenarios, each scenario its share
of the kinds: ``ci/defects --static`` runs every pair.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from tools.defects.kind import of_stage
from tools.defects.kinds import KINDS
from tools.defects.lint_runner import judge_kind
from tools.defects.subject import Subject, subjects

CATALOG = Catalog(merging=True)
SUBJECTS = subjects(CATALOG)
STATIC = of_stage("Static")
#: Each kind is applied to one of so many scenarios: to about three, however many there are.
_SHARE = max(5, len(SUBJECTS) // 3)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.name)
def test_every_static_defect_gets_its_code(subject: Subject, tmp_path: Path) -> None:
    number = SUBJECTS.index(subject)
    wrong = [
        caught
        for i, kind in enumerate(STATIC)
        if (i + number) % _SHARE == 0
        for caught in judge_kind(kind, subject, tmp_path, CATALOG)
        if caught.answer not in ("Right", "NotApplied")
    ]
    assert not wrong


def test_every_kind_has_title_and_known_codes() -> None:
    from scenario_kit.lint import RULES

    assert len(KINDS) >= 60
    for kind in KINDS.values():
        assert kind.title, kind.name
        assert kind.codes <= RULES.keys(), kind.name
