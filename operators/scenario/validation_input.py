"""Resolve the scenario and planned trials of a Validation, or refuse it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from operators.scenario.admission import check_nulls, find_missing_capabilities
from operators.scenario.environment import Environment
from operators.scenario.plan import Refusal
from operators.scenario.resolution import list_findings, resolve_scenario
from scenario_kit.campaign import PlannedTrial, plan_trials
from scenario_kit.campaign.planning.plans import Plan, Resolve, count_users
from scenario_kit.campaign.planning.spec import ValidationSpec, parse_validation_spec
from scenario_kit.campaign.results.incident import describe_incident, read_titles
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.model import Finding, Object, Reference, Runbook, Scenario
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.incident import Incident
from scenario_kit.render import resolve

_FORMER: Final = (
    "`embedded.faults` is now `embedded.spec.faultTypes`; delete this Validation and create it again, as"
    " `scenario-kit verify --cluster` does"
)


def _refuse_resolution(namespace: str, load_percent: int) -> Runbook:
    raise AuthoringError(f"nothing is resolved for {namespace} at {load_percent} %")


@dataclass(frozen=True)
class ValidationInput:
    """A scenario under validation. ``sample`` is the resolved scenario; without it, ``static`` has the reasons."""

    name: str
    spec: ValidationSpec
    plan: Plan
    static: tuple[Finding, ...]
    sample: Runbook | None = None
    resolve: Resolve = _refuse_resolution
    planned: tuple[PlannedTrial, ...] = ()
    incident: Incident | None = None


def resolve_validation(environment: Environment, obj: Object) -> Refusal | ValidationInput:
    """Resolve a Validation object, or refuse it.

    Raises:
        ClusterError: the scenario cannot be read; retry later.
    """
    try:
        spec = parse_validation_spec(obj["spec"])
        plan = spec.followed
    except UsageError as error:
        return Refusal("InvalidPlan", f"{error.message} ({error.fix})")
    stored = _resolve_stored(environment, obj, spec)
    if isinstance(stored, Refusal):
        return stored
    name = stored["metadata"]["name"]
    found = resolve_scenario(environment.catalog, stored)
    case = ValidationInput(name, spec, plan, found.findings)
    if found.scenario is None or found.runbook is None:
        return case
    try:
        return _complete_case(environment, case, found.scenario)
    except AuthoringError as error:
        return replace(case, static=list_findings(error))


def _resolve_stored(environment: Environment, obj: Object, spec: ValidationSpec) -> Refusal | Object:
    if not spec.scenario:
        embedded: Object = obj["spec"]["embedded"]
        if "faults" in embedded:  # the format of an earlier version (docs/crd-versions.md)
            return Refusal("FormerField", _FORMER)
        return {"metadata": {"name": embedded["name"]}, "spec": embedded["spec"]}
    namespace = obj["metadata"]["namespace"]
    found = environment.cluster.get(Reference("Scenario", spec.scenario, namespace, GROUP))
    if found is None or is_terminating(found):
        message = (
            f"there is no Scenario '{spec.scenario}' in '{namespace}'; apply it, with spec.suspend to only store it"
        )
        return Refusal("ScenarioNotFound", message)
    return check_nulls(found) or found


def _complete_case(environment: Environment, case: ValidationInput, scenario: Scenario) -> ValidationInput:
    """Add the planned trials to a case, unless this environment lacks a required capability."""
    catalog = environment.catalog

    def resolved(namespace: str, load_percent: int) -> Runbook:
        return resolve(scenario, catalog, namespace, users=count_users(scenario, load_percent))

    sample, clock = resolved("app", 100), environment.platform.campaign_clock
    if lacks := find_missing_capabilities(environment, sample, clock):
        return replace(case, static=(*case.static, *lacks))
    planned = tuple(plan_trials(case.plan, sample, case.spec.seed))
    incident = describe_incident(scenario, sample, read_titles(scenario, catalog))
    return replace(case, sample=sample, resolve=resolved, planned=planned, incident=incident)
