"""The live timeline: readable on a narrow terminal, with one row for an alert of several pods."""

import io

import pytest
from rich.console import Console

from scenario_kit.campaign import PlannedTrial
from scenario_kit.cli.terminal.live import Timeline
from scenario_kit.model import Reference, StepStatus, TrialStep
from scenario_kit.trial import AlertNow, TrialStatus

PLANNED = PlannedTrial(
    purpose="repeat-1",
    describe="",
    seed=1,
    steps=(TrialStep(kind="deploy"), TrialStep(kind="inject"), TrialStep(kind="hold"), TrialStep(kind="teardown")),
)
STATUS = TrialStatus(
    started_at=0.0,
    now=615.0,
    current=2,
    steps=tuple(
        StepStatus(index=i, step=name, outcome=outcome, started_at=0.0)
        for i, (name, outcome) in enumerate((("deploy", "Held"), ("inject", "Held"), ("hold", "Running")))
    ),
    alerts=(
        AlertNow(name="KubePodNotReady", entity=Reference("Deployment", "search"), state="Firing", since=300.0),
        AlertNow(name="KubePodNotReady", entity=Reference("Deployment", "search"), state="Firing", since=300.0),
        AlertNow(
            name="HighRequestLatency", entity=Reference("Deployment", "a-service-with-a-long-name"), state="Pending",
            since=0.0,
        ),
    ),
)  # fmt: skip


@pytest.mark.parametrize("width", [80, 200])
def test_row_fits_terminal_and_drops_last_alerts(width):
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, color_system=None, legacy_windows=False)
    with Timeline("a title", [PLANNED], console) as timeline:
        timeline(PLANNED, "trial", STATUS)

    (row,) = {line for line in screen.getvalue().splitlines() if "repeat-1" in line and "hold" in line}
    assert "repeat-1  10:15  ✓✓…·" in row
    assert "hold" in row
    assert "3: KubePodNotReady(search)×2" in row
    assert ("a-service-with-a-long-name" in row) is (width == 200)
