"""Defects visible in early steps of a trial; ``ci/defects --lab`` tries the rest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scenario_kit.catalog import Catalog
from tools.defects.kinds import KINDS
from tools.defects.subject import Subject
from tools.defects.trial_runner import Bench

SCENARIO = "cart-scaled-to-zero"
TRIED = (
    "fault-proven-by-nothing",
    "fault-without-effect",
    "swapped-alerts",
    "forbidden-alert-that-fires",
    "solution-that-stops-the-load",
)


def test_trial_defects_are_caught_with_the_right_code(lab, tmp_path: Path) -> None:
    catalog = Catalog()
    path = next(p for p in catalog.scenarios() if p.parent.name == SCENARIO)
    bench, subject = Bench(lab.name, catalog), Subject(path, catalog)
    copies = [(KINDS[name], defect) for name in TRIED for defect in KINDS[name].of(subject)]
    with ThreadPoolExecutor(2) as pool:
        caught = list(pool.map(lambda c: bench.judge(c[0], subject, c[1], tmp_path / c[0].name), copies))
    assert [c.kind for c in caught if c.answer != "Right"] == [], caught
