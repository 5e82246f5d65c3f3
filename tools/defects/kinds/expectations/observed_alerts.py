"""Wrong expectations that only trials can detect."""

from __future__ import annotations

from tools.defects.edits.expectations import list_required_alerts
from tools.defects.edits.propagation import prune_propagation
from tools.defects.kind import edit, needs
from tools.defects.subject import Document, Subject, bare

#: Service registries of the apps.
_REGISTRIES = ("Deployment/consul",)
#: Alerts that most incidents do not raise.
_RARE = ("KubePodCrashLooping", "KubeContainerWaiting", "KubeDeploymentRolloutStuck", "HighRequestLatency")


def _list_placed(spec: Document) -> list[Document]:
    found: list[Document] = needs(
        [a for a in list_required_alerts(spec) if a.get("entity")], "no alert names its object"
    )
    return found


@edit("SK326", stage="Trial", first=("repeat",))
def alert_on_a_bystander(subject: Subject, spec: Document) -> str:
    """An alert must also fire on an uninvolved object."""
    needs(subject.incident, "there is no incident")
    alert = _list_placed(spec)[0]
    other = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    wide = [a for a in spec["expect"]["alerts"] if a["name"] == alert["name"] and not a.get("entity")]
    spec["expect"]["alerts"] = [a for a in spec["expect"]["alerts"] if a not in wide]
    spec["expect"]["alerts"].append({"name": alert["name"], "entity": other, "withinSeconds": 480})
    _led(spec, other)
    return f"{alert['name']} must fire on {other}, too"


@edit("SK322", stage="Trial", first=("repeat",))
def alert_that_never_fires(subject: Subject, spec: Document) -> str:
    """An alert must fire that this incident does not raise."""
    needs(subject.incident, "there is no incident")
    alerts = spec["expect"]["alerts"]
    fires = {a["name"] for a in alerts if a.get("class", "MustFire") != "MustNotFire"}
    name = needs([n for n in _RARE if n not in fires], "it may raise every rare alert")[0]
    on = _list_placed(spec)[0]["entity"]
    spec["expect"]["alerts"] = [a for a in alerts if a["name"] != name]
    spec["expect"]["alerts"].append({"name": name, "entity": on, "withinSeconds": 660})
    return f"{name} must fire on {on}"


@edit("SK321", stage="Trial", first=("repeat",))
def forbidden_alert_that_fires(subject: Subject, spec: Document) -> str:
    """An alert that the incident raises must not fire."""
    needs(subject.incident, "there is no incident")
    placed = _list_placed(spec)
    needs(len(placed) > 1, "only one alert must fire")
    alert = placed[-1]
    alert["class"] = "MustNotFire"
    alert.pop("withinSeconds", None)
    spec["expect"]["alerts"] = [
        a
        for a in spec["expect"]["alerts"]
        if a is alert or (a["name"], a.get("entity")) != (alert["name"], alert["entity"])
    ]
    prune_propagation(spec)
    return f"{alert['name']} must not fire on {alert['entity']}"


@edit("SK321", "SK322", "SK326", stage="Trial", first=("repeat",))
def swapped_alerts(subject: Subject, spec: Document) -> str:
    """The objects of two alerts are swapped."""
    needs(subject.incident, "there is no incident")
    alert = _list_placed(spec)[0]
    others = [a for a in spec["expect"]["alerts"] if a.get("entity") not in (None, alert["entity"])]
    forbidden = [a for a in others if a.get("class") == "MustNotFire" and a["name"] == alert["name"]]
    demanded = [a for a in others if a.get("class", "MustFire") == "MustFire" and a["name"] != alert["name"]]
    other = needs(demanded + forbidden, "no other alert names another object")[0]
    pair = {(alert["name"], other["entity"]), (other["name"], alert["entity"])}
    alert["entity"], other["entity"] = other["entity"], alert["entity"]
    spec["expect"]["alerts"] = [
        a for a in spec["expect"]["alerts"] if a in (alert, other) or (a["name"], a.get("entity")) not in pair
    ]
    _led(spec, alert["entity"])
    _led(spec, other["entity"])
    return f"{alert['name']} on {alert['entity']}, {other['name']} on {other['entity']}"


