"""Trials in a lab without a command around them, and the catalogue of their scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scenario_kit.campaign import Campaign, Plan, PlannedTrial, run
from scenario_kit.campaign.planning.plans import count_users
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.catalog import Catalog
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab.host.state import LabState
from scenario_kit.model import Runbook, Scenario
from scenario_kit.render import resolve
from scenario_kit.trial import TrialStatus


class TrialBench:
    """Runs trials in a lab, in virtual time."""

    def __init__(self, lab: str, catalog: Catalog) -> None:
        self._lab = LabState.load(lab)
        self._cluster = KubeCluster(kubeconfig=Path(self._lab.kubeconfig))
        self._catalog = catalog

    def resolve(self, scenario: Scenario, namespace: str, load_percent: int, *, beside: Path | None = None) -> Runbook:
        """Resolve a scenario under a share of its load; its own fault types are in the folder ``beside``."""
        users = count_users(scenario, load_percent)
        return resolve(scenario, self._catalog, namespace, users=users, beside=beside)

    def run(
        self, planned: Sequence[PlannedTrial], plan: Plan, scenario: Scenario, unique: str, *,
        beside: Path | None = None, parallel: int = 1,
    ) -> list[TrialResult]:  # fmt: skip
        """Run trials of a scenario; ``unique`` tells them from those of other versions of it."""
        resolved = partial(self.resolve, scenario, beside=beside)
        app = scenario.spec.app.name
        return run(
            planned,
            Campaign(self._cluster, plan, scenario.name, unique, app, resolved),
            parallel=parallel,
            health=lambda: [str(part) for part in LabState.load(self._lab.name).dead_parts()],
            progress=_show_nothing,
        )


def _show_nothing(planned: PlannedTrial, name: str, status: TrialStatus) -> None:
    """Report no progress."""
