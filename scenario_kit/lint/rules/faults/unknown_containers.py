"""Find containers in a patch that the workload does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.model import Change
from scenario_kit.model.json_document import get_part, list_mappings

_LISTS = ("containers", "initContainers")


def find_unknown_containers(
    case: LintContext, change: Change, *, breaks: bool = False
) -> Iterator[tuple[str, list[str]]]:
    """Yield each container that a strategic merge patch would add to a workload, with the existing ones.

    Containers that a fault removed or added count as existing for repairs. A fault (``breaks``) may add a container
    with an image; without one the API server rejects it.
    """
    merged, ref = change.operation.merged_strategically, change.operation.ref
    if merged is None or ref is None:
        return
    broken = [] if breaks else [one.object for one in case.written if one.stage.breaks]
    alike = [*(case.objects or ()), *broken]
    workloads = [o for o in alike if (o["kind"], o["metadata"]["name"]) == (ref.kind, ref.name)]
    for kind in _LISTS:
        known = sorted({name for o in workloads for name in _list_names(o, kind)})
        for name in _list_names(merged, kind, bare=breaks):
            if workloads and name not in known:
                yield name, known


def _list_names(workload: Mapping[str, Any], kind: str, *, bare: bool = False) -> list[str]:
    """List names of containers; ``bare``: only of those without an image."""
    found = [c for _, c in list_mappings(get_part(workload, ("spec", "template", "spec", kind)))]
    return [str(c["name"]) for c in found if "name" in c and "$patch" not in c and not (bare and "image" in c)]
