"""``chaos``: a Chaos Mesh experiment, bound to the pods that its selector matches when it is created."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, final

import msgspec

from scenario_kit.changes import chaos
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.manifests import ManifestOperation
from scenario_kit.changes.operation import name_field_owner
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Object
from scenario_kit.model.chaos.kinds import get_experiment
from scenario_kit.model.kubernetes.difference import WrittenField
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.reference import make_reference

#: Fields that scope an experiment beside its pods; two that differ in one do not conflict.
_SCOPE: Final = (
    "action", "direction", "target", "externalTargets", "device", "containerNames", "volumePath", "path", "methods",
    "port", "method", "class", "name", "patterns", "target", "abort", "stressors",
)  # fmt: skip


@final
class Chaos(ManifestOperation, frozen=True, kw_only=True):
    """Create an experiment."""

    injects_chaos: ClassVar[bool] = True
    creates: ClassVar[bool] = True
    only_fields: ClassVar[bool] = False

    @property
    def experiment(self) -> Object:
        return self.manifest

    def send(self, context: ChangeContext) -> None:
        template = self.place(context.namespace)
        pods = chaos.choose_pods(context.cluster, template, context.namespace)
        if pods.empty:
            name = f"{template['kind']}/{template['metadata']['name']}"
            raise AuthoringError(*chaos.explain_empty_selection(name), fix="aim the fault at a workload that has pods")
        context.cluster.create(chaos.bind(template, pods))

    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        kind, spec, _ = get_experiment(self.manifest)
        labels = (spec.get("selector") or {}).get("labelSelectors") or {}
        scope = msgspec.json.encode({key: spec[key] for key in _SCOPE if key in spec}, order="sorted").decode()
        for obj in objects:
            template = (obj.get("spec") or {}).get("template")
            if labels and isinstance(template, dict) and selects_pods(labels, obj):
                owner = name_field_owner(make_reference(obj, app.namespace), app.namespace)
                yield WrittenField(owner, (f"pods under {kind}", scope))
