"""``undoRollout``: a workload returns to its previous revision."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import ClassVar, Final, final

from scenario_kit.changes.operation import TargetOperation
from scenario_kit.changes.scene import Scene
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.difference import Path

_REVISION: Final = "deployment.kubernetes.io/revision"


@final
class UndoRollout(TargetOperation, frozen=True, kw_only=True):
    """Return a workload to its previous revision."""

    rolls_back: ClassVar[bool] = True
    disturbs: ClassVar[bool] = True
    stateful: ClassVar[bool] = False
    predictable: ClassVar[bool] = False

    def send(self, scene: Scene) -> None:
        """Write the template of the revision before into the workload."""
        ref, workload = scene.existing(self.target)
        uid = workload["metadata"]["uid"]
        owned = [
            r
            for r in scene.cluster.list("ReplicaSet", ref.namespace)
            if any(o.get("uid") == uid for o in r["metadata"].get("ownerReferences") or [])
        ]
        revisions = sorted(owned, key=lambda r: int((r["metadata"].get("annotations") or {}).get(_REVISION, 0)))
        if len(revisions) < 2:
            raise AuthoringError(f"{self.target} has no earlier revision to return to")
        template = json.loads(json.dumps(revisions[-2]["spec"]["template"]))
        template["metadata"].get("labels", {}).pop("pod-template-hash", None)
        scene.cluster.patch(ref, [{"op": "replace", "path": "/spec/template", "value": template}], "Json")

    def transform(self, obj: Object) -> Object:
        """Return the workload as it is: which revisions it has, only the cluster knows."""
        return obj

    def list_paths(self) -> Iterable[Path]:
        """List nothing, for the same reason."""
        return ()

    def list_rollouts(self, drop_old: bool) -> Iterable[tuple[str, bool]]:
        """List its target."""
        return [(self.target, False)]

    def outlasts(self, persistence: str) -> bool:
        """Tell that the revision stays."""
        return True
