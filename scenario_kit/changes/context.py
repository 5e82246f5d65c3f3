"""The target environment of changes: cluster, namespaces of the app, and the trial's time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Object, Reference
from scenario_kit.ports import Cluster


@dataclass(frozen=True, slots=True)
class ChangeContext:
    """The target environment of changes: cluster, the app's real namespace, the app, and the trial's time.

    ``others`` are the real names of the app's further namespaces, by symbolic name; ``declared`` are foreign
    namespaces in which chaos may also act.
    """

    cluster: Cluster
    namespace: str
    app: App
    now: Callable[[], float]
    others: Mapping[str, str] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()

    @property
    def everywhere(self) -> tuple[str, ...]:
        """The real names of all namespaces of the app."""
        return (self.namespace, *self.others.values())

    @property
    def reach(self) -> frozenset[str]:
        """The namespaces in which chaos may act."""
        return self.declared | {*self.everywhere}

    def resolve(self, ref: Reference) -> Reference:
        """Return a reference of a change, with the real namespace filled in."""
        return ref.within(self.namespace, self.others)

    def get_existing(self, named: Reference) -> tuple[Reference, Object]:
        """Return the object that a change names.

        Raises:
            AuthoringError: it does not exist; a change on nothing would be a silent no-op.
        """
        ref = self.resolve(named)
        found = self.cluster.get(ref)
        if found is None:
            where = f"{named} does not exist in namespace {ref.namespace}"
            raise AuthoringError(where, fix="name an object of the app")
        return ref, found
