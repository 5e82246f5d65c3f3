"""Catalogue entries for publication: scenario, evidence and published name."""

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
    """One scenario. ``hashed`` is the published name of a held-out scenario, empty for a public one.

    ``current`` means that the evidence is of this version of the scenario. ``families`` are titles, those of labelled
    faults first; generated names in ``truth`` are filled in.
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
        """Whether the truth is not published."""
        return bool(self.hashed)

    @property
    def published_name(self) -> str:
        """The public name."""
        return self.hashed or self.scenario.name

    @property
    def tier(self) -> str:
        """The evidence tier; empty without evidence."""
        return self.evidence.tier if self.evidence else ""


def read_entries(
    files: Iterable[Path], catalog: Catalog, hashed: Mapping[str, str] | None = None
) -> tuple[CatalogueEntry, ...]:
    """Read scenarios; ``hashed`` maps held-out scenarios to their published names.

    Raises:
        AuthoringError: a scenario or its evidence is invalid, or names something missing from the catalogue.
    """
    return hold_out([_read_entry(path, catalog) for path in files], hashed or {})


def hold_out(entries: Iterable[CatalogueEntry], hashed: Mapping[str, str]) -> tuple[CatalogueEntry, ...]:
    """Mark the held-out entries with their published names."""
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
