"""Reads with the solver's permissions. Objects that are missing or forbidden are left out, without an error."""

from __future__ import annotations

from collections.abc import Sequence

from scenario_kit.errors import Forbidden, NotFound, Rejected
from scenario_kit.model import Object
from scenario_kit.ports import LogLine
from scenario_kit.trial.engine.context import TrialContext


def list_objects(context: TrialContext, kind: str, namespace: str, group: str = "") -> list[Object]:
    """List the objects of a kind in a namespace, or (empty) cluster-scoped ones."""
    try:
        return context.solver.list(kind, namespace, group=group)
    except (Forbidden, NotFound):
        return []


def read_lines(context: TrialContext, pod: Object) -> Sequence[LogLine]:
    """Read the logs of a pod; none before its containers have started."""
    try:
        return context.solver.logs(pod)
    except (Forbidden, NotFound, Rejected):
        return []
