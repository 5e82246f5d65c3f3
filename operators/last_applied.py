"""Find the nulls that ``kubectl apply`` did not send; its annotation has the object as it was in the file."""

from __future__ import annotations

import json
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, get_part, walk

#: Annotation with the object that was given to ``kubectl apply``, unless it was a server-side apply.
LAST_APPLIED_ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"


def find_lost_nulls(obj: Object) -> list[Place]:
    """List the nulls of patches that were in the applied file and are not in the object.

    Elsewhere in a spec, null means the same as no value.
    """
    nulls = (place for place, value in walk(_read_applied_spec(obj), ("spec",)) if value is None)
    return [place for place in nulls if "patch" in place and _is_lost(obj, place)]


def _read_applied_spec(obj: Object) -> Any:
    text = (obj["metadata"].get("annotations") or {}).get(LAST_APPLIED_ANNOTATION, "")
    try:
        return get_part(json.loads(text), ("spec",)) if text else None
    except (ValueError, RecursionError):  # not written by kubectl
        return None


def _is_lost(obj: Object, place: Place) -> bool:
    """Tell whether a null alone is missing; of an object that was edited since, the whole patch may be."""
    around = get_part(obj, place[:-1])
    return isinstance(around, dict) and place[-1] not in around
