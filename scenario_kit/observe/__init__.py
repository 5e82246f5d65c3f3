"""Observation of alerts, checks and traffic from a cluster and its metrics. Read-only."""

from scenario_kit.observe.alert_evaluator import AlertEvaluator, AlertScope
from scenario_kit.observe.checks import evaluate_check
from scenario_kit.observe.entities import Owners, list_owned_pods
from scenario_kit.observe.rules import scope
from scenario_kit.observe.traffic import Traffic, measure_traffic

__all__ = [
    "AlertEvaluator", "AlertScope", "Owners", "Traffic", "evaluate_check", "list_owned_pods", "scope",
    "measure_traffic",
]  # fmt: skip
