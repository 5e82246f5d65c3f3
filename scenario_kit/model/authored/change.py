"""Changes: single operations on the cluster. Faults, solutions, decoys and cheats are lists of them."""

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

#: Where the operations are, one module each: above the model, as they also send and simulate what they do.
_OPERATIONS: Final = "scenario_kit.changes.operations"


class ChangeOperation(Value, frozen=True, kw_only=True):
    """What a change does, and what can be asked of that without a cluster.

    What every operation has to answer is abstract; the rest says what holds for most.
    """

    #: The name of the operation in YAML, which is that of its class.
    keyword: ClassVar[str]
    #: Whether its body is the manifest of an object.
    has_manifest: ClassVar[bool] = False
    #: Whether it names one object, by default the target of its fault.
    has_target: ClassVar[bool] = False
    #: Keyword of the operation that undoes it with the same body; empty if there is none.
    inverse: ClassVar[str] = ""
    #: Whether it creates a Chaos Mesh experiment.
    injects_chaos: ClassVar[bool] = False
    #: Whether it undoes a fault of the scenario.
    removes_fault: ClassVar[bool] = False
    #: Whether it may create a new revision of its target.
    creates_revision: ClassVar[bool] = True
    #: Whether it creates an object that must not be there before.
    creates: ClassVar[bool] = False
    #: Whether it only replaces pods, so that they read again what they read at their start.
    restarts: ClassVar[bool] = False
    #: Whether it returns a workload to its previous revision.
    rolls_back: ClassVar[bool] = False
    #: Whether it runs a command in a store, of which no object tells.
    runs_command: ClassVar[bool] = False
    #: Whether it works on nodes.
    on_nodes: ClassVar[bool] = False
    #: Whether it evicts pods.
    evicts: ClassVar[bool] = False
    #: Whether it deletes its target.
    deletes: ClassVar[bool] = False
    #: Whether it patches its target.
    patches: ClassVar[bool] = False
    #: Whether writing the former values once more takes it back.
    overwrites: ClassVar[bool] = False
    #: Whether the lab acts on nothing but the fields that it writes.
    only_fields: ClassVar[bool] = False
    #: Whether it interrupts what its target does.
    disturbs: ClassVar[bool] = False
    #: Whether it leaves a state behind that a receipt takes back.
    stateful: ClassVar[bool] = True
    #: Whether the rendered objects are known once it is made.
    predictable: ClassVar[bool] = True
    #: Whether rendered objects show what it does.
    visible: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.keyword = cls.__name__[0].lower() + cls.__name__[1:]

    @classmethod
    def from_body(cls, body: Any) -> Self:
        """Return the operation with what stands below its key."""
        return convert(body, cls)

    @classmethod
    def invert(cls, body: Object, former: Object | None) -> Object | None:
        """Build the change, as JSON, that undoes this one.

        Args:
            body: the body of this change.
            former: its target as rendered, before the change; None if the app has no such object.

        Returns:
            None if no change undoes it.

        Raises:
            AuthoringError: its patch cannot be inverted.
        """
        return {cls.inverse: body} if cls.inverse else None

    @property
    def body(self) -> Object:
        """What stands below its key."""
        return self.to_json()

    @property
    def target(self) -> str | None:
        """The reference that it names, if it names one; created objects name themselves."""
        return None

    @property
    def ref(self) -> Reference | None:
        """What it names, as a value; None where that is nothing, or several nodes."""
        return None if self.target is None else Reference.parse(self.target)

    @property
    def manifest(self) -> Object | None:
        """The object that it creates or applies."""
        return None

    @property
    def experiment(self) -> Object | None:
        """The object of Chaos Mesh that it creates for pods which are found when the change is made."""
        return None

    @property
    def resource(self) -> Object | None:
        """The object that it creates or applies as it is."""
        return None if self.experiment is not None else self.manifest

    @property
    def document(self) -> Any:
        """The patch that it sends; an RFC 6902 list, or a document to be merged."""
        return None

    @property
    def merged(self) -> Mapping[str, Any] | None:
        """The document that it merges into its target."""
        return self.document if isinstance(self.document, Mapping) else None

    @property
    def merged_strategically(self) -> Mapping[str, Any] | None:
        """The document, where it is a strategic merge patch."""
        return None

    @property
    def fault(self) -> str:
        """The fault of the scenario that it takes back."""
        return ""

    def about(self, flags: FlagStore | None) -> tuple[str, str] | None:
        """Return kind and name of the object that it is about; None where it does not say so. ``flags``: the app's."""
        if self.manifest:
            # Definitions of faults may have anything there while they are being written.
            named = self.manifest.get("metadata")
            return str(self.manifest.get("kind")), str(named.get("name") if isinstance(named, dict) else "")
        return None if self.ref is None else (self.ref.kind, self.ref.name)

    def count_replicas(self) -> int:
        """Count the pods that it asks for at most; 0 where it says nothing of that."""
        return 0

    def list_rollouts(self, drop_old: bool) -> Iterable[tuple[str, bool]]:
        """List the workloads whose pods it replaces, and whether old ones go first (``drop_old`` where it is open)."""
        return ()

    def list_texts(self) -> Iterable[tuple[str, str]]:
        """List the texts of an author's own choice that it writes on its target, each with its field."""
        return ()

    def check_command(self, app: App, where: str, *, simulated: bool) -> None:
        """Refuse a command that the app's definition does not list, where its store is ``simulated``.

        Raises:
            AuthoringError: there is no such client or command.
        """

    @abstractmethod
    def outlasts(self, persistence: str) -> bool:
        """Return whether what it does stays where a fault is said to end in this way."""

    @abstractmethod
    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        """Return the rendered objects as they are once it is done; of others nothing is known.

        Raises:
            NoChange: every object would stay as it is.
            AuthoringError: its target does not exist, what it creates exists, or the patch does not apply.
        """

    @abstractmethod
    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        """List the fields that it writes, where a comparison of the simulated objects does not show them."""


