"""Compare observations with expectations and return findings. Pure; missing data is unknown, never a pass."""

from scenario_kit.judge import leftovers
from scenario_kit.judge.alerts import control_runs, expectations, incident_alerts
from scenario_kit.judge.repair import invariants, resolution

__all__ = ["incident_alerts", "expectations", "invariants", "control_runs", "leftovers", "resolution"]
