"""A work list, reports and a validator, as tests of this folder need them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from scenario_kit import __version__
from scenario_kit.campaign import QUICK, Validation
from scenario_kit.model import Verdict
from scenario_kit.report import Report
from scenario_kit.shards.work_list import WORK_VERSION, WorkItem, WorkList


def make_work(*names: str, shards: int = 1, **changes: str) -> WorkList:
    items = tuple(
        WorkItem(
            scenario=name, path=f"catalog/scenarios/{name}/scenario.yaml", root=-1, place=f"{name}/scenario.yaml",
            digest=changes.get(name, f"digest of {name}"), incident=f"incident of {name}", trials=3, seconds=40.0,
            shard=number % shards,
        )
        for number, name in enumerate(names)
    )  # fmt: skip
    return WorkList(
        schema_version=WORK_VERSION, kit=__version__, name="nightly", plan=json.loads(QUICK.to_bytes()), seed=1,
        catalogue="a" * 64, shards=shards, items=items,
    )  # fmt: skip


def make_report(item: WorkItem, verdict: Verdict = Verdict.PASS, **fields: object) -> Report:
    known = {"scenario": item.scenario, "plan": "quick", "digest": item.incident, "headline": "as it should be"}
    return Report(created="2026-11-26T10:00:00+00:00", validation=Validation(verdict=verdict, **(known | fields)))


@pytest.fixture
def validate() -> Callable[[Sequence[str]], Callable[[WorkItem], Report]]:
    """A validator that passes everything, and notes what it was asked for."""

    def build(asked: list[str]) -> Callable[[WorkItem], Report]:
        def run(item: WorkItem) -> Report:
            asked.append(item.scenario)
            return make_report(item)

        return run

    return build
