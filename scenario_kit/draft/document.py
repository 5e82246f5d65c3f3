"""Build the scenario for an author's answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.draft.alerts import predict_alerts, predict_propagation
from scenario_kit.draft.answers import LONGEST_NAME, Answers, name_for
from scenario_kit.draft.matrix_alerts import find_row, list_warnings, promise_alerts
from scenario_kit.draft.probe_timeouts import is_outlived, list_cautions
from scenario_kit.draft.texts import write_brief, write_description, write_question, write_title
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.yaml.scalars import parse_scalar
from scenario_kit.load.yaml.yaml11 import explain_yaml11
from scenario_kit.model import App, Change, Component, Fault, FaultType, Object, Reference
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.model.authored.scenario import API_VERSION, AlertExpectation
from scenario_kit.model.results.matrix import MatrixRow
from scenario_kit.render import render_app, resolve_options, select_options
from scenario_kit.render.apps.namespaces import locate_components, restore_written
from scenario_kit.render.faults.applicability import Offer, find_affected_component, offer
from scenario_kit.render.faults.modelled import find_unmodelled
from scenario_kit.render.scenarios.restart_after_repair import complete_fault

_TAGS: Final = {"ControlPlane": "control-plane", "DataStores": "stores", "FeatureFlags": "feature-flags"}
_WIDTH: Final = 116
#: The default number of users.
_USERS: Final = 50
_UNSHOWN: Final = (
    "\n  # the lab does not model what this fault changes, so no alert is predicted: write down what fires elsewhere"
    "\n  groundTruth:\n"
)
_PREDICTED: Final = (
    "\n  # predicted from the fault; `scenario-kit try PATH --accept` writes down what really fires\n  expect:\n"
)
_TRIED: Final = (
    "\n  # what fired when this fault was tried there; `scenario-kit try PATH --accept` writes down what fires here\n"
    "  expect:\n"
)
_SILENT: Final = (
    "\n  # predicted from the fault, but no alert fired when it was tried there: other parameters may show more;"
    "\n  # `scenario-kit try PATH --accept` writes down what fires here\n  expect:\n"
)
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario file: its name, its text without the schema header, and its expected alerts.

    ``offer`` is None without a fault. ``cautions`` are effects that may differ from the fault's title.
    """

    name: str
    text: str
    offer: Offer | None
    alerts: tuple[AlertExpectation, ...]
    cautions: tuple[str, ...] = ()
    spec: Object = field(default_factory=dict)


@dataclass(frozen=True)
class _DeployedApp:
    """The app as deployed by the draft, with its rendered objects."""

    app: App
    options: Object
    objects: Sequence[Object]


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
        spec = _build_quiet_spec(answers, app)
        return Draft(name, dump_document(document_of(name, spec)), None, (), spec=spec)
    fault_type = catalog.fault(answers.fault)
    if not answers.outcome and fault_type.persistence == "Expires":
        answers = replace(answers, outcome="Benign")  # it ends before it could be investigated
    options = select_options(app, fault_type)
    shaped, users = resolve_options(app, options, answers.profile), answers.users or _USERS
    objects = render_app(app, shaped, users, app.namespace, templates=catalog.templates(app.name))
    app = locate_components(app, objects, app.namespace)
    made = offer(fault_type, app, objects, target, answers.parameters, name=derive_fault_name(answers), scenario=name)
    made = replace(made, fault=complete_fault(made.fault, app, objects))
    component = find_affected_component(app, objects, target, made.fault)
    rules = {rule.name: rule for pack in answers.packs or ("default",) for rule in catalog.alert_pack(pack)}
    shown = not find_unmodelled(made.fault.changes, app, objects, app.namespace)
    alerts = predict_alerts(made.symptoms, made.fault, app, component, rules) if shown else ()
    usual = not answers.packs and (
        not answers.parameters or made.parameters == _find_usual_parameters(fault_type, app, objects, target)
    )
    row = find_row(catalog.matrix(app, fault_type.name), fault_type.name, made.fault.target) if usual else None
    alerts = _choose_expected(answers, promise_alerts(alerts, row) if row is not None else alerts)
    spec = _build_spec(answers, _DeployedApp(app, options, objects), fault_type, made, alerts, component)
    text = _add_note(dump_document(document_of(name, spec)), row)
    text = text if shown else text.replace("\n  groundTruth:\n", _UNSHOWN, 1)
    beware = () if row is None or answers.outcome in ("Benign", "NoIncident") else list_warnings(row)
    return Draft(name, text, made, alerts, (*list_cautions(made.fault, objects), *beware), spec)


def document_of(name: str, spec: Object) -> Object:
    """Build the document of a scenario."""
    return {"apiVersion": API_VERSION, "kind": "Scenario", "metadata": _build_metadata(name), "spec": spec}


def _add_note(text: str, row: MatrixRow | None) -> str:
    """Add a comment on the source of the alerts: a trial of the fault, or a prediction."""
    note = _PREDICTED
    if row is not None and row.outcome == "Ran":
        note = _TRIED if row.alerts else _SILENT
    return text.replace("\n  expect:\n", note, 1)


