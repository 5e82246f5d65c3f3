"""An incident without a cluster: a manual clock, and tools over fakes."""

from types import SimpleNamespace

import pytest

from scenario_kit.model import AlertHistory
from scenario_kit.solver.gateway.answers import ToolAnswer
from scenario_kit.solver.gateway.tools import Sources
from scenario_kit.solver.investigation import Assignment, Investigation
from scenario_kit.solver.protocol.messages import STAGES
from scenario_kit.solver.records.journal import Journal
from scenario_kit.solver.session import SessionLimits

EPOCH = 1_760_000_000.0


class ManualClock:
    mode = "virtual"

    def __init__(self, at=EPOCH):
        self.at = at

    def now(self):
        return self.at

    def advance(self, seconds):
        self.at += seconds


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def sources(clock):
    return Sources(
        namespaces=("shop",),
        cluster=SimpleNamespace(list=lambda kind, namespace: [], logs=lambda pod, since: []),
        kubectl=SimpleNamespace(run=lambda command: ToolAnswer(content="ran " + "/".join(command.arguments))),
        metrics=SimpleNamespace(instant=lambda expr, at: []),
        traces=SimpleNamespace(ask=lambda path, query="": (200, {"data": []})),
        alerts=lambda: AlertHistory(start=EPOCH, end=clock.at),
        now=clock.now,
    )


@pytest.fixture
def investigate(clock, sources, tmp_path):
    """Begin an investigation; its journal is in the test's folder."""
    opened = []

    def begin(limits=None, **given):
        journal = Journal(tmp_path / f"journal-{len(opened)}.jsonl")
        opened.append(journal)
        assigned = Assignment("incident-1", "It is slow.", STAGES, 15.0)
        options = {"wall": lambda: 5000.0, **given}
        return Investigation(assigned, sources, clock, journal, limits or SessionLimits(), **options)

    yield begin
    for journal in opened:
        journal.close()
