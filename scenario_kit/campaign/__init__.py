"""Which trials a validation consists of, running them, and what they add up to (design §8)."""

from scenario_kit.campaign.plan_file import chosen
from scenario_kit.campaign.plans import PLANS, QUICK, STANDARD, TRY, Plan, PlannedTrial, named, trials
from scenario_kit.campaign.result import TrialResult, Validation
from scenario_kit.campaign.run import run
from scenario_kit.campaign.trial_store import status_of
from scenario_kit.campaign.verdict import conclude, verdict
from scenario_kit.model.reference import MANAGEMENT_NAMESPACE

__all__ = [
    "MANAGEMENT_NAMESPACE",
    "PLANS",
    "QUICK",
    "STANDARD",
    "TRY",
    "Plan",
    "PlannedTrial",
    "TrialResult",
    "Validation",
    "chosen",
    "conclude",
    "named",
    "run",
    "status_of",
    "trials",
    "verdict",
]
