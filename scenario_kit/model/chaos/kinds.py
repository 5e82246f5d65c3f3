"""Kinds and constants of Chaos Mesh."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.duration import parse_seconds

GROUP: Final = "chaos-mesh.org"
SCHEDULE: Final = "Schedule"
_EVERY: Final = "@every "
#: One-shot actions: nothing to recover, and nothing to apply to new pods.
ONE_SHOT: Final = ("pod-kill", "container-kill")
#: With this annotation the manager recovers an experiment, as at the end of its duration.
PAUSE: Final = "experiment.chaos-mesh.org/pause"
#: Kinds that leave no mark on the app's objects: only their own object, and children in the group, which solvers cannot
#: read. Verified in the manager's source (controllers/), and tested in the lab.
UNMARKED: Final = (
    "DNSChaos", "HTTPChaos", "IOChaos", "JVMChaos", "NetworkChaos", "PodChaos", "StressChaos", "TimeChaos",
)  # fmt: skip
#: Actions of these kinds that do mark the app's objects.
MARKS: Final[Mapping[str, str]] = {
    "pod-failure": "it swaps the images of the pods, and notes the true ones in annotations of theirs"
}


def schedule_key(kind: str) -> str:
    """Return the key of a kind's spec in a Schedule: ``networkChaos`` for NetworkChaos, ``ioChaos`` for IOChaos."""
    capitals = len(kind) - len(kind.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    start = max(capitals - 1, 1)
    return kind[:start].lower() + kind[start:]


class Experiment(NamedTuple):
    """An experiment, or the one that a Schedule starts: its kind and spec, and the keys of the spec in the object."""

    kind: str
    spec: Object
    place: tuple[str, ...] = ("spec",)


def get_experiment(obj: Object) -> Experiment:
    """Return the experiment of any object, as an author wrote it; malformed and missing parts are empty."""
    kind, spec = str(obj.get("kind") or ""), obj.get("spec")
    if kind != SCHEDULE:
        return Experiment(kind, spec if isinstance(spec, dict) else {})
    spec = spec if isinstance(spec, dict) else {}
    key = schedule_key(kind := str(spec.get("type") or ""))
    inner = spec.get(key)
    return Experiment(kind, inner if isinstance(inner, dict) else {}, ("spec", key))


def read_duration(spec: Object) -> float | None:
    """Read after how many seconds an experiment ends; None if it does not, is one-shot, or the text is malformed."""
    text = str(spec.get("duration") or "")
    if not text or spec.get("action") in ONE_SHOT:
        return None
    try:
        return parse_seconds(text)
    except ValueError:
        return None


def read_period(schedule: Object) -> float | None:
    """Read the seconds between two starts of a Schedule; None unless they are always the same (``@every``).

    The manager's cron library rounds them down to whole seconds, at least one.
    """
    text = str((schedule.get("spec") or {}).get("schedule", ""))
    if not text.startswith(_EVERY):
        return None
    try:
        return max(float(math.floor(parse_seconds(text.removeprefix(_EVERY).strip()))), 1.0)
    except ValueError:
        return None


def find_spec(obj: Object, kind: str) -> tuple[tuple[str, ...], Object] | None:
    """Return place and spec of an experiment of this kind, or of the one that a Schedule starts; None if there is none.

    Accepts any object, as an author wrote it.
    """
    place: tuple[str, ...] = ("spec",)
    spec = obj.get("spec")
    if obj["kind"] == SCHEDULE and isinstance(spec, Mapping):
        place, spec = ("spec", schedule_key(kind)), spec.get(schedule_key(kind))
    elif obj["kind"] != kind:
        return None
    of_group = str(obj.get("apiVersion", "")).startswith(f"{GROUP}/")
    return (place, dict(spec)) if of_group and isinstance(spec, Mapping) else None


class Sides(NamedTuple):
    """The selectors of an experiment: of its targets, and of their peers (None: any)."""

    targets: Object
    peers: Object | None = None


def list_sides(spec: Object) -> Sides:
    """Return the selectors in the spec of an experiment."""
    other = spec.get("target")  # in HTTPChaos a string: Request or Response
    return Sides(spec.get("selector") or {}, (other.get("selector") or {}) if isinstance(other, Mapping) else None)


def describe_marks(obj: Object) -> str:
    """Describe what an experiment leaves in the app's objects; empty if nothing."""
    kind, spec, _ = get_experiment(obj)
    if kind not in UNMARKED:
        return f"it is unknown what {kind} leaves in the app's objects"
    return MARKS.get(str(spec.get("action", "")), "")
