"""``k8s_objects_raw.tsv``: all objects, every five minutes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.snapshot.canonical.objects import ObjectState
from scenario_kit.snapshot.canonical.times import TimeShift
from scenario_kit.snapshot.files.columns import Row, build_log_cells

#: Interval of object lists in seconds.
INTERVAL_SECONDS: Final = 300
_SCOPE: Final = "otelcol/k8sobjectsreceiver"
#: Irregular plurals.
_PLURALS: Final[Mapping[str, str]] = {
    "NetworkPolicy": "networkpolicies", "Ingress": "ingresses", "PriorityClass": "priorityclasses",
}  # fmt: skip


def find_resource(kind: str) -> str:
    """Return the API resource name of a kind: ``deployments``."""
    return _PLURALS.get(kind, f"{kind.lower()}s")


def list_object_rows(present: Iterable[ObjectState], at: float, shift: TimeShift) -> Iterator[Row]:
    """List a row per object at a time."""
    for state in sorted(present):
        resource = {"k8s.namespace.name": state.key.namespace} if state.key.namespace else {}
        cells = build_log_cells(
            shift.shows(at), state.show(format_timestamp(shift.shows(at))), resource=resource, scope=(_SCOPE, ""),
            attributes={"k8s.resource.name": find_resource(state.key.kind)},
        )  # fmt: skip
        yield Row(at, tuple(state.key), cells)
