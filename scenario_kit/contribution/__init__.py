"""Scope of a pull request and the evidence that it needs."""

from scenario_kit.contribution.evidence_tier import EvidenceTier, LaneName, choose_lane
from scenario_kit.contribution.pull_request_scope import (
    Commit,
    FileChange,
    PullRequestScope,
    check_sign_off,
    report_missing_scenario,
    shape,
)

__all__ = [
    "Commit", "FileChange", "EvidenceTier", "LaneName", "PullRequestScope", "choose_lane", "shape", "check_sign_off",
    "report_missing_scenario",
]  # fmt: skip
