"""A trial: its program, its pure planner, its steps, and its status (design §5)."""

from scenario_kit.trial.context import TICK, Baseline, Context, Stopped
from scenario_kit.trial.plan import Finish, Run, Skip, plan
from scenario_kit.trial.run import alerts_now, lose, run
from scenario_kit.trial.status import CONDITIONS, AlertNow, Condition, TrialStatus, set_condition

__all__ = [
    "CONDITIONS",
    "TICK",
    "AlertNow",
    "Baseline",
    "Condition",
    "Context",
    "Finish",
    "Run",
    "Skip",
    "Stopped",
    "TrialStatus",
    "alerts_now",
    "lose",
    "plan",
    "run",
    "set_condition",
]
