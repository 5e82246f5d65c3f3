"""Public fakes of the ports, for tests of this project and of catalogues built on it. No network, no threads.

``tests/contract`` checks the fake cluster against a real API server.
"""

from scenario_kit.testing.clock import FakeClock
from scenario_kit.testing.cluster import FakeCluster
from scenario_kit.testing.metrics import FakeMetrics

__all__ = ["FakeClock", "FakeCluster", "FakeMetrics"]
