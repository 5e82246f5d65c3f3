"""What a pull request changes, whether its shape allows it to be judged, and how much evidence it needs."""

from scenario_kit.contribution.evidence_tier import Lane, LaneName, lane
from scenario_kit.contribution.pull_request_scope import Commit, FileChange, Shape, shape, signed_off, without_scenario

__all__ = ["Commit", "FileChange", "Lane", "LaneName", "Shape", "lane", "shape", "signed_off", "without_scenario"]
