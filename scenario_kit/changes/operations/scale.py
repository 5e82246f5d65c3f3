"""``scale``: the number of replicas of a workload."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import TargetOperation
from scenario_kit.changes.workloads import SCALABLE
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.difference import Path
from scenario_kit.render.objects.merging import merge


@final
class Scale(TargetOperation, frozen=True, kw_only=True):
    """Set the replicas of a workload."""

    creates_revision: ClassVar[bool] = False
    overwrites: ClassVar[bool] = True
    disturbs: ClassVar[bool] = True

    replicas: int

    @classmethod
    def invert(cls, body: Object, former: Object | None) -> Object | None:
        if former is None:
            return None
        return {cls.keyword: {"target": body["target"], "replicas": former["spec"].get("replicas", 1)}}

    def send(self, context: ChangeContext) -> None:
        ref, _ = context.get_existing(self.target)
        if ref.kind not in SCALABLE:
            raise AuthoringError(f"{self.target} cannot be scaled", fix=f"name one of {', '.join(SCALABLE)}")
        context.cluster.patch(ref, {"spec": {"replicas": self.replicas}})

    def transform(self, obj: Object) -> Object:
        scaled: Object = merge(obj, {"spec": {"replicas": self.replicas}})
        return scaled

    def list_paths(self) -> Iterable[Path]:
        return [("spec", "replicas")]

    def count_replicas(self) -> int:
        return self.replicas
