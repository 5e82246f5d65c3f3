"""A solver that only sorts: which objects stand alone by the time, the version or the generation of their writes. Pure.

Objects of one kind are compared with each other. Some of them stand alone in an order if they come after all others (or
before them) at a distance that no two neighbours among the others have: what comes last by chance does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

#: Fewer others make no order.
_LEAST: Final = 3
#: A distance stands out if it is so many times the largest one among the others.
_FACTOR: Final = 3.0
#: Seconds after the last write of anybody else for which a controller may still write the status of an object.
_SETTLING: Final = 2.0

Place = Callable[[Object], float | None]


def check_order(objects: Sequence[Object], desired: Mapping[str, Collection[Reference]]) -> list[Finding]:
    """Return a finding for each kind and order that finds some of the wanted objects alone; ``wanted`` is by what they
    are.
    """
    found = []
    for kind in sorted({o["kind"] for o in objects}):
        alike = [o for o in objects if o["kind"] == kind]
        for order, (place, unit) in _ORDERS.items():
            for what, refs in desired.items():
                own = [o for o in alike if make_object_reference(o).groupless in refs]
                if reported := _describe_outliers(
                    own, [o for o in alike if make_object_reference(o).groupless not in refs], place, unit
                ):
                    found.append(_build_finding(what, kind, own, order, reported))
                    break
    return found


def _describe_outliers(own: Iterable[Object], others: Iterable[Object], place: Place, unit: float) -> str:
    """Describe how the places of some stand apart from those of the others; empty where they do not."""
    mine = [p for o in own if (p := place(o)) is not None]
    rest = sorted(p for o in others if (p := place(o)) is not None)
    if not mine or len(rest) < _LEAST:
        return ""
    widest = max(max((b - a for a, b in pairwise(rest)), default=0.0), unit) * _FACTOR
    after, before = min(mine) - rest[-1], rest[0] - max(mine)
    if after > widest:
        return f"{min(mine):.0f}, all others at most {rest[-1]:.0f}"
    return f"{max(mine):.0f}, all others at least {rest[0]:.0f}" if before > widest else ""


def _find_write_time(obj: Object) -> float | None:
    """Find when somebody last wrote what the object asks for; its status is no order but a symptom."""
    return max(_find_times(obj, status=False), default=None)


def _read_version(obj: Object) -> float | None:
    """Read the version, unless a controller goes on to write the status, which anybody sees in the status itself."""
    asked, reported = _find_write_time(obj), max(_find_times(obj, status=True), default=None)
    if asked is not None and reported is not None and reported - asked > _SETTLING:
        return None
    version = str(obj["metadata"].get("resourceVersion", ""))
    return float(version) if version.isdigit() else None


def _find_times(obj: Object, *, status: bool) -> Iterator[float]:
    for entry in obj["metadata"].get("managedFields") or ():
        if (entry.get("subresource") == "status") == status and entry.get("time"):
            yield parse_timestamp(entry["time"])


def _read_generation(obj: Object) -> float | None:
    generation = obj["metadata"].get("generation")
    return None if generation is None else float(generation)


def _read_creation(obj: Object) -> float | None:
    at = obj["metadata"].get("creationTimestamp")
    return parse_timestamp(at) if at else None


#: Orders by which objects are sorted, how an object is placed in one, and the distance that says nothing in it.
_ORDERS: Final[dict[str, tuple[Place, float]]] = {
    "the time of their last write (managedFields)": (_find_write_time, 1.0),
    "resourceVersion": (_read_version, 1.0),
    "generation": (_read_generation, 0.0),
    "creationTimestamp": (_read_creation, 1.0),
}


def _build_finding(what: str, kind: str, own: Sequence[Object], order: str, reported: str) -> Finding:
    names = ", ".join(sorted(f"{kind}/{o['metadata']['name']}" for o in own))
    return build_finding(
        "SK444",
        message=f"sorting every {kind} by {order} finds {what}: {names}",
        observed=reported,
        expected="an order in which they stand among the others",
        why="a solver that only sorts has investigated nothing",
    )
