"""Changes: single operations on the cluster, of which faults, solutions, decoys and cheats consist."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Final, Self, final

import msgspec

from scenario_kit.model.authored.app import App, FlagStore
from scenario_kit.model.authored.check import Check
from scenario_kit.model.base import Object, Value, convert
from scenario_kit.model.kubernetes.difference import WrittenField
from scenario_kit.model.kubernetes.reference import Reference

#: The package of the operations, above the model because they also execute and simulate changes.
_OPERATIONS: Final = "scenario_kit.changes.operations"


class ChangeOperation(Value, frozen=True, kw_only=True):
    """The effect of a change, as far as it is known without a cluster.

    Abstract methods differ for all operations; the others have a default.
    """

    #: The operation's keyword in YAML, derived from the class name.
    keyword: ClassVar[str]
    #: Whether the body is a manifest.
    has_manifest: ClassVar[bool] = False
    #: Whether it names one object, by default the fault's target.
    has_target: ClassVar[bool] = False
    #: Keyword of the operation that undoes it with the same body; empty if there is none.
    inverse: ClassVar[str] = ""
    #: Whether it creates a Chaos Mesh experiment.
    injects_chaos: ClassVar[bool] = False
    #: Whether it undoes a fault of the scenario.
    removes_fault: ClassVar[bool] = False
    #: Whether it may create a new revision of its target.
    creates_revision: ClassVar[bool] = True
    #: Whether it creates an object that must not exist yet.
    creates: ClassVar[bool] = False
    #: Whether it only replaces pods, so that they read their configuration again.
    restarts: ClassVar[bool] = False
    #: Whether it rolls a workload back to its previous revision.
    rolls_back: ClassVar[bool] = False
    #: Whether it runs a command in a store, which no object shows.
    runs_command: ClassVar[bool] = False
    #: Whether it operates on nodes.
    on_nodes: ClassVar[bool] = False
    #: Whether it evicts pods.
    evicts: ClassVar[bool] = False
    #: Whether it deletes its target.
    deletes: ClassVar[bool] = False
    #: Whether it patches its target.
    patches: ClassVar[bool] = False
    #: Whether writing the former values undoes it.
    overwrites: ClassVar[bool] = False
    #: Whether the lab only reacts to the fields that it writes.
    only_fields: ClassVar[bool] = False
    #: Whether it interrupts its target.
    disturbs: ClassVar[bool] = False
    #: Whether it leaves state behind that a receipt can undo.
    stateful: ClassVar[bool] = True
    #: Whether the rendered objects after it are known.
    predictable: ClassVar[bool] = True
    #: Whether rendered objects show its effect.
    visible: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.keyword = cls.__name__[0].lower() + cls.__name__[1:]

    @classmethod
    def from_body(cls, body: Any) -> Self:
        """Parse the operation from the value of its keyword."""
        return convert(body, cls)

    @classmethod
    def invert(cls, body: Object, former: Object | None) -> Object | None:
        """Return the change, as JSON, that undoes this one.

        Args:
            body: the body of this change.
            former: its target as rendered before the change; None if the app does not have it.

        Returns:
            None if no change undoes it.

        Raises:
            AuthoringError: its patch cannot be inverted.
        """
        return {cls.inverse: body} if cls.inverse else None

    @property
    def body(self) -> Object:
        """The value of its keyword."""
        return self.to_json()

    @property
    def target(self) -> str | None:
        """What it names, as text: an object, or several nodes; None for created objects."""
        return None

    @property
    def ref(self) -> Reference | None:
        """The object that it names; None if there is none, or several nodes."""
        return None

    @property
    def manifest(self) -> Object | None:
        """The object that it creates or applies."""
        return None

    @property
    def experiment(self) -> Object | None:
        """The Chaos Mesh object that it creates, whose pods are selected at injection."""
        return None

    @property
    def resource(self) -> Object | None:
        """The object that it creates or applies unchanged."""
        return None if self.experiment is not None else self.manifest

    @property
    def words(self) -> Sequence[str]:
        """The command that it runs."""
        return ()

    @property
    def document(self) -> Any:
        """The patch that it sends: an RFC 6902 list, or a document to merge."""
        return None

    @property
    def merged(self) -> Mapping[str, Any] | None:
        """The document that it merges into its target."""
        return self.document if isinstance(self.document, Mapping) else None

    @property
    def merged_strategically(self) -> Mapping[str, Any] | None:
        """The document if it is a strategic merge patch."""
        return None

    @property
    def fault(self) -> str:
        """The fault of the scenario that it undoes."""
        return ""

    def about(self, flags: FlagStore | None) -> tuple[str, str] | None:
        """Return kind and name of the object that it concerns; None if unknown. ``flags`` are the app's."""
        if self.manifest:
            # Fault definitions under edit may contain anything here.
            named = self.manifest.get("metadata")
            return str(self.manifest.get("kind")), str(named.get("name") if isinstance(named, dict) else "")
        return None if self.ref is None else (self.ref.kind, self.ref.name)

    def name_client(self) -> str:
        """Return the client whose command it runs; empty if it runs none."""
        return ""

    def count_replicas(self) -> int:
        """Return the maximum number of pods that it requests, or 0."""
        return 0

    def list_rollouts(self, drop_old: bool) -> Iterable[tuple[str, bool]]:
        """Yield workloads whose pods it replaces, and whether old ones are deleted first (``drop_old`` if open)."""
        return ()

    def list_texts(self) -> Iterable[tuple[str, str]]:
        """Yield freely chosen texts that it writes to its target, each with its field."""
        return ()

    def check_command(self, app: App, where: str, *, simulated: bool) -> None:
        """Reject a command that the app does not define if its store is ``simulated``.

        Raises:
            AuthoringError: there is no such client or command.
        """

    @abstractmethod
    def outlasts(self, persistence: str) -> bool:
        """Return whether its effect outlasts a fault with this declared persistence."""

    @abstractmethod
    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        """Return the rendered objects after the change.

        Raises:
            NoChange: all objects stay the same.
            AuthoringError: the target does not exist, the created object exists, or the patch does not apply.
        """

    @abstractmethod
    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        """Yield written fields that a comparison of the simulated objects does not show."""


