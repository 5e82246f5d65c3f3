"""Find objects that stand out when sorted by write time, version or generation: an answer without investigation. Pure.

Objects of one kind are compared. Some stand out if they come after (or before) all others at a distance larger than any
between neighbours among the others; merely being last is not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

#: Minimum number of other objects.
_MIN_OTHERS: Final = 3
#: A distance stands out if it is this many times the largest among the others.
_OUTLIER_FACTOR: Final = 3.0
#: Seconds after the last spec change in which a controller may still write the status.
_SETTLING: Final = 2.0

MeasurePosition = Callable[[Object], float | None]


def check_order(objects: Sequence[Object], desired: Mapping[str, Collection[Reference]]) -> list[Finding]:
    """Return a finding for each kind and order in which some of the given objects stand out.

    ``desired`` holds these objects by a description of what they are.
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


def _describe_outliers(own: Iterable[Object], others: Iterable[Object], place: MeasurePosition, unit: float) -> str:
    """Describe how some objects stand apart from the others; empty if they do not."""
    mine = [p for o in own if (p := place(o)) is not None]
    rest = sorted(p for o in others if (p := place(o)) is not None)
    if not mine or len(rest) < _MIN_OTHERS:
        return ""
    widest = max(max((b - a for a, b in pairwise(rest)), default=0.0), unit) * _OUTLIER_FACTOR
    after, before = min(mine) - rest[-1], rest[0] - max(mine)
    if after > widest:
        return f"{min(mine):.0f}, all others at most {rest[-1]:.0f}"
    return f"{max(mine):.0f}, all others at least {rest[0]:.0f}" if before > widest else ""


def _find_write_time(obj: Object) -> float | None:
    """Return the last write outside of the status, which is a legitimate symptom."""
    return max(_find_times(obj, status=False), default=None)


def _read_version(obj: Object) -> float | None:
    """Return the resourceVersion, unless controllers keep writing the status, which is visible there anyway."""
    written, reported = _find_write_time(obj), max(_find_times(obj, status=True), default=None)
    if written is not None and reported is not None and reported - written > _SETTLING:
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


#: Sort orders: the key function, and the smallest distance that counts.
_ORDERS: Final[dict[str, tuple[MeasurePosition, float]]] = {
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
        expected="these objects among the others in that order",
        why="a solver that merely sorts has not investigated",
    )