def join_drafts(drafts: Sequence[Draft]) -> Draft:
    """Combine the faults of several drafts in one scenario, each with its causes, alerts and solutions."""
    if len(drafts) == 1:
        return drafts[0]
    first, specs = drafts[0], [made.spec for made in drafts]
    spec = {**specs[0], "title": "; ".join(s["title"] for s in specs)[:160]}
    spec["description"] = " ".join(s["description"] for s in specs)
    options = {k: v for s in specs for k, v in s["app"].get("options", {}).items()}
    spec["app"] = {**spec["app"], **({"options": options} if options else {})}
    spec["tags"] = sorted({tag for s in specs for tag in s.get("tags", ())})
    spec["faults"] = [use for s in specs for use in s["faults"]]
    alerts: dict[tuple[str, str], Object] = {}
    for alert in (a for s in specs for a in s.get("expect", {}).get("alerts", ())):
        known = alerts.setdefault((alert["name"], alert.get("entity", "")), alert)
        if "MustFire" in (known["class"], alert["class"]):
            alerts[alert["name"], alert.get("entity", "")] = {**known, "class": "MustFire"}
    if alerts:
        spec["expect"] = {"alerts": list(alerts.values())}
    truths = [s["groundTruth"] for s in specs]
    outcomes = {truth.get("outcome", "Incident") for truth in truths}
    outcome = next((o for o in ("Incident", "Benign") if o in outcomes), "NoIncident")
    causes = [cause for truth in truths for cause in truth.get("rootCauses", ())]
    edges = [edge for truth in truths for edge in truth.get("propagation", ())]
    spec["groundTruth"] = {
        **({} if outcome == "Incident" else {"outcome": outcome}),
        "rootCauses": causes,
        "propagation": _join_chains(edges, causes, {name for _, name in alerts if name}),
    }
    if outcome == "Incident":
        spec["brief"] = next(s["brief"] for s in specs if s["groundTruth"].get("outcome", "Incident") == outcome)
        spec["solutions"] = _join_solutions(specs)
        solved = [solution["changes"] for solution in spec["solutions"]]
        decoys = {str(d["changes"]): d for s in specs for d in s.get("decoys", ()) if d["changes"] not in solved}
        spec["decoys"] = _make_names_unique(list(decoys.values()))
    spec = {k: v for k, v in spec.items() if v not in ([], {}, "")}
    offers, cautions_ = first.offer, tuple(c for made in drafts for c in made.cautions)
    expected = tuple({(a.name, a.entity): a for made in drafts for a in made.alerts}.values())
    return Draft(
        first.name, _add_note(dump_document(document_of(first.name, spec)), None), offers, expected, cautions_, spec
    )


def _join_solutions(specs: Sequence[Object]) -> list[Object]:
    """Return the solutions of all faults; empty if a fault has them only once injected."""
    if any(s["groundTruth"].get("rootCauses") and not s.get("solutions") for s in specs):
        return []
    return _make_names_unique([p for s in specs for p in s.get("solutions", ())])


def _join_chains(edges: Sequence[Object], causes: Sequence[Object], alerting: Collection[str]) -> list[Object]:
    """Join propagations: no edge leads to a cause, nor to an object that neither alerts nor leads to one that does.

    A cause whose only path led to another cause has none left: it has no symptoms while the other one is active.
    """
    starts = {cause.get("entity") for cause in causes}
    kept = {(e["from"], e["to"]): e for e in edges if e["to"] not in starts}
    while loose := [k for k in kept if k[1] not in alerting and not any(k[1] == start for start, _ in kept)]:
        for key in loose:
            del kept[key]
    return list(kept.values())


def _make_names_unique(procedures: Sequence[Object]) -> list[Object]:
    """Number procedures with equal names."""
    seen: dict[str, int] = {}
    found = []
    for procedure in procedures:
        number = seen[procedure["name"]] = seen.get(procedure["name"], 0) + 1
        found.append({**procedure, "name": procedure["name"] if number == 1 else f"{procedure['name']}-{number}"})
    return found


def _build_app_use(answers: Answers, app: App, options: Object) -> Object:
    """Build the app section of a scenario without defaults."""
    load = {"profile": answers.profile, "users": answers.users}
    load = {name: value for name, value in load.items() if value}
    packs = {"alertPacks": list(answers.packs)} if answers.packs else {}
    return {
        "name": app.name, "version": app.version, **({"options": options} if options else {}),
        **({"load": load} if load else {}), **packs,
    }  # fmt: skip


def _find_usual_parameters(
    fault_type: FaultType, app: App, objects: Sequence[Object], target: Reference
) -> Object | None:
    """Return the fault's default parameters for the target; None if some are required."""
    try:
        return offer(fault_type, app, objects, target).parameters
    except AuthoringError:
        return None


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


def _build_quiet_spec(answers: Answers, app: App) -> Object:
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


def _build_metadata(name: str) -> Object:
    return {"name": name, "annotations": {CANARY_KEY: CANARY}}


def derive_fault_name(answers: Answers) -> str:
    """Return the fault's name in the scenario: by default the first words of its type."""
    return answers.use or "-".join(answers.fault.split("-")[:3])


def dump_document(document: Any) -> str:
    """Format a document as YAML, with short values on one line."""
    return yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True, default_flow_style=None
    )


def _build_spec(
    answers: Answers,
    deployed: _DeployedApp,
    fault_type: FaultType,
    made: Offer,
    alerts: tuple[AlertExpectation, ...],
    component: Component | None,
) -> Object:
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


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """A dumper without anchors, which quotes text that this project or kubectl would misread (SK140)."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


class BlockText(str):
    """Text of several lines that is written as such, without quotes."""

    __slots__ = ()


class _Misread:
    """Acts as a pattern that matches text that must be quoted."""

    def match(self, text: str) -> bool:
        return parse_scalar(text) != text or bool(explain_yaml11(text, text))


_Dumper.add_multi_representer(str, lambda dumper, text: dumper.represent_str(str(text)))
_Dumper.add_representer(
    BlockText, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")
)
_BOOL: Final = "tag:yaml.org,2002:bool"
_Dumper.add_implicit_resolver(_BOOL, _Misread(), None)
