"""What a fault is aimed at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from scenario_kit.model import Reference
from scenario_kit.model.kubernetes.reference import resolve_namespace


class TextValue:
    """A value of templates that has fields; where text is asked for, it is what ``str`` says."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FaultTarget(TextValue):
    """What a fault is aimed at. As text it is the reference; ``namespace`` is the real one."""

    ref: Reference
    namespace: str

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.ref.kind

    @property
    def name(self) -> str:
        """Its name."""
        return self.ref.name

    @property
    def group(self) -> str:
        """Its API group, empty where the reference does not say one."""
        return self.ref.group

    def __str__(self) -> str:
        return str(self.ref)


def parse_target(text: str, namespace: str, others: Collection[str] = ()) -> FaultTarget:
    """Parse the target that a scenario names; ``others`` are the symbolic names of further namespaces of the app.

    Raises:
        ValueError: it is not a reference.
    """
    ref = Reference.parse(text)
    return FaultTarget(ref, ref.within(namespace, {s: resolve_namespace(namespace, s) for s in others}).namespace)
