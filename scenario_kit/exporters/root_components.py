"""The component of each root cause, for export formats that name components instead of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.exporters.snapshot_incident import InjectedFault, SnapshotIncident
from scenario_kit.model.authored.propagation import list_reachable
from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from scenario_kit.scoring.matching.alias_classes import AliasClass, build_alias_classes

#: Kinds whose objects are named after components.
_COMPONENTS: Final = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Service", "Node")


class RootComponent(NamedTuple):
    """A component as root cause; ``level`` is ``service`` or ``node``."""

    name: str
    level: str
    fault: InjectedFault


def find_root_components(incident: SnapshotIncident) -> list[RootComponent]:
    """Find the component of each root cause, in injection order: the cause itself, or the first component it affects.

    Raises:
        AuthoringError: there is no incident, or a cause affects no component.
    """
    if incident.truth.outcome != "Incident":
        raise AuthoringError(
            f"{incident.folder}: nothing is broken there, and this format has no controls",
            fix="leave controls out, or export them as `harbor` or `inspect`",
        )
    found = [
        _find_component(incident, each, fault)
        for each in build_alias_classes(incident.truth.groups, incident.truth.aliases)
        if each.root
        for fault in incident.faults
        if set(fault.causes) & {group.id for group in each.groups}
    ]
    return sorted(dict.fromkeys(found), key=lambda root: (root.fault.at, root.name))


def _find_component(incident: SnapshotIncident, cause: AliasClass, fault: InjectedFault) -> RootComponent:
    best = _select_component(_list_affected(incident.truth, cause))
    if best is None:
        raise AuthoringError(
            f"{incident.folder}: {cause.id} is not a component and affects none",
            fix="this format names components; export it as `harbor` or `inspect`",
        )
    return RootComponent(best.names[0], "node" if best.kind == "Node" else "service", fault)


def _list_affected(truth: IncidentTruth, cause: AliasClass) -> list[TruthGroup]:
    """List the groups of a cause and everything it propagates to, nearest first."""
    groups = {group.id: group for group in truth.groups}
    reached = list_reachable((group.id for group in cause.groups), ((edge.source, edge.target) for edge in truth.edges))
    return [groups[id] for id in reached if id in groups]


def _select_component(groups: Sequence[TruthGroup]) -> TruthGroup | None:
    return next((group for group in groups if group.kind in _COMPONENTS and group.names), None)
