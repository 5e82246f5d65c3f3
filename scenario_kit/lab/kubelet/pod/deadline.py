"""``activeDeadlineSeconds``: the maximum time of a pod on its node."""

from __future__ import annotations

from scenario_kit.lab.kubelet.pod.context import PodContext
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

REASON = "DeadlineExceeded"
_MESSAGE = "Pod was active on the node longer than the specified deadline"


def find_deadline(ctx: PodContext) -> float | None:
    """Return when the pod's deadline is; None if it has none."""
    seconds = ctx.spec.get("activeDeadlineSeconds")
    return None if seconds is None else parse_timestamp(ctx.status["startTime"]) + float(seconds)


def is_over(ctx: PodContext, now: float) -> bool:
    """Return whether the deadline has passed; record the event the first time."""
    end = find_deadline(ctx)
    if end is None or now < end:
        return False
    if ctx.status.get("reason") != REASON:
        ctx.tell(now, REASON, _MESSAGE)
        ctx.status["reason"], ctx.status["message"] = REASON, _MESSAGE
    return True