@edit("SK322", "SK508", stage="Trial", first=("repeat",))
def window_too_short(subject: Subject, spec: Document) -> str:
    """The deadline of an alert is the earliest moment at which its rule can fire."""
    needs(subject.incident, "there is no incident")
    for alert in list_required_alerts(spec):
        rule = (subject.case.alerts or {})[alert["name"]]
        alert["withinSeconds"] = rule.for_seconds + 60
    return "each alert within its `for` and a minute"


@edit("SK302", "SK307", stage="Trial", first=("control",))
def chronic_alert(subject: Subject, spec: Document) -> str:
    """Alerts fire without the fault: the noise restarts the service registry."""
    needs(subject.incident, "there is no incident")
    assert subject.case.app is not None
    needs(any(call.via == "Registry" for call in subject.case.app.calls), "it uses no service registry")
    registry = needs([o for o in subject.objects if o in _REGISTRIES and o not in subject.concerned], "it is broken")[0]
    spec["noise"] = [{"name": "rollouts", "restart": {"target": registry}, "everySeconds": 600}]
    return f"the noise restarts {registry}"


@edit("SK328", stage="Trial", first=("repeat",))
def check_that_does_not_hold(subject: Subject, spec: Document) -> str:
    """An expected check fails."""
    needs(subject.incident, "there is no incident")
    other = needs(subject.bystanders("Service"), "every Service is involved")[0]
    check = {"endpoints": {"service": other, "atMost": 0}, "withinSeconds": 60}
    spec["expect"]["checks"] = [*spec["expect"].get("checks", []), check]
    return f"{other} is expected to have no endpoints"


def _led(spec: Document, on: str) -> None:
    """Add an edge to the object unless there is one, so that the propagation explains an alert on it."""
    edges = needs(spec["groundTruth"].get("propagation"), "there is no propagation")
    if not any(on == e["to"] for e in edges):
        edges.append({"from": edges[0]["from"], "to": on, "because": "it is said to"})


@edit("SK326", stage="Trial", first=("repeat",))
def alert_anywhere_that_nothing_explains(subject: Subject, spec: Document) -> str:
    """An alert must fire on any object, and fires where the propagation does not lead."""
    needs(subject.incident, "there is no incident")
    truth, alerts = spec["groundTruth"], list_required_alerts(spec)
    needs(all(fault.scope == "Namespace" for fault in subject.case.faults.values()), "it reaches the whole cluster")
    own = {*subject.causes, *(use.target for use in subject.spec.faults)}
    causes = own | {f"Fault/{use.name}" for use in subject.spec.faults}
    behind = {bare(c.workload) for c in subject.components() if {f"Service/{c.service}", bare(c.workload)} & own}
    elsewhere = [a for a in alerts if a.get("entity") and a["entity"] not in causes | behind]
    name = needs(elsewhere, "only the broken object alerts")[0]["name"]
    needs(all(a["entity"] not in causes | behind for a in alerts if a["name"] == name), "the broken object alerts, too")
    other = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    spec["expect"]["alerts"] = [{"name": name}]
    root = truth["propagation"][0]["from"] if truth.get("propagation") else ""
    truth["propagation"] = [{"from": needs(root, "there is no propagation"), "to": other}]
    return f"{name} must fire anywhere, the propagation leads to {other}"


@edit("SK330", stage="Trial", first=("control",))
def chronic_alert_that_never_fires(subject: Subject, spec: Document) -> str:
    """An alert is declared as background that the healthy app never raises."""
    assert subject.case.alerts is not None
    known = {a["name"] for a in spec.get("expect", {}).get("alerts", [])}
    name = needs(sorted(n for n in subject.case.alerts if n not in known), "every alert is already expected")[0]
    spec.setdefault("expect", {})["background"] = [{"name": name, "reason": "it is always on"}]
    return f"{name} is in the background"
