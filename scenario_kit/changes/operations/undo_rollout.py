"""``undoRollout``: return of a workload to its previous revision."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import ClassVar, Final, final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import RolloutOperation
from scenario_kit.errors import AuthoringError

_REVISION: Final = "deployment.kubernetes.io/revision"


@final
class UndoRollout(RolloutOperation, frozen=True, kw_only=True):
    """Return a workload to its previous revision."""

    rolls_back: ClassVar[bool] = True
    predictable: ClassVar[bool] = False

    def send(self, context: ChangeContext) -> None:
        ref, workload = context.get_existing(self.target)
        uid = workload["metadata"]["uid"]
        owned = [
            r
            for r in context.cluster.list("ReplicaSet", ref.namespace)
            if any(o.get("uid") == uid for o in r["metadata"].get("ownerReferences") or [])
        ]
        revisions = sorted(owned, key=lambda r: int((r["metadata"].get("annotations") or {}).get(_REVISION, 0)))
        if len(revisions) < 2:
            raise AuthoringError(f"{self.target} has no earlier revision to return to")
        template = json.loads(json.dumps(revisions[-2]["spec"]["template"]))
        template["metadata"].get("labels", {}).pop("pod-template-hash", None)
        context.cluster.patch(ref, [{"op": "replace", "path": "/spec/template", "value": template}], "Json")

    def list_rollouts(self, drop_old: bool) -> Iterable[tuple[str, bool]]:
        return [(self.target, False)]
