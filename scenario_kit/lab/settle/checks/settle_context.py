"""The input and output types of the settled predicate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.lab.informers.watched_kinds import REFUSERS
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import read_revision

#: The name of the only scheduler of a lab.
SCHEDULER: Final = "default-scheduler"
_NONE: Mapping[str, Object] = {}


class Reason(NamedTuple):
    """Why a namespace is not settled: the failed check (``code``), the object, and a text."""

    code: str
    kind: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}: {self.text}"


def _assume_just_changed(_: Object) -> float:
    return 0.0


class Due(NamedTuple):
    """An object that the scheduler or the volume binder is about to act on."""

    kind: str
    name: str
    uid: str
    text: str


class Facts(NamedTuple):
    """One consistent state of a namespace.

    ``namespace`` is its Namespace object, None if there is none. ``kinds[kind][name]`` holds its objects,
    ``experiments`` the chaos that lives in it or selects pods in it. ``quiet`` returns the wall seconds since an
    object last changed. ``stopping`` are the UIDs of deleted pods whose containers end later on the trial's clock.
    ``refused`` has the revision of the last refusal: of a pod, by the UID of its controller, or of an injection that
    selected nothing, by the UID of the experiment.
    ``overdue`` are Deployments past their progress deadline on the trial's clock, with ``lastUpdateTime`` moved back.
    ``refusers`` are objects outside of the namespace that may refuse its pods, ``lifted`` is the revision at which one
    was last removed. ``wall`` is the time on the wall clock, by which the chaos manager starts and ends experiments.
    ``due`` are pods and claims with pending work that their status does not show.
    """

    namespace: Object | None = None
    kinds: Mapping[str, Mapping[str, Object]] = {}
    experiments: Sequence[Object] = ()
    quiet: Callable[[Object], float] = _assume_just_changed
    stopping: Collection[str] = frozenset()
    refused: Mapping[str, int] = {}
    overdue: Collection[str] = frozenset()
    due: Sequence[Due] = ()
    refusers: Sequence[Object] = ()
    lifted: int = 0
    wall: float = 0.0

    def of(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a kind by name."""
        return self.kinds.get(kind) or _NONE

    def is_stopping(self, obj: Object) -> bool:
        """Return whether an object is a deleted pod whose containers end later on the trial's clock."""
        return obj["metadata"]["uid"] in self.stopping

    def owned(self, kind: str, owner: Object) -> list[Object]:
        """Return the objects of a kind whose controller is ``owner``."""
        uid = owner["metadata"]["uid"]
        return [obj for obj in self.of(kind).values() if read_controller_uid(obj) == uid]


def read_controller_uid(obj: Object) -> str:
    """Read the UID of the object's controller; empty when it has none."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return str(reference["uid"])
    return ""


def find_condition(obj: Object, type_: str) -> Object | None:
    """Find the status condition of a type, or None."""
    for found in (obj.get("status") or {}).get("conditions") or ():
        if found["type"] == type_:
            result: Object = found
            return result
    return None


def is_condition_true(obj: Object, type_: str) -> bool:
    """Return whether a status condition is True."""
    found = find_condition(obj, type_)
    return found is not None and found.get("status") == "True"


def is_active(pod: Object) -> bool:
    """Return whether a controller counts a pod as active: neither finished nor being deleted."""
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and "deletionTimestamp" not in pod["metadata"]


#: An object without a change for this long (wall clock) is not being worked on.
LEFT_ALONE_SECONDS: Final = 1.0


def find_last_refuser_change(facts: Facts) -> int:
    """Find the revision at which an object that may refuse pods last changed or was removed."""
    refusers = [o for kind in REFUSERS for o in facts.of(kind).values()] + list(facts.refusers)
    refusers += [facts.namespace] if facts.namespace else []
    return max(facts.lifted, max(map(read_revision, refusers), default=0))


def list_claim_names(pod: Object) -> list[str]:
    """List the persistent volume claims that a pod mounts."""
    volumes = pod["spec"].get("volumes") or ()
    return [v["persistentVolumeClaim"]["claimName"] for v in volumes if "persistentVolumeClaim" in v]
