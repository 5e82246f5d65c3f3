"""What the faults of a scenario are allowed beyond the usual, for whoever decides whether to run it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.campaign.results.result import Allowance
from scenario_kit.model import Fault

#: Declarations that need no reason of their own, and what each allows.
_PLAIN: Final = {
    "Cluster": "its scope: it writes objects that belong to the whole cluster, and runs alone",
    "node-access": "its pods reach the node that they run on",
    "kernel": "its pods change the kernel of the node that they run on",
}


def list_allowances(faults: Iterable[Fault]) -> tuple[Allowance, ...]:
    """List the exceptions that the faults declare, each with its reason; none of an ordinary scenario."""
    return tuple(each for fault in faults for each in _list_fault_allowances(fault))


def _list_fault_allowances(fault: Fault) -> Iterable[Allowance]:
    for each in fault.exceptions:
        yield Allowance(fault=fault.name, allow=each.allow, because=each.because)
    for name in (fault.scope, *fault.requires):
        if name in _PLAIN:
            yield Allowance(fault=fault.name, allow=name, because=_PLAIN[name])
