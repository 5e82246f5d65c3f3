"""Limits on pods and disks that a change may request, as clusters are shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.admission.breach import Breach, Keys
from scenario_kit.admission.claims import find_claims
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.quantity import parse_quantity

#: Maximum number of pods, as for the operation `scale`.
MAX_PODS: Final = 1000
#: Maximum disk size; larger claims would provision costly disks.
MAX_DISK: Final = "1Ti"
_FIELDS: Final = ("replicas", "minReplicas", "maxReplicas", "parallelism", "completions")


def check_amounts(obj: Object) -> Iterator[Breach]:
    """Check the number of pods and the disk size that an object requests."""
    for keys, spec in _list_specs(obj):
        for field in _FIELDS:
            count = spec.get(field)
            if isinstance(count, int) and count > MAX_PODS:
                note = f"requests {count} pods (`{field}`)"
                yield Breach("SK226", (*keys, field), count, note, expected=f"at most {MAX_PODS}")
    for keys, claim in find_claims(obj):
        size = ((claim.get("resources") or {}).get("requests") or {}).get("storage")
        if size is not None and _is_more(size):
            note = f"requests a disk of {size}"
            place: Keys = (*keys, "resources", "requests", "storage")
            yield Breach("SK226", place, size, note, expected=f"at most {MAX_DISK}")


def _is_more(size: Any) -> bool:
    try:
        return parse_quantity(size) > parse_quantity(MAX_DISK)
    except ValueError:
        return False  # the API server rejects such a quantity


def _list_specs(obj: Object) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    spec = obj.get("spec")
    if isinstance(spec, Mapping):
        yield ("spec",), spec
        inner = (spec.get("jobTemplate") or {}).get("spec")
        if isinstance(inner, Mapping):
            yield ("spec", "jobTemplate", "spec"), inner
