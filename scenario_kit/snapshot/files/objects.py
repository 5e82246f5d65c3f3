"""``k8s_objects_raw.tsv``: all objects as they are, again every five minutes, so that differences over time show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.snapshot.canonical.objects import ObjectState
from scenario_kit.snapshot.canonical.times import TimeShift
from scenario_kit.snapshot.files.columns import Row, build_log_cells

#: Seconds between two lists of all objects.
INTERVAL_SECONDS: Final = 300
_SCOPE: Final = "otelcol/k8sobjectsreceiver"
#: Plurals that are not the kind in lower case with an ``s``.
_PLURALS: Final[Mapping[str, str]] = {
    "NetworkPolicy": "networkpolicies", "Ingress": "ingresses", "PriorityClass": "priorityclasses",
}  # fmt: skip


def find_resource(kind: str) -> str:
    """Find the name of a kind in paths of the API: ``deployments``."""
    return _PLURALS.get(kind, f"{kind.lower()}s")


def list_object_rows(present: Iterable[ObjectState], at: float, shift: TimeShift) -> Iterator[Row]:
    """List a row for each object that is there at a time."""
    for state in sorted(present):
        resource = {"k8s.namespace.name": state.key.namespace} if state.key.namespace else {}
        cells = build_log_cells(
            shift.shows(at), state.show(format_timestamp(shift.shows(at))), resource=resource, scope=(_SCOPE, ""),
            attributes={"k8s.resource.name": find_resource(state.key.kind)},
        )  # fmt: skip
        yield Row(at, tuple(state.key), cells)
