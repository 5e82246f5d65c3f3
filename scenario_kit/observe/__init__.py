"""Verb *observe*: alert timelines, checks and served traffic, from a cluster and its metrics. Changes nothing."""

from scenario_kit.observe.alert_evaluator import AlertEvaluator
from scenario_kit.observe.checks import evaluate_check
from scenario_kit.observe.entities import Owners, owned_pods
from scenario_kit.observe.rules import scope
from scenario_kit.observe.traffic import Traffic, traffic

__all__ = [
    "AlertEvaluator", "Owners", "Traffic", "evaluate_check", "owned_pods", "scope",
    "traffic",
]  # fmt: skip
