"""Explains missing alerts and recoveries from the catalogue and from recorded reasons."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.model import App, Component, FaultType
from scenario_kit.model.kubernetes.reference import find_named
from scenario_kit.model.results.matrix import MatrixRow
from scenario_kit.render.faults.applicability import find_component
from tools.matrix.pairs import list_objects_for

WRITTEN = Path(__file__).parent / "reasons.yaml"


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A recorded reason, and the rows to which it applies."""

    fault: str
    because: str
    of: Literal["Silence", "Recovery"] = "Silence"
    target: str = "*"
    app: str = "*"

    def holds(self, row: MatrixRow) -> bool:
        """Return whether it applies to a row."""
        return all(
            fnmatchcase(value, pattern)
            for value, pattern in ((row.fault, self.fault), (row.target, self.target), (row.app, self.app))
        )


def read_reasons() -> list[Written]:
    """Read the recorded reasons."""
    return msgspec.convert(yaml.safe_load(WRITTEN.read_text()), list[Written])


def explain_silence(row: MatrixRow, catalog: Catalog, known: Sequence[Written]) -> str:
    """Return why a row has no alert; empty if it has some or the reason is unknown."""
    if row.outcome == "Lacking":
        return f"not tried: {row.reported}"
    if row.outcome == "NoEffect":
        return f"no effect: {row.reported}"
    if row.outcome == "Infra":
        return f"not judged: {row.reported}"
    if row.alerts:
        return ""
    found = next((r.because for r in known if r.of == "Silence" and r.holds(row)), "")
    return found or explain_by_catalog(
        catalog.fault(row.fault), catalog.app(row.app, row.version), _find_hit_component(row, catalog)
    )


def explain_persistence(row: MatrixRow, catalog: Catalog, known: Sequence[Written]) -> str:
    """Return why a row did not recover; empty if it did or the reason is unknown."""
    if row.outcome != "Ran" or row.recovered:
        return ""
    if found := next((r.because for r in known if r.of == "Recovery" and r.holds(row)), ""):
        return found
    hit = _find_hit_component(row, catalog)
    lasting = catalog.app(row.app, row.version).outlasting(hit.name) if hit is not None else ()
    reasons = "; ".join(dict.fromkeys(because for _, because in lasting))
    names = ", ".join(component.name for component, _ in lasting)
    return f"{reasons}: whatever broke {hit.name}, {names} must be restarted afterwards" if hit and lasting else ""


def explain_by_catalog(fault_type: FaultType, app: App, hit: Component | None) -> str:
    """Return the catalogue's explanation for missing alerts; empty if alerts would be expected."""
    if fault_type.persistence in ("OneShot", "Expires", "SelfHeals"):
        return "it ends by itself before any rule fires"
    if not fault_type.symptoms:
        return "this fault type declares no alerts: no rule of the pack covers what it changes"
    if hit is None:
        return ""
    if hit.role == "Platform":
        return f"{hit.name} is not part of the app: no user request passes through it"
    if hit.role == "Load":
        return f"{hit.name} generates the load: rules exclude it"
    calls = [c for c in app.calls if c.callee == hit.name]
    if not calls and hit.name != app.entry:
        return f"{hit.name} has no callers"
    if calls and all(c.mode == "Swallowed" for c in calls):
        return f"the callers of {hit.name} swallow its failures: {', '.join(sorted({c.caller for c in calls}))}"
    return ""


def _find_hit_component(row: MatrixRow, catalog: Catalog) -> Component | None:
    app = catalog.app(row.app, row.version)
    objects = list_objects_for(catalog, app, row.fault)
    found = find_named(objects, *row.target.bare)
    return None if found is None else find_component(app, objects, found)
