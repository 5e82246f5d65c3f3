"""The twin: a seeded, pure model of requests in an application.

Its input is the state of the namespaces and the active chaos; it never sees a scenario.
"""

from scenario_kit.lab.twin.cluster.cluster_view import ClusterDns, Telemetry, View
from scenario_kit.lab.twin.engine import Twin

__all__ = ["ClusterDns", "Telemetry", "Twin", "View"]
