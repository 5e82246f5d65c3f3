"""Effect checks by name: what dozens of faults prove in the same way, each with its parameters.

They stand beside the plain checks in ``effect`` and ``undone`` of a fault, and become plain checks when it is rendered.
"""

from __future__ import annotations

from typing import Final, Literal

from scenario_kit.model.base import Value

#: Whose requests a check looks at, relative to the target.
Whose = Literal["TargetAndDependants", "Dependants", "Callers", "Target"]


class ChaosInjected(Value, frozen=True, kw_only=True):
    """Chaos Mesh has injected the fault into every pod that its object selects; without ``ref`` the created one."""

    ref: str = ""


class Deleted(Value, frozen=True, kw_only=True):
    """An object does not exist; without ``ref`` the one that the fault creates."""

    ref: str = ""


class PodsPending(Value, frozen=True, kw_only=True):
    """Pods of a workload are not scheduled, or wait for a volume or an image."""

    of: str = ""
    at_least: int = 1


class PodsReady(Value, frozen=True, kw_only=True):
    """So many pods of a workload are ready. ``count_missing``: where there are no pods at all, none is ready."""

    of: str = ""
    at_least: int | None = None
    at_most: int | None = None
    count_missing: bool = False


class ContainersRunning(Value, frozen=True, kw_only=True):
    """Containers of that name run in so many pods of a workload; without one, that of parameter ``container``."""

    container: str = ""
    of: str = ""
    at_least: int = 1


class ContainersWaiting(Value, frozen=True, kw_only=True):
    """Containers of a workload wait for one of these reasons, for example ``CrashLoopBackOff``."""

    reasons: tuple[str, ...]
    container: str = ""
    of: str = ""
    init: bool = False


class ContainersTerminated(Value, frozen=True, kw_only=True):
    """Containers of a workload ended last for one of these reasons, for example ``OOMKilled``."""

    reasons: tuple[str, ...]
    container: str = ""
    of: str = ""


class ContainersRestarted(Value, frozen=True, kw_only=True):
    """A container was restarted so often in some pod of a workload; without a name, that of the parameter."""

    at_least: int
    container: str = ""
    of: str = ""


class RequestsFail(Value, frozen=True, kw_only=True):
    """Requests of some of these components fail, or they have none, without a break for two minutes."""

    whose: Whose = "TargetAndDependants"
    components: tuple[str, ...] = ()


class RequestsStop(Value, frozen=True, kw_only=True):
    """The target has no requests; or those who talk to it fail or have none, ``sustained`` for two minutes."""

    sustained: bool = False


class TargetFails(Value, frozen=True, kw_only=True):
    """Requests of a workload fail or it has none, for two minutes; where it has no spans, those of its callers fail."""

    of: str = ""


class LatencyRises(Value, frozen=True, kw_only=True):
    """The mean of some kind of call rises by more than this against its best in the five minutes before."""

    by_milliseconds: int
    whose: Whose = "TargetAndDependants"
    sustained: bool = False


class RequestsSlowOrFail(Value, frozen=True, kw_only=True):
    """The mean of some kind of call rises by at least this, or requests fail or stop for two minutes."""

    by_milliseconds: int
    whose: Whose = "TargetAndDependants"


class RequestsSucceed(Value, frozen=True, kw_only=True):
    """Some requests of these components succeed."""

    whose: Whose = "Dependants"


class RequestsDrop(Value, frozen=True, kw_only=True):
    """A component serves at most this share of the requests that it served some minutes before."""

    component: str
    to_percent: int = 50


#: By the key that stands in the file.
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