@cache
def list_operations() -> Mapping[str, type[ChangeOperation]]:
    """Return all operations by keyword."""
    found: Mapping[str, type[ChangeOperation]] = import_module(_OPERATIONS).find_operations()
    return found


def get_operation_type(change: object) -> type[ChangeOperation]:
    """Return the operation of a change in JSON or template form; the base class if there is none."""
    if not isinstance(change, Mapping):
        return ChangeOperation
    return next((found for key in change if (found := list_operations().get(key)) is not None), ChangeOperation)


class Until(Value, frozen=True, kw_only=True):
    """A check to await after the change."""

    check: Check
    within_seconds: int = 120


@final
class Change:
    """An operation, and a check to await after it. In YAML, the operation is the value of its keyword."""

    __slots__ = ("operation", "until")

    def __init__(self, operation: ChangeOperation, until: Until | None = None) -> None:
        self.operation: Final = operation
        self.until: Final = until

    @property
    def target(self) -> str | None:
        """What the operation names, as text."""
        return self.operation.target

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Change:
        """Parse a change.

        Raises:
            msgspec.ValidationError: it does not have exactly one known operation.
        """
        keys = [key for key in data if key != "until"]
        if len(keys) != 1 or keys[0] not in list_operations():
            raise msgspec.ValidationError(f"a change needs one of the operations {', '.join(list_operations())}")
        until = Until.from_json(data["until"]) if data.get("until") is not None else None
        return cls(list_operations()[keys[0]].from_body(data[keys[0]]), until)

    def to_json(self) -> Object:
        """Return this change as plain JSON types."""
        until = {} if self.until is None else {"until": self.until.to_json()}
        return {self.operation.keyword: self.operation.body, **until}

    def edit_manifest(self, edit: Callable[[Object], Object]) -> Change:
        """Return the change with an edited manifest, if it has one."""
        if self.operation.manifest is None:
            return self
        return Change(self.operation.from_body(edit(self.operation.manifest)), self.until)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and (self.operation, self.until) == (other.operation, other.until)

    def __hash__(self) -> int:
        return hash((self.operation, self.until))

    def __repr__(self) -> str:
        return f"Change({self.operation!r}, {self.until!r})"
