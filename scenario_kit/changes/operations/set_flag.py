"""``setFlag``: a feature flag of the app, set as its operators would."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import ObjectOperation
from scenario_kit.changes.operations.restart import Restart
from scenario_kit.changes.receipts import Receipt, ReceiptEntry
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, FlagStore, Object, Reference
from scenario_kit.model.kubernetes.difference import WrittenField
from scenario_kit.model.runtime.flag import set_variant
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.ports import Clock
from scenario_kit.render.objects.lookup import find_object
from scenario_kit.render.objects.merging import merge
from scenario_kit.render.simulation.changes import NoChange
from scenario_kit.render.templating.authoring_error import build_error


@final
class SetFlag(ObjectOperation, frozen=True, kw_only=True):
    """Set a flag to a variant. With ``value``, the variant is added if the flag has none of that name."""

    overwrites: ClassVar[bool] = True
    only_fields: ClassVar[bool] = True
    visible: ClassVar[bool] = False

    flag: str
    variant: str
    value: float | None = None

    def about(self, flags: FlagStore | None) -> tuple[str, str] | None:
        return None if flags is None else ("ConfigMap", flags.config_map)

    def list_targets(self, context: ChangeContext) -> list[Reference]:
        return [Reference("ConfigMap", _get_store(context).config_map, context.namespace)]

    def send(self, context: ChangeContext) -> None:
        _, _, document = read_flag_document(context)
        known = document.get("flags") or {}
        if self.flag not in known or (
            self.value is None and self.variant not in (known[self.flag].get("variants") or {})
        ):
            choices = ", ".join(known.get(self.flag, {}).get("variants") or known)
            raise AuthoringError(
                f"{context.app.name} has no flag '{self.flag}' with a variant '{self.variant}'",
                fix=f"one of: {choices}",
            )
        try:
            entry = set_variant(known[self.flag], self.variant, self.value)
        except ValueError as error:
            raise AuthoringError(f"flag '{self.flag}' cannot be set: {error}") from error
        self._put(context, entry)

    def undo(self, context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, clock: Clock) -> None:
        if context.cluster.get(entry.ref) is None:
            return
        document = json.loads(((entry.prior or {}).get("data") or {}).get(_get_store(context).key, "{}"))
        _, _, now = read_flag_document(context)
        former = document["flags"][self.flag]  # other flags may have changed in the meantime
        if now.get("flags", {}).get(self.flag) != former:
            self._put(context, former)

    def _put(self, context: ChangeContext, entry: Object) -> None:
        """Write the entry of the flag, then restart programs that read the document only at startup."""
        ref, key, document = read_flag_document(context)
        document.setdefault("flags", {})[self.flag] = entry
        context.cluster.patch(ref, {"data": {key: json.dumps(document, indent=2)}})
        for workload in _get_store(context).restart:
            Restart(target=workload).send(context)

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        store = app.flags
        if store is None:
            raise build_error("SK121", f"setFlag: {app.name} has no feature flags")
        obj = find_object(objects, Reference("ConfigMap", store.config_map), namespace, self.keyword, "SK121")
        document: dict[str, Any] = json.loads(obj["data"][store.key])
        flags = document["flags"]
        if self.flag not in flags:
            raise build_error("SK120", f"setFlag: there is no flag '{self.flag}'", fix=did_you_mean(self.flag, flags))
        flag = flags[self.flag]
        if self.value is None and self.variant not in flag["variants"]:
            variants = [str(v) for v in flag["variants"]]
            raise build_error(
                "SK120",
                f"setFlag: flag '{self.flag}' has no variant '{self.variant}'",
                expected=" | ".join(variants),
                fix=did_you_mean(self.variant, variants),
            )
        try:
            flags[self.flag] = set_variant(flag, self.variant, self.value)
        except ValueError as error:
            raise build_error("SK121", f"setFlag: flag '{self.flag}' cannot be set: {error}") from error
        if flags[self.flag] == flag:
            raise NoChange(self.keyword, f"flag {self.flag}")
        new = merge(obj, {"data": {store.key: json.dumps(document, indent=2)}})
        return tuple(new if o is obj else o for o in objects)

    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        if app.flags is None:
            return ()
        document = Reference("ConfigMap", app.flags.config_map)
        return [WrittenField(document, ("data", app.flags.key, "flags", self.flag))]

    def outlasts(self, persistence: str) -> bool:
        return True


def read_flag_document(context: ChangeContext) -> tuple[Reference, str, dict[str, Any]]:
    """Read the document of the app's flags: its ConfigMap, the key, and the content."""
    store = _get_store(context)
    ref, found = context.get_existing(Reference("ConfigMap", store.config_map))
    return ref, store.key, json.loads((found.get("data") or {}).get(store.key, "{}"))


def _get_store(context: ChangeContext) -> FlagStore:
    if context.app.flags is None:
        raise AuthoringError(f"{context.app.name} has no feature flags", fix="use an app that declares `flags`")
    return context.app.flags
