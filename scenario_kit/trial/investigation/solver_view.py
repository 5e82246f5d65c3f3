"""What the solver's rights let somebody see. What is refused, or not there, is not seen, and no error."""

from __future__ import annotations

from collections.abc import Sequence

from scenario_kit.errors import Forbidden, NotFound, Rejected
from scenario_kit.model import Object
from scenario_kit.ports import LogLine
from scenario_kit.trial.engine.context import TrialContext


def list_objects(context: TrialContext, kind: str, namespace: str, group: str = "") -> list[Object]:
    """List the objects of a kind in a namespace, or (empty) outside of all."""
    try:
        return context.solver.list(kind, namespace, group=group)
    except (Forbidden, NotFound):
        return []


def read_lines(context: TrialContext, pod: Object) -> Sequence[LogLine]:
    """Read the logs of a pod; none while its containers have not begun."""
    try:
        return context.solver.logs(pod)
    except (Forbidden, NotFound, Rejected):
        return []
