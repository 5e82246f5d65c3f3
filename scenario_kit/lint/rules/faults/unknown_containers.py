"""Containers that a patch names, and that the workload does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.simulation.stages import get_part, list_mappings
from scenario_kit.model import Change

_LISTS = ("containers", "initContainers")


def find_unknown_containers(
    case: LintContext, change: Change, *, breaks: bool = False
) -> Iterator[tuple[str, list[str]]]:
    """Find each container that a strategic patch would add to a workload, with those that there are.

    What a fault took away, or put there, is no stranger to a repair. A fault (``breaks``) may add a container on
    purpose, but then it names an image, without which the API server takes none.
    """
    merged, ref = change.operation.merged_strategically, change.operation.ref
    if merged is None or ref is None:
        return
    broken = [] if breaks else [one.object for one in case.written if one.stage.breaks]
    alike = [*(case.objects or ()), *broken]
    there = [o for o in alike if (o["kind"], o["metadata"]["name"]) == (ref.kind, ref.name)]
    for kind in _LISTS:
        known = sorted({name for o in there for name in _list_names(o, kind)})
        for name in _list_names(merged, kind, bare=breaks):
            if there and name not in known:
                yield name, known


def _list_names(workload: Mapping[str, Any], kind: str, *, bare: bool = False) -> list[str]:
    """List names of the containers; ``bare``: of those without an image only."""
    found = [c for _, c in list_mappings(get_part(workload, ("spec", "template", "spec", kind)))]
    return [str(c["name"]) for c in found if "name" in c and "$patch" not in c and not (bare and "image" in c)]
