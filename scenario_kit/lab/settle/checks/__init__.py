"""The settled predicate: the controllers of a namespace have no work left at this instant of the trial's clock.

Pure: objects in, reasons out. Each check is the fixed point of one controller, as a comparison of status and children
with specs and pods, so pending work shows as a difference however slow the controller is; inactivity proves nothing.
Checks: specs observed, counts consistent, pods scheduled or refused, refusals up to date, deletions finished, garbage
collected, EndpointSlices consistent with pods, rollouts finished or stuck, chaos records stationary, namespace complete
or empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scenario_kit.lab.settle.checks import chaos, endpoints, pending_scheduling, pods, rollouts, workloads
from scenario_kit.lab.settle.checks.settle_context import Due, Facts, Reason

_CHECKS: tuple[Callable[[Facts], Iterator[Reason]], ...] = (
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
        for check in _CHECKS:
            reasons += check(facts)
    else:
        reasons += chaos.check_experiments(facts)
    return reasons


__all__ = ["Due", "Facts", "Reason", "list_unsettled", "pending_scheduling", "pods"]
