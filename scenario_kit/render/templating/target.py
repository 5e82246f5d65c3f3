"""Target of a fault."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from scenario_kit.model import Reference
from scenario_kit.model.kubernetes.reference import resolve_namespace


class TextValue:
    """A template value with fields that renders as ``str(value)``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FaultTarget(TextValue):
    """The target of a fault. Its string form is the reference; ``namespace`` is the real one."""

    ref: Reference
    namespace: str

    @property
    def kind(self) -> str:
        """Return its kind."""
        return self.ref.kind

    @property
    def name(self) -> str:
        """Return its name."""
        return self.ref.name

    @property
    def group(self) -> str:
        """Return its API group; empty if the reference has none."""
        return self.ref.group

    def __str__(self) -> str:
        return str(self.ref)


def resolve_target(ref: Reference, namespace: str, others: Collection[str] = ()) -> FaultTarget:
    """Resolve the target of a fault; ``others`` are the symbolic names of the app's additional namespaces."""
    return FaultTarget(ref, ref.within(namespace, {s: resolve_namespace(namespace, s) for s in others}).namespace)
