"""Changes: single operations on the cluster. Faults, solutions, decoys and cheats are lists of them."""

from __future__ import annotations

from typing import Any, Literal

from scenario_kit.model.authored.app import FlagStore
from scenario_kit.model.authored.check import Check
from scenario_kit.model.base import Object, Value
from scenario_kit.model.kubernetes.reference import strip_reference


class Target(Value, frozen=True, kw_only=True):
    """Names the object that an operation works on."""

    target: str


class Patch(Value, frozen=True, kw_only=True):
    """``Json`` is an RFC 6902 list, ``Merge`` an RFC 7386 document, ``Strategic`` Kubernetes' own merge patch."""

    target: str
    type: Literal["Json", "Merge", "Strategic"]
    patch: Any


class Scale(Value, frozen=True, kw_only=True):
    """Set the replicas of a workload."""

    target: str
    replicas: int


class Restart(Value, frozen=True, kw_only=True):
    """Replace the pods of a workload. ``drop_old`` goes through zero pods, so that no old pod keeps serving."""

    target: str
    drop_old: bool = False


class Taint(Value, frozen=True, kw_only=True):
    """Put a taint on a node, or take it off; key and effect together identify it."""

    target: str
    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"


class SetFlag(Value, frozen=True, kw_only=True):
    """Set one feature flag of the app to a variant, the way an operator of the app would.

    With ``value``, the flag gets such a variant where it has none of that name.
    """

    flag: str
    variant: str
    value: float | None = None


class Run(Value, frozen=True, kw_only=True):
    """A one-shot Job from a pinned client image of the app's definition; it lists the possible commands."""

    client: str
    command: list[str]


class RemoveFault(Value, frozen=True, kw_only=True):
    """Take back everything that the named fault changed, from its receipts."""

    fault: str


class Until(Value, frozen=True, kw_only=True):
    """Wait for a check after the change."""

    check: Check
    within_seconds: int = 120


class Change(Value, frozen=True, kw_only=True):
    """One-of: exactly one operation is set. ``when`` false leaves the change out (templates only)."""

    create: Object | None = None
    apply: Object | None = None
    patch: Patch | None = None
    delete: Target | None = None
    scale: Scale | None = None
    restart: Restart | None = None
    undo_rollout: Target | None = None
    cordon: Target | None = None
    uncordon: Target | None = None
    drain: Target | None = None
    taint: Taint | None = None
    untaint: Taint | None = None
    set_flag: SetFlag | None = None
    chaos: Object | None = None
    run: Run | None = None
    remove_fault: RemoveFault | None = None
    until: Until | None = None

    @property
    def operation(self) -> str:
        """The name of the operation that is set, as it is spelled in YAML."""
        for name, spelled in zip(self.__struct_fields__, self.__struct_encode_fields__, strict=True):
            if name != "until" and getattr(self, name) is not None:
                return spelled
        raise ValueError("a change without an operation")

    @property
    def target(self) -> str | None:
        """The reference that the operation names, if it names one; created objects name themselves."""
        body = getattr(self, _convert_to_snake(self.operation))
        return getattr(body, "target", None)

    def about(self, flags: FlagStore | None) -> tuple[str, str] | None:
        """Return kind and name of the object that it is about; None where it does not say so. ``flags`` is the app's
        store.
        """
        if body := self.create or self.apply or self.chaos:
            # Definitions of faults may have anything there while they are being written.
            named = body.get("metadata")
            return str(body.get("kind")), str(named.get("name") if isinstance(named, dict) else "")
        if self.set_flag is not None:
            return None if flags is None else ("ConfigMap", flags.config_map)
        return None if self.target is None else strip_reference(self.target)


def _convert_to_snake(camel: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in camel)
