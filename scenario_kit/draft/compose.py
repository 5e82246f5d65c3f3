"""Build the scenario for an author's answers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.draft.alerts import predict_alerts
from scenario_kit.draft.answers import LONGEST_NAME, Answers, name_for
from scenario_kit.draft.document import Draft, format_scenario
from scenario_kit.draft.matrix_alerts import find_row, list_warnings, promise_alerts
from scenario_kit.draft.probe_timeouts import list_cautions
from scenario_kit.draft.sections import DeployedApp, build_quiet_spec, build_spec
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.model import App, FaultType
from scenario_kit.model.authored.scenario import DEFAULT_USERS, AlertExpectation
from scenario_kit.render import render_catalog_app, resolve_options, select_options
from scenario_kit.render.apps.namespaces import locate_components
from scenario_kit.render.faults.applicability import Offer, find_affected_component, offer
from scenario_kit.render.faults.modelled_fields import find_unmodelled
from scenario_kit.render.scenarios.restart_after_repair import complete_fault

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def draft(answers: Answers, catalog: Catalog) -> Draft:
    """Draft a complete scenario.

    Raises:
        AuthoringError: the fault does not fit the target, or has no effect with these parameters.
        UsageError: the name is not valid in Kubernetes.
    """
    app = catalog.app(answers.app, answers.version)
    name = check_name(answers)
    target = answers.target
    if target is None:
        spec = build_quiet_spec(answers, app)
        return Draft(name, format_scenario(name, spec), None, (), spec=spec)
    fault_type = catalog.fault(answers.fault)
    if not answers.outcome and fault_type.persistence == "Expires":
        answers = replace(answers, outcome="Benign")  # it ends before it could be investigated
    deployed = _deploy(answers, app, fault_type, catalog)
    made = offer(
        fault_type, deployed.app, deployed.objects, target, answers.parameters,
        name=derive_fault_name(answers), scenario=name,
    )  # fmt: skip
    made = replace(made, fault=complete_fault(made.fault, deployed.app, deployed.objects))
    component = find_affected_component(deployed.app, deployed.objects, target, made.fault)
    modelled = not find_unmodelled(made.fault.changes, deployed.app, deployed.objects, deployed.app.namespace)
    row = None
    if _is_usual(answers, deployed, fault_type, made):
        row = find_row(catalog.matrix(deployed.app, fault_type.name), fault_type.name, made.fault.target)
    alerts: tuple[AlertExpectation, ...] = ()
    if modelled:
        packs = answers.packs or ("default",)
        rules = {rule.name: rule for pack in packs for rule in catalog.alert_pack(pack)}
        alerts = predict_alerts(made.symptoms, made.fault, deployed.app, component, rules)
    alerts = _choose_expected(answers, alerts if row is None else promise_alerts(alerts, row))
    spec = build_spec(answers, deployed, fault_type, made, alerts, component)
    text = format_scenario(name, spec, row, modelled=modelled)
    warnings = () if row is None or answers.outcome in ("Benign", "NoIncident") else list_warnings(row)
    return Draft(name, text, made, alerts, (*list_cautions(made.fault, deployed.objects), *warnings), spec)


def _deploy(answers: Answers, app: App, fault_type: FaultType, catalog: Catalog) -> DeployedApp:
    """Render the app with the options that the fault needs."""
    options = select_options(app, fault_type)
    values = resolve_options(app, options, answers.profile)
    objects = render_catalog_app(app, catalog, values, answers.users or DEFAULT_USERS)
    return DeployedApp(locate_components(app, objects, app.namespace), options, objects)


def _is_usual(answers: Answers, deployed: DeployedApp, fault_type: FaultType, made: Offer) -> bool:
    """Return whether alert packs and parameters are those with which the matrix tries faults."""
    if answers.packs or answers.target is None:
        return False
    if not answers.parameters:
        return True
    try:
        return made.parameters == offer(fault_type, deployed.app, deployed.objects, answers.target).parameters
    except AuthoringError:  # some parameters have no default
        return False


def check_name(answers: Answers) -> str:
    """Return the scenario's name, given or derived.

    Raises:
        UsageError: the name is not valid in Kubernetes.
    """
    name = answers.name or name_for(answers)
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise UsageError(
            f"'{name}' cannot be the name of a scenario",
            fix=f"at most {LONGEST_NAME} lower-case letters, digits and dashes, for example {name_for(answers)}",
        )
    return name


def _choose_expected(answers: Answers, alerts: tuple[AlertExpectation, ...]) -> tuple[AlertExpectation, ...]:
    """Return the expectations by outcome: MayFire if benign, none for a distractor."""
    if answers.outcome == "NoIncident":
        return ()
    if answers.outcome == "Benign":
        return tuple(msgspec.structs.replace(a, alert_class="MayFire") for a in alerts)
    return alerts


def derive_fault_name(answers: Answers) -> str:
    """Return the fault's name in the scenario: by default the first words of its type."""
    return answers.use or "-".join(answers.fault.split("-")[:3])
