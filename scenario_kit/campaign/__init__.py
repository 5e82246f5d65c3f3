"""Validate a scenario: plan its trials, run them, and reach a verdict (docs/plans.md)."""

from scenario_kit.campaign.planning.plan_file import choose_plan
from scenario_kit.campaign.planning.plans import PLANS, QUICK, STANDARD, TRY, Plan, PlannedTrial, get_plan, plan_trials
from scenario_kit.campaign.results.result import TrialResult, Validation
from scenario_kit.campaign.results.verdict import CatalogEvidence, ValidationSubject, conclude
from scenario_kit.campaign.run import Polling, run
from scenario_kit.campaign.trial_store import Campaign
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE

__all__ = [
    "MANAGEMENT_NAMESPACE", "Campaign", "CatalogEvidence", "Polling", "ValidationSubject", "PLANS", "QUICK", "STANDARD",
    "TRY", "Plan", "PlannedTrial", "TrialResult", "Validation", "choose_plan", "conclude", "get_plan", "run",
    "plan_trials",
]  # fmt: skip
