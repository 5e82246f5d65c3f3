"""List the policy exceptions of a scenario, for those who decide whether to run it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.campaign.results.result import Allowance
from scenario_kit.model import Fault

#: Declarations without a reason of their own, with a description.
_PLAIN: Final = {
    "Cluster": "cluster scope: it writes cluster-scoped objects, and runs alone",
    "node-access": "its pods can access their node",
    "kernel": "its pods change the kernel of their node",
}


def list_allowances(faults: Iterable[Fault]) -> tuple[Allowance, ...]:
    """Return the exceptions that the faults declare, with reasons; empty for ordinary scenarios."""
    return tuple(each for fault in faults for each in _list_fault_allowances(fault))


def _list_fault_allowances(fault: Fault) -> Iterable[Allowance]:
    for each in fault.exceptions:
        yield Allowance(fault=fault.name, allow=each.allow, because=each.because)
    for name in (fault.scope, *fault.requires):
        if name in _PLAIN:
            yield Allowance(fault=fault.name, allow=name, because=_PLAIN[name])
