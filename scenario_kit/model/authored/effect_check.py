"""Named effect checks, shared by many faults.

They are used beside plain checks in ``effect`` and ``undone`` of a fault, and expand to plain checks when it is
rendered.
"""

from __future__ import annotations

from typing import Final, Literal

from scenario_kit.model.base import Value

#: The components whose requests are checked, relative to the target.
Whose = Literal["TargetAndDependants", "Dependants", "Callers", "Target"]


class ChaosInjected(Value, frozen=True, kw_only=True):
    """Chaos Mesh has injected into all selected pods; without ``ref``, of the created object."""

    ref: str = ""


class Deleted(Value, frozen=True, kw_only=True):
    """An object does not exist; without ``ref``, the created one."""

    ref: str = ""


class PodsPending(Value, frozen=True, kw_only=True):
    """Pods of a workload are unscheduled, or wait for a volume or an image."""

    of: str = ""
    at_least: int = 1


class PodsReady(Value, frozen=True, kw_only=True):
    """A number of pods of a workload are ready. With ``count_missing``, no pods count as none ready."""

    of: str = ""
    at_least: int | None = None
    at_most: int | None = None
    count_missing: bool = False


class ContainersRunning(Value, frozen=True, kw_only=True):
    """A container runs in a number of a workload's pods; by default the one in the parameter ``container``."""

    container: str = ""
    of: str = ""
    at_least: int = 1


class ContainersWaiting(Value, frozen=True, kw_only=True):
    """Containers of a workload are waiting for one of these reasons, for example ``CrashLoopBackOff``."""

    reasons: tuple[str, ...]
    container: str = ""
    of: str = ""
    init: bool = False


class ContainersTerminated(Value, frozen=True, kw_only=True):
    """Containers of a workload last terminated for one of these reasons, for example ``OOMKilled``."""

    reasons: tuple[str, ...]
    container: str = ""
    of: str = ""


class ContainersRestarted(Value, frozen=True, kw_only=True):
    """A container of a workload was restarted this often; by default the one in the parameter ``container``."""

    at_least: int
    container: str = ""
    of: str = ""


class RequestsFail(Value, frozen=True, kw_only=True):
    """Requests of one of these components fail, or there are none where there were, throughout two minutes."""

    whose: Whose = "TargetAndDependants"
    components: tuple[str, ...] = ()


class RequestsStop(Value, frozen=True, kw_only=True):
    """The target has no requests, or its callers' requests fail or stop; ``sustained`` for two minutes."""

    sustained: bool = False


class TargetFails(Value, frozen=True, kw_only=True):
    """Requests of a workload fail or stop for two minutes; without spans of its own, those of its callers fail."""

    of: str = ""


class LatencyRises(Value, frozen=True, kw_only=True):
    """The mean of one kind of call exceeds that of the five minutes before by this much more than by chance."""

    by_milliseconds: int
    whose: Whose = "TargetAndDependants"
    sustained: bool = False


class RequestsSlowOrFail(Value, frozen=True, kw_only=True):
    """The mean of one kind of call rises by this much, or requests fail or stop for two minutes."""

    by_milliseconds: int
    whose: Whose = "TargetAndDependants"


class RequestsSucceed(Value, frozen=True, kw_only=True):
    """Some requests of these components succeed."""

    whose: Whose = "Dependants"


class RequestsDrop(Value, frozen=True, kw_only=True):
    """A component serves at most this percentage of its requests of some minutes ago."""

    component: str
    to_percent: int = 50


#: By keyword.
EFFECT_CHECKS: Final[dict[str, type[Value]]] = {
    "chaosInjected": ChaosInjected,
    "deleted": Deleted,
    "podsPending": PodsPending,
    "podsReady": PodsReady,
    "containersRunning": ContainersRunning,
    "containersWaiting": ContainersWaiting,
    "containersTerminated": ContainersTerminated,
    "containersRestarted": ContainersRestarted,
    "requestsFail": RequestsFail,
    "requestsStop": RequestsStop,
    "targetFails": TargetFails,
    "latencyRises": LatencyRises,
    "requestsSlowOrFail": RequestsSlowOrFail,
    "requestsSucceed": RequestsSucceed,
    "requestsDrop": RequestsDrop,
}
