"""Entries of the catalogue under judgement: faults, apps and alert packs, each with what it yields when rendered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.alerts import Unread, WrittenRule, read_rules
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.simulation.place import Place
from scenario_kit.lint.simulation.stages import Simulation, WrittenObject, build_stage, list_written
from scenario_kit.load import Positions
from scenario_kit.model import AlertRule, App, Check, Fault, FaultType, Object
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render.apps.app import list_needs
from scenario_kit.render.objects.object_shape import find_misshapen
from scenario_kit.render.simulation.changes import is_whole

#: What the judged renderings are called: a template that lets these through lets a scenario's own names through.
SCENARIO, USE = "zq7-scenario", "zq7-use"


class Rendering(NamedTuple):
    """A fault at one target of one app; ``fault`` is None where it cannot be rendered there, for ``error``."""

    app: App
    objects: tuple[Object, ...]
    use: FaultUse
    fault: Fault | None
    error: AuthoringError | None = None

    def checks(self) -> Iterator[tuple[Place, Check]]:
        """Return the checks of the fault, each with its place in the file; none where there is no fault."""
        for part in ("effect", "undone"):
            for i, check in enumerate(getattr(self.fault, part, ())):
                yield (part, i), check


@dataclass(frozen=True, eq=False)
class FaultCase:
    """A ``fault.yaml``, rendered for one target of each app and for each use of the scenario beside which it lies."""

    path: Path
    fault: FaultType
    document: Object
    positions: Positions
    catalog: Catalog
    renderings: tuple[Rendering, ...] = ()
    kind: ClassVar = "Fault"

    @cached_property
    def stages(self) -> tuple[Simulation, ...]:
        """What the changes of each rendering do, and then each fix, solution and decoy."""
        found: list[Simulation] = list(self._stage_unrendered())
        for rendering in self.renderings:
            if (fault := rendering.fault) is None:
                continue
            broken = build_stage(("changes",), rendering.app, rendering.objects, fault.changes)
            found.append(broken)
            for part, changes in (
                *((("undo",), (c,)) for c in fault.undo),
                *((("entities",), e.fix) for e in fault.entities),
                *((("solutions",), s.changes) for s in fault.solutions),
                *((("decoys",), d.changes) for d in fault.decoys),
            ):
                if changes:
                    found.append(build_stage(part, rendering.app, broken.after, changes, breaks=False))
        return tuple(found)

    @cached_property
    def written(self) -> tuple[WrittenObject, ...]:
        """Every object that a stage creates or changes."""
        return tuple(one for stage in self.stages for one in list_written(stage))

    def _stage_unrendered(self) -> Iterator[Simulation]:
        """Stage a fault that fits nowhere in the catalogue's apps: what it creates, as it is written."""
        app = None if any(rendering.fault for rendering in self.renderings) else self._find_app()
        if app is None:
            return
        bodies = [
            c.get("create") or c.get("chaos") or c.get("apply") for c in self.fault.changes if isinstance(c, dict)
        ]
        yield Simulation(
            ("changes",), app, (), tuple(b for b in bodies if b is not None and is_whole(b) and not find_misshapen(b))
        )

    def _find_app(self) -> App | None:
        """Find an app that can be loaded; what is wrong with the others is told of them."""
        for name in self.catalog.apps():
            with suppress(AuthoringError):
                return self.catalog.app(name, self.catalog.versions(name)[0])
        return None


class AppVersion(NamedTuple):
    """An app in one version; ``objects`` is empty where its templates fail, for ``error``."""

    app: App
    objects: tuple[Object, ...]
    chosen: Object
    error: AuthoringError | None = None


@dataclass(frozen=True, eq=False)
class AppCase:
    """An ``app.yaml`` with every version rendered: with the defaults, and with each other value of each option."""

    path: Path
    name: str
    document: Object
    positions: Positions
    catalog: Catalog
    versions: tuple[AppVersion, ...] = ()
    kind: ClassVar = "App"

    @cached_property
    def stages(self) -> tuple[Simulation, ...]:
        """Each version from nothing."""
        return tuple(
            Simulation(("versions", i), v.app, (), v.objects) for i, v in enumerate(self.versions) if not v.error
        )

    @cached_property
    def written(self) -> tuple[WrittenObject, ...]:
        """Every object that some version creates."""
        return tuple(one for stage in self.stages for one in list_written(stage))

    def declared(self, stage: Simulation) -> tuple[str, ...]:
        """Return capabilities that the chosen value of an option asks for, by the ``x-requires`` of its schema."""
        version = self.versions[int(stage.place[1])]
        return tuple(need for needs in list_needs(version.app, version.chosen).values() for need in needs)

    @cached_property
    def templates(self) -> dict[Path, str]:
        """The files from which the objects come."""
        try:
            folder = self.catalog.templates(self.name)
        except AuthoringError:
            return {}
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path: path.read_text(encoding="utf-8", errors="replace") for path in files}


@dataclass(frozen=True)
class PackCase:
    """A file of alert rules."""

    path: Path
    name: str
    document: Object
    positions: Positions
    catalog: Catalog
    kind: ClassVar = "Pack"

    @cached_property
    def read(self) -> tuple[tuple[WrittenRule, AlertRule | Unread | None], ...]:
        """Every rule as it is written, with the alert that it means, or why it cannot be read."""
        return tuple(read_rules(self.name, self.document))

    def groups(self) -> list[tuple[Place, dict[str, Any]]]:
        """Return every rule as it is written, and where it stands."""
        return [(entry.place, entry.rule) for entry, _ in self.read]

    def alerts(self) -> Iterator[tuple[Place, dict[str, Any], AlertRule]]:
        """Return every alerting rule that can be read: where it stands, as it is written, and what it means."""
        for entry, known in self.read:
            if isinstance(known, AlertRule):
                yield entry.place, entry.rule, known

    @property
    def rules(self) -> tuple[AlertRule, ...]:
        """The alerting rules that can be read."""
        return tuple(known for _, _, known in self.alerts())
