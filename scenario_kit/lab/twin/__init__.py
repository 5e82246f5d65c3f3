"""The twin: a seeded, pure model of how requests flow through an application.

Its input is what a namespace holds and which chaos is in force; it never sees what a scenario is about.
"""

from scenario_kit.lab.twin.cluster.cluster_view import ClusterDns, Telemetry, View
from scenario_kit.lab.twin.engine import Twin

__all__ = ["ClusterDns", "Telemetry", "Twin", "View"]
