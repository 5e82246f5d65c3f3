"""Public fakes of the ports, for tests of this project and of catalogues built on it. No network, no threads.

``tests/contract`` holds the fake cluster to what a real API server does.
"""

from scenario_kit.testing.clock import FakeClock
from scenario_kit.testing.cluster import FakeCluster
from scenario_kit.testing.metrics import FakeMetrics

__all__ = ["FakeClock", "FakeCluster", "FakeMetrics"]
