"""The scenarios of a catalogue as they are published: what is authored, what proves it, and under which name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from scenario_kit.campaign.results.difficulty import measure_complexity
from scenario_kit.catalog import Catalog
from scenario_kit.catalog.evidence import read_evidence
from scenario_kit.catalog.families import FAMILIES
from scenario_kit.load import load_scenario
from scenario_kit.model import Runbook, Scenario
from scenario_kit.model.authored.scenario import LABELLED, GroundTruth
from scenario_kit.model.results.evidence import Evidence
from scenario_kit.publication.difficulty import StructuralFacts, count_facts
from scenario_kit.publication.hashed_name import is_hashed_name
from scenario_kit.render.scenarios.runbook import resolve


class CatalogueEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario. ``hashed`` is the name under which a held-out one goes out, empty for a public one.

    ``current`` says that the evidence is of this very version of it. ``families`` are titles, those of the labelled
    faults first; ``truth`` has generated names filled in.
    """

    path: Path
    scenario: Scenario
    evidence: Evidence | None
    current: bool
    families: tuple[str, ...]
    facts: StructuralFacts
    truth: GroundTruth
    hashed: str = ""

    @property
    def held_out(self) -> bool:
        """Whether its truth stays with its owner."""
        return bool(self.hashed)

    @property
    def published_name(self) -> str:
        """The name that may be read by anybody."""
        return self.hashed or self.scenario.name

    @property
    def tier(self) -> str:
        """What the evidence was gained on; empty without evidence."""
        return self.evidence.tier if self.evidence else ""


def read_entries(
    files: Iterable[Path], catalog: Catalog, hashed: Mapping[str, str] | None = None
) -> tuple[CatalogueEntry, ...]:
    """Read scenarios; ``hashed`` has the names under which those go out that are held out.

    Raises:
        AuthoringError: a scenario or its evidence cannot be read, or names what is not in the catalogue.
    """
    return hold_out([_read_entry(path, catalog) for path in files], hashed or {})


def hold_out(entries: Iterable[CatalogueEntry], hashed: Mapping[str, str]) -> tuple[CatalogueEntry, ...]:
    """Mark those that are held out, with the names under which they go out; a scenario that bears a hashed name is."""
    return tuple(
        msgspec.structs.replace(each, hashed=hashed[each.scenario.name]) if each.scenario.name in hashed else each
        for each in entries
    )


def _read_entry(path: Path, catalog: Catalog) -> CatalogueEntry:
    scenario = load_scenario(path).scenario
    runbook = resolve(scenario, catalog, "app", beside=path.parent)
    evidence = read_evidence(path)
    complexity = measure_complexity(runbook) if runbook.outcome == "Incident" else None
    return CatalogueEntry(
        path=path, scenario=scenario, evidence=evidence,
        current=evidence is not None and (evidence.digest, evidence.scenario) == (runbook.digest, scenario.name),
        families=_list_families(runbook, catalog, path), truth=runbook.ground_truth,
        facts=count_facts(scenario.spec, evidence, complexity),
        hashed=scenario.name if is_hashed_name(scenario.name) else "",
    )  # fmt: skip


def _list_families(runbook: Runbook, catalog: Catalog, path: Path) -> tuple[str, ...]:
    ordered = sorted(runbook.faults, key=lambda fault: fault.role not in LABELLED)
    families = [catalog.fault(fault.type, path).family for fault in ordered]
    return tuple(dict.fromkeys(FAMILIES.get(family, family) or "its own" for family in families))
