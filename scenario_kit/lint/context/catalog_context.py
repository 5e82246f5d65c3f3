"""Entries of the catalogue under check: faults, apps and alert packs, each with its renderings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.alerts import InvalidRule, WrittenRule, read_rules
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.simulation.stages import Simulation, WrittenObject, build_stage, list_written_objects
from scenario_kit.load import Positions
from scenario_kit.model import AlertRule, App, Check, Fault, FaultType, Object
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.json_document import Place
from scenario_kit.render.apps.app import list_needs
from scenario_kit.render.objects.object_shape import find_misshapen
from scenario_kit.render.simulation.changes import is_whole

#: Names in renderings; a template that copies these into objects also copies a scenario's own names.
SCENARIO, USE = "zq7-scenario", "zq7-use"


class Rendering(NamedTuple):
    """A fault rendered for one target of one app; ``fault`` is None if that fails with ``error``."""

    app: App
    objects: tuple[Object, ...]
    use: FaultUse
    fault: Fault | None
    error: AuthoringError | None = None

    def checks(self) -> Iterator[tuple[Place, Check]]:
        """Yield the checks of the fault, each with its place in the file."""
        for part in ("effect", "undone"):
            for i, check in enumerate(getattr(self.fault, part, ())):
                yield (part, i), check


@dataclass(frozen=True, eq=False)
class FaultCase:
    """A ``fault.yaml``, rendered for one target in each app and for each use in the scenario beside it."""

    path: Path
    fault: FaultType
    document: Object
    positions: Positions
    catalog: Catalog
    renderings: tuple[Rendering, ...] = ()
    kind: ClassVar = "Fault"

    def list_rendered(self) -> Iterator[tuple[Rendering, Fault]]:
        """Yield the renderings that succeeded, each with its fault."""
        for rendering in self.renderings:
            if rendering.fault is not None:
                yield rendering, rendering.fault

    @cached_property
    def stages(self) -> tuple[Simulation, ...]:
        """The effect of the changes of each rendering, and then of each fix, solution and decoy."""
        found: list[Simulation] = list(self._stage_unrendered())
        for rendering, fault in self.list_rendered():
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
        """Every object that a simulation creates or changes."""
        return tuple(one for stage in self.stages for one in list_written_objects(stage))

    def _stage_unrendered(self) -> Iterator[Simulation]:
        """Simulate a fault that fits no app of the catalogue: only what it creates literally."""
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
        """Return the first app that can be loaded; the others have findings of their own."""
        for name in self.catalog.apps():
            with suppress(AuthoringError):
                return self.catalog.app(name, self.catalog.versions(name)[0])
        return None


class AppVersion(NamedTuple):
    """An app in one version with one choice of options; ``objects`` is empty if rendering fails with ``error``.

    ``documents`` are those of its manifests where these are not the objects of an app.
    """

    app: App
    objects: tuple[Object, ...]
    chosen: Object
    error: AuthoringError | None = None
    documents: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class AppCase:
    """An ``app.yaml`` with every version rendered: with the defaults, and with every other value of each option."""

    path: Path
    name: str
    document: Object
    positions: Positions
    catalog: Catalog
    versions: tuple[AppVersion, ...] = ()
    kind: ClassVar = "App"

    @cached_property
    def stages(self) -> tuple[Simulation, ...]:
        """Each version, deployed into an empty cluster."""
        return tuple(
            Simulation(("versions", i), v.app, (), v.objects) for i, v in enumerate(self.versions) if not v.error
        )

    @cached_property
    def written(self) -> tuple[WrittenObject, ...]:
        """Every object that some version creates."""
        return tuple(one for stage in self.stages for one in list_written_objects(stage))

    def declared(self, stage: Simulation) -> tuple[str, ...]:
        """Return the capabilities that the chosen options need, by ``x-requires`` of the options' schemas."""
        version = self.versions[int(stage.place[1])]
        return tuple(need for needs in list_needs(version.app, version.chosen).values() for need in needs)

    @cached_property
    def templates(self) -> dict[Path, str]:
        """The app's template files."""
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
    def read(self) -> tuple[tuple[WrittenRule, AlertRule | InvalidRule | None], ...]:
        """Every rule as written, with the alert it defines, or the reason why it cannot be used."""
        return tuple(read_rules(self.name, self.document))

    def groups(self) -> list[tuple[Place, dict[str, Any]]]:
        """Return every rule as written, with its place."""
        return [(entry.place, entry.rule) for entry, _ in self.read]

    def alerts(self) -> Iterator[tuple[Place, dict[str, Any], AlertRule]]:
        """Yield every valid alerting rule: its place, as written, and parsed."""
        for entry, known in self.read:
            if isinstance(known, AlertRule):
                yield entry.place, entry.rule, known

    @property
    def rules(self) -> tuple[AlertRule, ...]:
        """The valid alerting rules."""
        return tuple(known for _, _, known in self.alerts())
