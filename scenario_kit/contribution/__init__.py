"""What a pull request changes, whether its shape allows it to be judged, and how much evidence it needs."""

from scenario_kit.contribution.evidence_tier import EvidenceTier, LaneName, lane
from scenario_kit.contribution.pull_request_scope import (
    Commit,
    FileChange,
    PullRequestScope,
    shape,
    signed_off,
    without_scenario,
)

__all__ = [
    "Commit",
    "FileChange",
    "EvidenceTier",
    "LaneName",
    "PullRequestScope",
    "lane",
    "shape",
    "signed_off",
    "without_scenario",
]
