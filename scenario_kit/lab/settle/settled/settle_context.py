"""What the predicate is judged on, and how it answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.lab.informers.watched_kinds import REFUSERS
from scenario_kit.model.base import Object

#: The name of the only scheduler of a lab.
SCHEDULER: Final = "default-scheduler"
_NONE: Mapping[str, Object] = {}


class Reason(NamedTuple):
    """Why a namespace is not settled. ``kind`` and ``name`` say where, ``code`` which part of the predicate."""

    code: str
    kind: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}: {self.text}"


def _assume_just_changed(_: Object) -> float:
    return 0.0


class Due(NamedTuple):
    """Somebody will act on this object, and has not yet."""

    kind: str
    name: str
    uid: str
    text: str


class Facts(NamedTuple):
    """One consistent state of a namespace.

    ``namespace`` is its Namespace object, None when there is none. ``kinds[kind][name]`` holds its objects,
    ``experiments`` the chaos that selects from it or lives in it. ``quiet`` tells for how many seconds of wall time an
    object has been as it is. ``stopping`` are the UIDs of deleted pods whose containers end later on the trial's clock.
    ``refused`` has the revision of the last refusal: to create a pod, by the UID of the controller that asked, or to
    inject, as nothing was selected, by that of the experiment.
    ``overdue`` are Deployments past their progress deadline on the trial's clock, whose controller was told.
    ``refusers`` are the objects outside of the namespace that may refuse its pods, ``lifted`` is the revision at which
    one that might have was last removed.
    ``due`` are pods and claims with which something is about to happen, though nothing in their status says so.
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

    def of(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a kind by name."""
        return self.kinds.get(kind) or _NONE

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


def holds(obj: Object, type_: str) -> bool:
    """Check whether a status condition is True."""
    found = find_condition(obj, type_)
    return found is not None and found.get("status") == "True"


def is_active(pod: Object) -> bool:
    """Check whether its controller counts a pod: neither ended nor being deleted."""
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and "deletionTimestamp" not in pod["metadata"]


#: What nothing has touched for this long (wall clock) is left alone by whoever could still act on it.
LEFT_ALONE_SECONDS: Final = 1.0


def find_last_refuser_change(facts: Facts) -> int:
    """Find the revision at which something that may refuse pods last changed or went."""
    refusers = [o for kind in REFUSERS for o in facts.of(kind).values()] + list(facts.refusers)
    refusers += [facts.namespace] if facts.namespace else []
    return max(facts.lifted, max(map(read_revision, refusers), default=0))


def read_revision(obj: Object) -> int:
    """Read the revision of an object; 0 where it has none."""
    return int(obj["metadata"].get("resourceVersion") or 0)


def list_claim_names(pod: Object) -> list[str]:
    """List the claims whose volumes a pod mounts."""
    volumes = pod["spec"].get("volumes") or ()
    return [v["persistentVolumeClaim"]["claimName"] for v in volumes if "persistentVolumeClaim" in v]