@cache
def list_operations() -> Mapping[str, type[ChangeOperation]]:
    """List every operation by its keyword."""
    found: Mapping[str, type[ChangeOperation]] = import_module(_OPERATIONS).find_operations()
    return found


def get_operation_type(change: object) -> type[ChangeOperation]:
    """Return the operation that a change names, given as JSON or as a template; the base class if it names none."""
    if not isinstance(change, Mapping):
        return ChangeOperation
    return next((found for key in change if (found := list_operations().get(key)) is not None), ChangeOperation)


class Until(Value, frozen=True, kw_only=True):
    """Wait for a check after the change."""

    check: Check
    within_seconds: int = 120


@final
class Change:
    """An operation, and what to wait for after it. In YAML the operation stands below its key."""

    __slots__ = ("operation", "until")

    def __init__(self, operation: ChangeOperation, until: Until | None = None) -> None:
        self.operation: Final = operation
        self.until: Final = until

    @property
    def target(self) -> str | None:
        """The reference that the operation names, if it names one."""
        return self.operation.target

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Change:
        """Read the change that ``data`` describes.

        Raises:
            msgspec.ValidationError: it names no operation that there is, or not exactly one.
        """
        keys = [key for key in data if key != "until"]
        if len(keys) != 1 or keys[0] not in list_operations():
            raise msgspec.ValidationError(f"a change has one of the operations {', '.join(list_operations())}")
        until = Until.from_json(data["until"]) if data.get("until") is not None else None
        return cls(list_operations()[keys[0]].from_body(data[keys[0]]), until)

    def to_json(self) -> Object:
        """Return this change as plain JSON types."""
        until = {} if self.until is None else {"until": self.until.to_json()}
        return {self.operation.keyword: self.operation.body, **until}

    def edit_manifest(self, edit: Callable[[Object], Object]) -> Change:
        """Return the change with what ``edit`` makes of the object that it creates or applies, if it does."""
        if self.operation.manifest is None:
            return self
        return Change(self.operation.from_body(edit(self.operation.manifest)), self.until)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and (self.operation, self.until) == (other.operation, other.until)

    def __hash__(self) -> int:
        return hash((self.operation, self.until))

    def __repr__(self) -> str:
        return f"Change({self.operation!r}, {self.until!r})"
