"""The same trials on a real node and in a lab: deployed, quiet, broken, held, repaired, clean; several side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from scenario_kit.campaign import PLANS, PlannedTrial, plan_trials
from scenario_kit.campaign.planning.plans import count_users
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.campaign.trial_store import Campaign
from scenario_kit.catalog import Catalog
from scenario_kit.load import load_scenario
from scenario_kit.model import Object, Runbook, Scenario, TrialStep
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.ports import Cluster
from scenario_kit.render import resolve
from scenario_kit.trial import TrialStatus
from tools.realnode.comparison import Episode

PLAN: Final = PLANS["try"]
_POLL_SECONDS: Final = 1.0


class TrialSite(NamedTuple):
    """Where trials run: a cluster with an operator, on a clock, so many at once; ``check`` raises if it is broken."""

    name: str
    cluster: Cluster
    clock: ClockMode
    together: int
    seconds: float
    check: Callable[[], None]


class _Running(NamedTuple):
    scenario: Scenario
    campaign: Campaign
    planned: PlannedTrial
    ends_at: float


def run_trials(
    place: TrialSite, files: Sequence[Path], results_folder: Path, say: Callable[[str], None]
) -> dict[str, TrialResult]:
    """Run a trial of each scenario, and return the results by name; each is written at once.

    One that has not ended in time is given up, and says where it was.
    """
    results_folder.mkdir(parents=True, exist_ok=True)
    left, running, results = list(files), dict[str, _Running](), dict[str, TrialResult]()
    told: dict[str, str] = {}
    while left or running:
        place.check()
        while left and len(running) < place.together:
            begun = _begin(place, left.pop(0))
            running[begun.scenario.name] = begun
        for name, each in list(running.items()):
            found = each.campaign.find(each.planned)
            step = _describe(found)
            if told.get(name) != step:
                told[name] = step
                say(f"{place.name}: {name}: {step}")
            if _has_ended(found) or time.monotonic() > each.ends_at:
                trouble = "" if _has_ended(found) else f"it did not end within {place.seconds:.0f} s: {step}"
                results[name] = each.campaign.result(each.planned, found, trouble)
                (results_folder / f"{name}.{place.name}.json").write_bytes(results[name].to_bytes() + b"\n")
                each.campaign.remove(each.planned)
                del running[name]
        time.sleep(_POLL_SECONDS)
    return results


def select_episode(result: TrialResult) -> Episode | None:
    """Select the compared part of a trial, from injection to repair; None if it ended before."""
    repaired = next((s.started_at for s in result.steps if s.kind == "change" and s.outcome != "Skipped"), None)
    if result.history is None or result.injected_at is None or repaired is None:
        return None
    return Episode(result.injected_at, repaired, result.history)


def drop_decoys(steps: Sequence[TrialStep]) -> tuple[TrialStep, ...]:
    """Drop the decoys of a program, each of which is looked at for a quarter of an hour: the twin tries them in the
    catalogue.
    """
    kept, within = [], False
    for step in steps:
        if step.use == "Decoy" and step.kind == "change":
            within = True
        elif step.kind == "change":
            within = False
        if not within and not (step.use == "Decoy" or step.kind == "expectStillFiring"):
            kept.append(step)
    return tuple(kept)


def _begin(place: TrialSite, file: Path) -> _Running:
    scenario, catalog = load_scenario(file).scenario, Catalog()

    def render(namespace: str, load_percent: int) -> Runbook:
        users = count_users(scenario, load_percent)
        return resolve(scenario, catalog, namespace, users=users, beside=file.parent)

    sample = render("app", 100)
    planned = plan_trials(PLAN, sample, seed=1)[0]
    planned = msgspec.structs.replace(planned, steps=drop_decoys(planned.steps))
    campaign = Campaign(
        place.cluster, PLAN, scenario.name, sample.digest, sample.app.name, render, place.clock, identity="real-node"
    )
    campaign.begin(planned)
    return _Running(scenario, campaign, planned, time.monotonic() + place.seconds)


def _has_ended(trial: Object | None) -> bool:
    return bool(trial and (trial.get("status") or {}).get("outcome"))


def _describe(trial: Object | None) -> str:
    status = TrialStatus.from_json((trial or {}).get("status") or {})
    if status.outcome:
        found = "; ".join(f"{f.code} {f.message}" for f in status.findings)
        return f"{status.outcome}{': ' + found if found else ''}"
    step = status.steps[-1] if status.steps else None
    return f"{step.step} {step.outcome}" if step else "not begun"
