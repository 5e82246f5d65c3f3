"""Accept or refuse a Scenario, and resolve it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from operators.last_applied import find_lost_nulls
from operators.scenario.environment import Environment, Settings
from operators.scenario.plan import DesiredTrial, Refusal
from operators.scenario.resolution import resolve_scenario
from scenario_kit.campaign.interventions import programs
from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.judge.capabilities import find_unmet_needs, report_unmet_needs
from scenario_kit.judge.platform import find_platform_needs, report_platform_lacks
from scenario_kit.lint import drop_consequential
from scenario_kit.load import LocatedFinding
from scenario_kit.load.rules import build_finding, load_rules
from scenario_kit.load.yaml.document import format_place
from scenario_kit.model import Finding, Object, Position, Runbook, Scenario, Severity, TrialSpec, TrialStep
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.model.shortening import shorten_list

#: Selects virtual time for a live scenario: the incident is active at once, and time advances only on request.
CLOCK_ANNOTATION: Final = "scenariokit.io/clock"
#: Condition reason by finding code; any other code means an invalid spec.
_REASONS: Final = {
    "SK107": "UnknownApp",
    "SK108": "UnknownFault",
    "SK109": "InvalidParameters",
    "SK110": "UnknownTarget",
    "SK911": "CapabilityMissing",
}
#: Quiet period before a live incident on a wall clock; a validation waits for the full window.
_LIVE_QUIET_SECONDS: Final = 90
#: Maximum length of a condition's message.
_MAX_MESSAGE: Final = 1000


class ScenarioJudgement(NamedTuple):
    """The judgement of a Scenario's text: a refusal, or the scenario with its runbook. ``warnings`` do not block."""

    result: Refusal | tuple[Scenario, Runbook]
    warnings: tuple[Finding, ...] = ()

    @property
    def refusal(self) -> Refusal | None:
        """The refusal, if the scenario is refused."""
        return self.result if isinstance(self.result, Refusal) else None


class AcceptedScenario(NamedTuple):
    """The desired trial of an accepted Scenario, and its runbook."""

    desired: DesiredTrial
    runbook: Runbook


def accept(environment: Environment, obj: Object) -> AcceptedScenario | Refusal:
    """Accept or refuse a Scenario object.

    Raises:
        ClusterError: the API server does not answer.
    """
    judged = judge_scenario(environment.catalog, environment.settings, obj)
    if isinstance(judged.result, Refusal):
        return judged.result
    scenario, runbook = judged.result
    if lacks := find_missing_capabilities(environment, runbook, _choose_clock(environment.settings, obj)):
        return _build_refusal(lacks)
    desired = DesiredTrial(digest=runbook.digest, suspended=scenario.spec.suspend, outcome=runbook.outcome)
    return AcceptedScenario(desired, runbook)


def judge_scenario(catalog: Catalog, settings: Settings, obj: Object) -> ScenarioJudgement:
    """Judge a Scenario without calling the cluster; the ``Accepted`` condition and the webhook share this judgement."""
    if refusal := check_object(settings, obj):
        return ScenarioJudgement(refusal)
    found = resolve_scenario(catalog, obj)
    scenario, runbook = found.scenario, found.runbook
    warnings = tuple(f for f in found.findings if f.severity == Severity.WARNING)
    if scenario is None or runbook is None:
        return ScenarioJudgement(_build_refusal(found.errors), warnings)
    if not scenario.spec.suspend and not scenario.spec.brief.strip():
        at = Position(path="spec.brief", line=0, column=0)
        lacking = msgspec.structs.replace(build_finding("SK605", "the scenario has no brief"), position=at)
        return ScenarioJudgement(_build_refusal([lacking]), warnings)
    return ScenarioJudgement((scenario, runbook), warnings)


def check_object(settings: Settings, obj: Object) -> Refusal | None:
    """Return a refusal if a Scenario or Validation is in the wrong namespace, or incomplete."""
    return _check_namespace(settings, obj) or check_nulls(obj)


def check_nulls(obj: Object) -> Refusal | None:
    """Return a refusal if ``kubectl apply`` left out nulls, by which patches remove fields."""
    lost = [f"`{format_place(place)}`" for place in find_lost_nulls(obj)]
    if not lost:
        return None
    message = (
        f"{shorten_list(lost, 1)} is null in the file, which removes a field, and `kubectl apply` does not send nulls;"
        " apply it with: kubectl apply --server-side --force-conflicts -f …"
    )
    return Refusal("NullsNotSent", message)


def _check_namespace(settings: Settings, obj: Object) -> Refusal | None:
    """Return a refusal if the object is in a namespace that solvers can read."""
    namespace, management = obj["metadata"].get("namespace", ""), settings.management_namespace
    if namespace == management:
        return None
    message = (
        f"a solver could read the namespace '{namespace}', and the {obj['kind']} is the answer;"
        f" apply it in '{management}': kubectl apply -n {management} -f …"
    )
    return Refusal("NamespaceVisible", message)


def find_missing_capabilities(environment: Environment, runbook: Runbook, clock: ClockMode) -> list[Finding]:
    """List required capabilities and components that this environment lacks."""
    platform, known = environment.platform, list_capabilities(environment.catalog)
    lacks = find_unmet_needs(
        runbook.faults,
        runbook.app,
        known,
        lambda capability, argument: platform.offers(capability, argument, clock),
        runbook.requires,
    )
    needs = find_platform_needs(runbook, programs.build_live(runbook.outcome))
    return [
        *report_unmet_needs(lacks, platform.name),
        *report_platform_lacks(platform.check_platform(), needs, platform.name),
    ]


def _build_refusal(findings: Sequence[Finding]) -> Refusal:
    """Build a refusal from findings, without consequential ones."""
    shown = tuple(drop_consequential([LocatedFinding(finding) for finding in findings])) or tuple(findings)
    text = "; ".join(describe_finding(finding) for finding in shown)
    return Refusal(_REASONS.get(shown[0].code, "Invalid"), text[:_MAX_MESSAGE], shown)


def describe_finding(finding: Finding) -> str:
    """Describe a finding in one line: code, field, what is wrong, the fix, and the page that explains it."""
    field = f" {finding.position}" if finding.position and not finding.position.line else ""
    fix = f" ({finding.fix})" if finding.fix else ""
    return f"{finding.code}{field}: {finding.message}{fix} [{load_rules()[finding.code].page}]"


def _choose_clock(settings: Settings, scenario: Object) -> ClockMode:
    requested = (scenario["metadata"].get("annotations") or {}).get(CLOCK_ANNOTATION)
    return "Virtual" if (requested or settings.clock) == "Virtual" else "Wall"


def build_live_spec(environment: Environment, scenario: Object, runbook: Runbook) -> TrialSpec:
    """Build the trial of a live Scenario, on the clock of its annotation or the operator's default clock."""
    clock = _choose_clock(environment.settings, scenario)
    steps = programs.build_live(runbook.outcome)
    if clock == "Wall":
        steps = tuple(
            TrialStep(kind="expectQuiet", seconds=_LIVE_QUIET_SECONDS) if s.kind == "expectQuiet" else s for s in steps
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
