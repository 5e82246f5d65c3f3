"""A scenario with everything it refers to, as far as it could be found and rendered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.simulation.stages import Simulation, WrittenObject, build_stage, list_written_objects
from scenario_kit.load import Positions
from scenario_kit.model import AlertRule, App, Change, Fault, FaultType, Finding, Object, Reference, Scenario
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import make_reference
from scenario_kit.render.apps.placement import CLUSTER_KINDS

if TYPE_CHECKING:
    from scenario_kit.lint.similarity.index import ScenarioIndex
    from scenario_kit.lint.similarity.index_entry import IndexEntry


@cache_by_identity(maxsize=16)  # the app's objects are the same in many files
def _index_objects(objects: tuple[Object, ...], namespace: str) -> dict[Reference, Object]:
    return {make_reference(obj, namespace): obj for obj in objects}


@cache_by_identity(maxsize=16)
def list_groupless(objects: tuple[Object, ...], namespace: str) -> frozenset[Reference]:
    """Return references without groups to the objects of an app in this namespace."""
    return frozenset(make_reference(obj, namespace).groupless for obj in objects)


class PlacedProcedure(NamedTuple):
    """A list of changes in the file, with its place."""

    kind: str
    name: str
    place: Place
    changes: tuple[Change, ...]

    def list_changes(self) -> Iterator[tuple[Place, Change]]:
        """Yield the changes, each with its place."""
        for i, change in enumerate(self.changes):
            yield (*self.place, "changes", i), change


@dataclass(frozen=True, eq=False)
class LintContext:
    """A scenario file under check. What is None or missing could not be found; a rule reports it."""

    path: Path
    scenario: Scenario
    positions: Positions
    catalog: Catalog
    app: App | None = None
    objects: tuple[Object, ...] | None = None
    alerts: dict[str, AlertRule] | None = None
    types: dict[str, FaultType] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    unrendered: tuple[tuple[Place, Finding], ...] = ()
    #: Changes of faults, and of solutions and decoys after them, that fail on the rendered app.
    unbroken: tuple[tuple[Place, AuthoringError], ...] = ()
    unrepaired: tuple[tuple[Place, AuthoringError], ...] = ()
    #: Where the fault types stand that the scenario holds itself, in their order.
    held: tuple[Positions, ...] = ()
    #: Whether rules for drafts are off, because the collection demands it or the file is about to be merged.
    merged: bool = False
    #: The scenarios to compare with, once all files have been read.
    index: ScenarioIndex | None = None
    entry: IndexEntry | None = None
    kind: ClassVar = "Scenario"

    @cached_property
    def known(self) -> dict[Reference, Object]:
        """The app's objects by reference, with the symbolic namespace."""
        return _index_objects(self.objects or (), self.app.namespace if self.app else "")

    @cached_property
    def created(self) -> set[Reference]:
        """Objects that the faults create under known names."""
        return {
            make_reference(body, self.app.namespace if self.app else "")
            for f in self.faults.values()
            for c in f.changes
            if c.operation.creates and (body := c.operation.manifest)
        }

    @cached_property
    def _groups(self) -> dict[Reference, set[str]]:
        """The groups of known and created objects by reference without a group."""
        found: dict[Reference, set[str]] = {}
        for ref in (*self.known, *self.created):
            found.setdefault(ref.groupless, set()).add(ref.group)
        return found

    def exists(self, ref: Reference) -> bool:
        """Return whether a reference names an object of the app or one that a fault creates.

        References into other namespaces count as existing. A group may be omitted, but must be right if given.
        """
        if ref.kind in CLUSTER_KINDS:  # the cluster has some that the app does not define
            return True
        if ref.namespace not in ("app", *(self.app.namespaces if self.app else ())):
            return True
        groups = self._groups.get(ref.groupless, ())
        return bool(groups) and (not ref.group or ref.group in groups)

    def has_own_fault_type(self, fault_type: str) -> bool:
        """Return whether the scenario brings a fault type: the catalogue lacks it, or has another of that name."""
        return self.catalog.fault_path(fault_type, self.path).parent.parent == self.path.parent / "faults"

    def names(self, *kinds: str) -> list[Reference]:
        """Return references to the app's objects, of these kinds or of all."""
        bare = (ref.groupless for ref in self.known)
        return [ref for ref in bare if not kinds or ref.kind in kinds]

    def use(self, name: str) -> FaultUse | None:
        """Return the fault of that name."""
        return next((f for f in self.scenario.spec.faults if f.name == name), None)

    def entities(self, fault: str, *roles: str) -> tuple[Reference, ...]:
        """Return references to the objects that a rendered fault writes, in these roles."""
        rendered = self.faults.get(fault)
        return tuple(e.ref for e in rendered.entities if e.role in roles) if rendered else ()

    def has_generated_cause(self, fault: str) -> bool:
        """Return whether the name of the fault's cause is generated at injection."""
        rendered = self.faults.get(fault)
        return bool(rendered) and any(e.generated for e in rendered.causes) if rendered else False

    def procedures(self) -> Iterator[PlacedProcedure]:
        """Yield the file's solutions and decoys."""
        spec = self.scenario.spec
        for i, solution in enumerate(spec.solutions):
            yield PlacedProcedure("solution", solution.name, ("spec", "solutions", i), solution.changes)
        for i, decoy in enumerate(spec.decoys):
            yield PlacedProcedure("decoy", decoy.name, ("spec", "decoys", i), decoy.changes)

    def list_changes(self) -> Iterator[tuple[Place, Change]]:
        """Yield the changes of the file's solutions and decoys, each with its place."""
        for procedure in self.procedures():
            yield from procedure.list_changes()

    def list_rendered(self) -> Iterator[tuple[Place, FaultUse, Fault]]:
        """Yield the faults that could be rendered, each with its place and its use."""
        for i, use in enumerate(self.scenario.spec.faults):
            if use.name in self.faults:
                yield ("spec", "faults", i), use, self.faults[use.name]

    @cached_property
    def stages(self) -> tuple[Simulation, ...]:
        """The effect of the faults, one after the other, and then of each solution and decoy."""
        found: list[Simulation] = []
        if self.app is None or self.objects is None:
            return ()
        broken = self.objects
        for place, _, fault in self.list_rendered():
            found.append(build_stage((*place, "parameters"), self.app, broken, fault.changes))
            broken = found[-1].after
        for procedure in self.procedures():
            place = (*procedure.place, "changes")
            found.append(build_stage(place, self.app, broken, procedure.changes, breaks=False))
        return tuple(found)

    @cached_property
    def written(self) -> tuple[WrittenObject, ...]:
        """Every object that a simulation creates or changes."""
        return tuple(one for stage in self.stages for one in list_written_objects(stage))
