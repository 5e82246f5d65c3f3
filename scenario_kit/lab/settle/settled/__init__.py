"""The settled predicate: nothing that the cluster would still do by itself, at this instant of the trial's clock.

Pure: objects in, reasons out. Each part is the fixed point of one controller, written as "status and children say what
the specs and pods say", so whatever a controller has left to do shows as a difference, however slow it is. Silence is
never taken for an answer. Parts: specs observed, counts consistent, pods placed or refused, nobody refused for whom
there is a place by now, deletions finished, garbage collected, EndpointSlices as the pods, rollouts unable to go on,
chaos records stationary, namespace complete or empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scenario_kit.lab.settle.settled import chaos, endpoints, pending_scheduling, pods, rollouts, workloads
from scenario_kit.lab.settle.settled.settle_context import Due, Facts, Reason

_PARTS: tuple[Callable[[Facts], Iterator[Reason]], ...] = (
    workloads.check_observed,
    pods.check_deleting,
    pods.check_orphaned,
    pods.check_unplaced,
    pods.check_due,
    workloads.check_replica_sets,
    workloads.check_stateful_sets,
    workloads.check_daemon_sets,
    workloads.check_jobs,
    workloads.check_quotas,
    rollouts.check_deployments,
    endpoints.check_endpoint_slices,
    chaos.check_experiments,
    chaos.check_children,
)


def list_unsettled(facts: Facts) -> list[Reason]:
    """List why the namespace is not settled; empty when it is."""
    ending = facts.namespace is None or "deletionTimestamp" in facts.namespace["metadata"]
    reasons = list(pods.check_namespace(facts))
    if not ending:
        for part in _PARTS:
            reasons += part(facts)
    else:
        reasons += chaos.check_experiments(facts)
    return reasons


__all__ = ["Due", "Facts", "Reason", "pending_scheduling", "list_unsettled"]
