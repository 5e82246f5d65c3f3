"""Words of Chaos Mesh that more than one layer needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from scenario_kit.model.base import Object

GROUP: Final = "chaos-mesh.org"
SCHEDULE: Final = "Schedule"
#: Actions that are over once done: nothing lasts, so nothing is recovered or bound to new pods.
ONE_SHOT: Final = ("pod-kill", "container-kill")
#: With this annotation the manager recovers an experiment, as it does at the end of its duration.
PAUSE: Final = "experiment.chaos-mesh.org/pause"
#: Kinds that keep everything they write out of the app's objects: only their own object, and children of the group,
#: which no solver reads, tell of them. Read from the manager's source (controllers/), and tested in the lab.
UNMARKED: Final = (
    "DNSChaos", "HTTPChaos", "IOChaos", "JVMChaos", "NetworkChaos", "PodChaos", "StressChaos", "TimeChaos",
)  # fmt: skip
#: Actions of these kinds that do mark the app's objects, and how.
MARKS: Final[Mapping[str, str]] = {
    "pod-failure": "it swaps the images of the pods, and notes the true ones in annotations of theirs",
}


def schedule_key(kind: str) -> str:
    """Return where a Schedule has the spec of a kind: ``networkChaos`` for NetworkChaos, ``ioChaos`` for IOChaos."""
    capitals = len(kind) - len(kind.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    start = max(capitals - 1, 1)
    return kind[:start].lower() + kind[start:]


def get_experiment(obj: Object) -> tuple[str, Object]:
    """Get kind and spec of the experiment: the object's own, or those of the one which a Schedule starts."""
    spec: Object = obj["spec"]
    if obj["kind"] != SCHEDULE:
        return obj["kind"], spec
    kind: str = spec["type"]
    inner: Object = spec[schedule_key(kind)]
    return kind, inner


class Sides(NamedTuple):
    """Selectors of an experiment: of its targets, and of those at the other end of a connection (None: any)."""

    targets: Object
    peers: Object | None = None


def list_sides(spec: Object) -> Sides:
    """List whom the spec of an experiment selects."""
    other = spec.get("target")  # of HTTPChaos it is a word: Request or Response
    return Sides(spec.get("selector") or {}, (other.get("selector") or {}) if isinstance(other, Mapping) else None)


def describe_marks(obj: Object) -> str:
    """Describe how the experiment of a chaos object shows in the app's own objects; empty where it does not."""
    kind, spec = get_experiment(obj)
    if kind not in UNMARKED:
        return f"what {kind} leaves in the app's objects is not known"
    return MARKS.get(str(spec.get("action", "")), "")
