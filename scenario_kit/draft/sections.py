"""The sections of a drafted scenario: app, faults, alerts, ground truth, solutions and decoys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from scenario_kit.draft.alerts import predict_propagation
from scenario_kit.draft.answers import Answers
from scenario_kit.draft.probe_timeouts import is_outlived
from scenario_kit.draft.texts import write_brief, write_description, write_question, write_title
from scenario_kit.model import App, Change, Component, Fault, FaultType, Object
from scenario_kit.model.authored.scenario import AlertExpectation
from scenario_kit.render.apps.namespaces import restore_written
from scenario_kit.render.faults.applicability import Offer

_TAGS: Final = {"ControlPlane": "control-plane", "DataStores": "stores", "FeatureFlags": "feature-flags"}


@dataclass(frozen=True)
class DeployedApp:
    """The app as deployed by the draft, with its rendered objects."""

    app: App
    options: Object
    objects: Sequence[Object]


def build_quiet_spec(answers: Answers, app: App) -> Object:
    """Build the spec of a scenario without faults."""
    return {
        "title": f"Nothing is broken in {app.name}",
        "description": "The app runs as it should. The right answer is that there is no incident.",
        "brief": write_question(),
        "authors": [{"name": answers.author or "unknown"}],
        "license": "Apache-2.0",
        "tags": ["control"],
        "app": _build_app_use(answers, app, {}),
        "groundTruth": {"outcome": "NoIncident"},
    }


def build_spec(
    answers: Answers,
    deployed: DeployedApp,
    fault_type: FaultType,
    made: Offer,
    alerts: tuple[AlertExpectation, ...],
    component: Component | None,
) -> Object:
    """Build the spec of a scenario with one fault.

    Args:
        component: the component that the fault affects.
    """
    app, fault = deployed.app, made.fault
    use: Object = {"name": fault.name, "type": fault.type, "target": fault.target}
    if made.parameters:
        use["parameters"] = made.parameters
    if is_outlived(fault_type, fault, deployed.objects):
        use["rollout"] = {"dropOld": True}
    use |= {name: value for name in ("start", "recurrence", "replicas") if (value := getattr(answers, name))}
    # A fault without alerts affects no user: a solver should find it benign.
    outcome = answers.outcome or ("Incident" if alerts else "Benign")
    if outcome == "NoIncident":
        use["role"] = "Distractor"
    spec: Object = {
        "title": write_title(fault_type, fault),
        "description": write_description(fault_type),
        "brief": write_brief(alerts),
        "authors": [{"name": answers.author or "unknown"}],
        "license": "Apache-2.0",
        "tags": [_TAGS.get(fault_type.family, fault_type.family.lower() or "incident")],
        "app": _build_app_use(answers, app, deployed.options),
        "faults": [use],
        "expect": {"alerts": [_serialize_alert(a) for a in alerts]},
        "groundTruth": _build_truth(outcome, fault, app, component, alerts),
    }
    if outcome != "Incident":  # nothing needs a repair
        spec["brief"] = write_question()
        return {k: v for k, v in spec.items() if v not in ([], {}, "", {"alerts": []})}
    if not any(e.generated for e in fault.causes):  # generated names cannot be written down
        spec["solutions"] = [
            {"name": s.name, "fixes": [fault.name], "description": s.description, "changes": _changes(s.changes, app)}
            for s in fault.solutions
        ]
    decoys = [
        {"name": d.name, "description": d.description, "changes": _changes(d.changes, app)} for d in fault.decoys
    ] or _build_usual_decoys(app, component, fault, alerts)
    spec["decoys"] = decoys
    return {k: v for k, v in spec.items() if v not in ([], {}, "")}


def _build_app_use(answers: Answers, app: App, options: Object) -> Object:
    """Build the app section of a scenario without defaults."""
    load = {"profile": answers.profile, "users": answers.users}
    load = {name: value for name, value in load.items() if value}
    packs = {"alertPacks": list(answers.packs)} if answers.packs else {}
    return {
        "name": app.name, "version": app.version, **({"options": options} if options else {}),
        **({"load": load} if load else {}), **packs,
    }  # fmt: skip


def _build_truth(
    outcome: str, fault: Fault, app: App, component: Component | None, alerts: tuple[AlertExpectation, ...]
) -> Object:
    if outcome == "NoIncident":
        return {"outcome": outcome}
    return {
        **({} if outcome == "Incident" else {"outcome": outcome}),
        "rootCauses": [_build_cause(fault, e.ref, e.generated) for e in fault.causes],
        "propagation": [
            {"from": e.from_, "to": e.to, "because": e.because}
            for e in predict_propagation(fault, app, component, alerts)
        ],
    }


def _serialize_alert(expected: AlertExpectation) -> Object:
    reported: Object = {"name": expected.name}
    if expected.entity:
        reported["entity"] = expected.entity
    return {**reported, "class": expected.alert_class}


def _build_cause(fault: Fault, ref: str, generated: bool) -> Object:
    return {"fault": fault.name} if generated else {"fault": fault.name, "entity": ref}


def _changes(changes: Iterable[Change], app: App) -> list[Object]:
    return [restore_written(change, app).to_json() for change in changes]


def _build_usual_decoys(
    app: App, component: Component | None, fault: Fault, alerts: Sequence[AlertExpectation]
) -> list[Object]:
    """Build the usual decoy: restart an affected component, or the broken one if that does not help."""
    ranked = sorted(alerts, key=lambda alert: alert.alert_class != "MustFire")
    loud = [c for alert in ranked for c in app.components if c.workload == alert.entity]
    callers = [c for n in app.dependants(component.name) if (c := app.component(n))] if component else []
    entry = [c for c in app.components if c.name == app.entry and component is None]
    suffering = loud or [c for c in callers if c.role in ("App", "Entry")] or entry
    victim = next((c for c in suffering if c != component), None)
    description = "It is where the trouble shows, so somebody restarts it"
    if victim is None and component is not None and fault.persistence == "Workload":
        victim, description = component, "It is in trouble, so somebody restarts it; new pods are as badly off"
    if victim is None:
        return []
    restart = {"restart": {"target": victim.workload}}
    return [{"name": f"restart-{victim.name}", "description": description, "changes": [restart]}]
