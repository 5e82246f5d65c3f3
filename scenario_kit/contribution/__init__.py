"""Scope of a pull request and the evidence that it needs."""

from scenario_kit.contribution.evidence_tier import EvidenceTier, LaneName, choose_lane
from scenario_kit.contribution.pull_request_scope import (
    Commit,
    FileChange,
    PullRequestScope,
    check_sign_off,
    determine_scope,
    report_missing_scenario,
)

__all__ = [
    "Commit", "FileChange", "EvidenceTier", "LaneName", "PullRequestScope", "check_sign_off", "choose_lane",
    "determine_scope", "report_missing_scenario",
]  # fmt: skip
