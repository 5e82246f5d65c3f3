"""Titles of the families of fault types, in the order in which they are listed."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = {
    "WorkloadSpec": "Workload specification",
    "InitContainers": "Init containers",
    "Resources": "Resources and quota",
    "Scheduling": "Scheduling and nodes",
    "Network": "Services, DNS, ingress, network policy",
    "Storage": "Storage",
    "Configuration": "Configuration, secrets, environment",
    "Autoscaling": "Autoscaling",
    "ControlPlane": "Access, admission, control plane",
    "FeatureFlags": "Feature flags",
    "DataStores": "Data stores",
    "Chaos": "Chaos Mesh",
    "Load": "Load and traffic",
    "Mesh": "Service mesh",
}
