"""Accept or refuse a Scenario, and resolve it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from operators.scenario.environment import Environment
from operators.scenario.plan import DesiredTrial, Refusal
from operators.scenario.resolution import resolve_scenario
from scenario_kit.campaign.interventions import programs
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.errors import AuthoringError
from scenario_kit.judge.capabilities import find_lacks, report_lacks
from scenario_kit.model import Finding, Object, Runbook, TrialSpec, TrialStep
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.render.faults.chaos_schedule import require_wall_clock

#: Runs one live scenario in virtual time: the incident is present at once, and time moves only when it is advanced.
CLOCK_ANNOTATION: Final = "scenariokit.io/clock"
#: Condition reason by finding code; any other code means an invalid spec.
_REASONS: Final = {
    "SK107": "UnknownApp",
    "SK108": "UnknownFault",
    "SK109": "InvalidParameters",
    "SK110": "UnknownTarget",
    "SK911": "CapabilityMissing",
}
#: Quiet period in seconds before a live incident on a wall clock; a validation waits for the full window.
_LIVE_QUIET: Final = 90


def accept(environment: Environment, obj: Object) -> tuple[Refusal | None, DesiredTrial | None, Runbook | None]:
    """Return the refusal of a Scenario object, or the desired trial and its runbook."""
    namespace = obj["metadata"]["namespace"]
    management = environment.settings.management_namespace
    if namespace != management:
        message = (
            f"a solver could read the namespace '{namespace}', and the Scenario is the answer;"
            f" apply it in '{management}': kubectl apply -n {management} -f …"
        )
        return Refusal("NamespaceVisible", message), None, None
    found = resolve_scenario(environment.catalog, obj)
    if found.scenario is None or found.runbook is None:
        return _build_refusal(found.errors), None, None
    runbook, clock = found.runbook, _choose_clock(environment, obj)
    if lacks := find_missing_capabilities(environment, runbook, clock):
        return _build_refusal(lacks), None, None
    try:
        require_wall_clock(runbook.faults, clock)
    except AuthoringError as problem:
        return _build_refusal(problem.findings) if problem.findings else Refusal("Invalid", problem.message), None, None
    desired = DesiredTrial(digest=runbook.digest, suspended=found.scenario.spec.suspend, outcome=runbook.outcome)
    return None, desired, runbook


def find_missing_capabilities(environment: Environment, runbook: Runbook, clock: ClockMode) -> list[Finding]:
    """List required capabilities that this environment lacks; the scenario is not at fault."""
    grounds, known = environment.grounds, list_capabilities(environment.catalog)
    lacks = find_lacks(
        runbook.faults,
        runbook.app,
        known,
        lambda each, argument: grounds.offers(each, argument, clock),
        runbook.requires,
    )
    return report_lacks(lacks, grounds.name)


def _build_refusal(findings: Sequence[Finding]) -> Refusal:
    first = findings[0]
    text = "; ".join(f"{f.code}: {f.message}" + (f" ({f.fix})" if f.fix else "") for f in findings)
    return Refusal(_REASONS.get(first.code, "Invalid"), text[:1000])


def _choose_clock(environment: Environment, scenario: Object) -> ClockMode:
    asked = (scenario["metadata"].get("annotations") or {}).get(CLOCK_ANNOTATION)
    return "Virtual" if (asked or environment.settings.clock) == "Virtual" else "Wall"


def build_live_spec(environment: Environment, scenario: Object, runbook: Runbook) -> TrialSpec:
    """Build the trial of a live Scenario, on the clock that its annotation selects, else on the operator's."""
    clock = _choose_clock(environment, scenario)
    steps = programs.build_live(runbook.outcome)
    if clock == "Wall":
        steps = tuple(
            TrialStep(kind="expectQuiet", seconds=_LIVE_QUIET) if s.kind == "expectQuiet" else s for s in steps
        )
    return TrialSpec(
        scenario=scenario["metadata"]["name"],
        digest=runbook.digest,
        plan="live",
        clock=clock,
        namespace=runbook.namespace,
        steps=steps,
        resolved=runbook.pack(),
    )
