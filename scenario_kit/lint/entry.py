"""Entries of the catalogue under judgement: faults, apps and alert packs, each with what it yields when rendered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.case import Place
from scenario_kit.lint.stage import Stage, staged
from scenario_kit.load import Positions
from scenario_kit.model import AlertRule, App, Fault, FaultType, Object
from scenario_kit.model.scenario import FaultUse

#: What the judged renderings are called: a template that lets these through lets a scenario's own names through.
SCENARIO, USE = "zq7-scenario", "zq7-use"


class Rendering(NamedTuple):
    """A fault at one target of one app; ``fault`` is None where it cannot be rendered there, for ``error``."""

    app: App
    objects: tuple[Object, ...]
    use: FaultUse
    fault: Fault | None
    error: AuthoringError | None = None


@dataclass(frozen=True)
class FaultCase:
    """A ``fault.yaml``, rendered for one target of each app and for each use of the scenario beside which it lies."""

    path: Path
    fault: FaultType
    document: Object
    positions: Positions
    catalog: Catalog
    renderings: tuple[Rendering, ...] = ()
    kind: ClassVar = "Fault"

    @property
    def beside(self) -> bool:
        """Whether it lies beside a scenario, and not in a catalogue."""
        return self.path.resolve().parent.parent.parent.name != "catalog"

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """What the changes of each rendering do, and then each fix, solution and decoy."""
        found: list[Stage] = []
        for rendering in self.renderings:
            if (fault := rendering.fault) is None:
                continue
            broken = staged(("changes",), rendering.app, rendering.objects, fault.changes)
            found.append(broken)
            for part, changes in (
                *((("undo",), (c,)) for c in fault.undo),
                *((("entities",), e.fix) for e in fault.entities),
                *((("solutions",), s.changes) for s in fault.solutions),
                *((("decoys",), d.changes) for d in fault.decoys),
            ):
                if changes:
                    found.append(staged(part, rendering.app, broken.after, changes, breaks=False))
        return tuple(found)


class Version(NamedTuple):
    """An app in one version; ``objects`` is empty where its templates fail, for ``error``."""

    app: App
    objects: tuple[Object, ...]
    error: AuthoringError | None = None


@dataclass(frozen=True)
class AppCase:
    """An ``app.yaml`` with every version rendered: with the defaults, and with each other value of each option."""

    path: Path
    name: str
    document: Object
    positions: Positions
    catalog: Catalog
    versions: tuple[Version, ...] = ()
    kind: ClassVar = "App"

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """Each version from nothing."""
        return tuple(Stage((), v.app, (), v.objects) for v in self.versions if v.error is None)

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
    """A file of alert rules. ``rules`` is empty where one of them cannot be read, for ``error``."""

    path: Path
    name: str
    document: Object
    positions: Positions
    catalog: Catalog
    rules: tuple[AlertRule, ...] = ()
    error: AuthoringError | None = None
    kind: ClassVar = "Pack"

    def groups(self) -> list[tuple[Place, dict[str, Any]]]:
        """Every rule as it is written, and where it stands."""
        return [
            (("groups", i, "rules", j), rule)
            for i, group in enumerate(self.document.get("groups") or ())
            for j, rule in enumerate(group.get("rules") or ())
        ]
