"""``patch``: fields of an object, by one of the API server's three patch types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal, final

import jsonpatch

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import TargetOperation
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.difference import Path, get_at, list_leaves
from scenario_kit.model.kubernetes.pod_resources import count_replicas
from scenario_kit.model.kubernetes.reference import WORKLOADS, read_group
from scenario_kit.model.kubernetes.secret import encode_secret
from scenario_kit.render.faults.inverse_changes import INVERSES
from scenario_kit.render.objects.merging import merge, merge_strategic
from scenario_kit.render.simulation.changes import check_sound
from scenario_kit.render.templating.authoring_error import build_error

_TEMPLATE: Final = "/spec/template"
#: Fields by which the API server finds an object.
_IDENTITY: Final[Mapping[str, Path]] = {
    "apiVersion": ("apiVersion",),
    "kind": ("kind",),
    "name": ("metadata", "name"),
    "namespace": ("metadata", "namespace"),
}


@final
class Patch(TargetOperation, frozen=True, kw_only=True):
    """``Json`` is an RFC 6902 list, ``Merge`` an RFC 7386 document, ``Strategic`` Kubernetes' own merge patch."""

    patches: ClassVar[bool] = True
    overwrites: ClassVar[bool] = True
    only_fields: ClassVar[bool] = True

    type: Literal["Json", "Merge", "Strategic"]
    patch: Any

    @classmethod
    def invert(cls, body: Object, former: Object | None) -> Object | None:
        if former is None:
            return None
        return {cls.keyword: {**body, "patch": INVERSES[body["type"]](body["patch"], former)}}

    @property
    def document(self) -> Any:
        return self.patch

    @property
    def merged_strategically(self) -> Mapping[str, Any] | None:
        return self.merged if self.type == "Strategic" else None

    def send(self, context: ChangeContext) -> None:
        ref, _ = context.get_existing(self.target)
        context.cluster.patch(ref, self.patch, self.type)

    def transform(self, obj: Object) -> Object:
        result = check_sound(self._merge(obj))
        for name, keys in _IDENTITY.items():
            before, after = (str(get_at(each, keys) or "") for each in (obj, result))
            if before != after:
                raise build_error(
                    "SK121",
                    f"the patch of {self.target} changes its {name}, which the API server refuses",
                    observed=after,
                    expected=before,
                    fix="create another object instead",
                )
        return _drop_status(encode_secret(result), obj)

    def _merge(self, obj: Object) -> Any:
        if self.type == "Strategic":
            return merge_strategic(obj, self.patch)
        if self.type == "Merge":
            return merge(obj, self.patch)
        try:
            result = jsonpatch.apply_patch(obj, self.patch)
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError) as error:
            raise build_error(
                "SK121",
                f"the patch of {self.target} does not apply: {error}",
                observed=json.dumps(self.patch)[:300],
                expected="paths that exist in the rendered object",
                fix="`scenario-kit render` shows the object",
            ) from error
        return result

    def list_paths(self) -> Iterable[Path]:
        if isinstance(self.patch, Mapping):
            return list_leaves(self.patch)
        return (tuple(step["path"].strip("/").split("/")) for step in self.patch)

    def count_replicas(self) -> int:
        if isinstance(self.patch, list):
            values = [step.get("value") for step in self.patch if step.get("path") == "/spec/replicas"]
            return max((n for n in values if isinstance(n, int)), default=0)
        return count_replicas(self.patch)

    def list_rollouts(self, drop_old: bool) -> Iterable[tuple[str, bool]]:
        return [(self.target, drop_old)] if self._writes_template() else ()

    def _writes_template(self) -> bool:
        if self.target.kind not in WORKLOADS:
            return False
        if isinstance(self.patch, list | tuple):
            return any(str(step.get("path", "")).startswith(_TEMPLATE) for step in self.patch)
        return "template" in (self.patch.get("spec") or {})


def _drop_status(result: Object, obj: Object) -> Object:
    """Return a patched object with its former status: a request for an object does not write its subresource."""
    group = read_group(obj)
    if "." in group and not group.endswith(".k8s.io"):
        return result  # a custom resource need not have the subresource
    return {k: v for k, v in result.items() if k != "status"} | ({"status": obj["status"]} if "status" in obj else {})
