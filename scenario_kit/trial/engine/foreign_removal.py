"""Whether somebody else removed an app's namespace during a trial: no step can hold then, and no author is to blame."""

from __future__ import annotations

from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.trial.engine.context import TrialContext, join_uids


def describe_foreign_removal(context: TrialContext) -> str:
    """Describe which namespace of the app is gone, ending or another one; empty if none is, or if the trial wrote it.

    Raises:
        ClusterError: the API server does not answer.
    """
    baseline = context.baseline()
    if baseline is None or not baseline.namespace_uid:
        return ""  # not deployed yet
    homes = context.homes()
    ending = [name for name, home in homes.items() if home is None or is_terminating(home)]
    if not ending and join_uids(homes.values()) == baseline.namespace_uid:
        return ""
    receipts = context.engine.list_receipts()
    if any(entry.ref.kind == "Namespace" for receipt in receipts for entry in receipt.entries):
        return ""
    names = ", ".join(ending or homes)
    return f"namespace {names} was {'deleted' if ending else 'replaced'} during the trial, and not by the trial"
