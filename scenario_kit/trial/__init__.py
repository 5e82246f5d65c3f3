"""A trial: its program, its pure planner, its steps, and its status (docs/architecture.md)."""

from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.context import Stopped, TrialContext
from scenario_kit.trial.plan import plan
from scenario_kit.trial.run import list_alerts_now, mark_infra, reject, run
from scenario_kit.trial.status import (
    CONDITIONS,
    AlertNow,
    Condition,
    ConditionRow,
    TrialStatus,
    set_conditions,
    truncate_reasons,
)

__all__ = [
    "CONDITIONS", "AlertNow", "Baseline", "Condition", "ConditionRow", "TrialContext", "Stopped", "TrialStatus",
    "list_alerts_now", "mark_infra", "plan", "reject", "run", "set_conditions", "truncate_reasons",
]  # fmt: skip
