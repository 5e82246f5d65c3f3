"""Wrong alert expectations: unknown alerts, wrong objects, contradictions."""

from __future__ import annotations

from tools.defects.edits.expectations import list_required_alerts
from tools.defects.kind import edit, needs
from tools.defects.subject import Document, Subject, misspell


@edit("SK113")
def alert_nobody_defines(subject: Subject, spec: Document) -> str:
    """An expected alert is defined by no rule."""
    alert = list_required_alerts(spec)[0]
    alert["name"] = misspell(alert["name"])
    return f"{alert['name']} must fire"


@edit("SK114")
def alert_about_another_kind(subject: Subject, spec: Document) -> str:
    """An alert is expected on an object of a kind that its rule never reports."""
    alert = needs([a for a in list_required_alerts(spec) if a.get("entity")], "no alert names its object")[0]
    services = [o for o in subject.objects if o.startswith("Service/")]
    same = f"Service/{alert['entity'].split('/')[1]}"
    alert["entity"] = same if same in services else services[0]
    return f"{alert['name']} must fire on {alert['entity']}"


@edit("SK114")
def alert_in_another_namespace(subject: Subject, spec: Document) -> str:
    """An alert is expected on an object of another namespace."""
    alert = needs([a for a in list_required_alerts(spec) if a.get("entity")], "no alert names its object")[0]
    alert["entity"] = f"kube-system/{alert['entity']}"
    return f"{alert['name']} must fire on {alert['entity']}"


@edit("SK308")
def window_below_the_rule(subject: Subject, spec: Document) -> str:
    """An alert is expected before its rule can fire."""
    alert = list_required_alerts(spec)[0]
    alert["withinSeconds"] = 90
    return f"{alert['name']} within 90 s"


@edit("SK208")
def window_of_hours(subject: Subject, spec: Document) -> str:
    """An alert has a deadline of hours."""
    list_required_alerts(spec)[0]["withinSeconds"] = 7200
    return "two hours for an alert"


@edit("SK324")
def nothing_must_fire(subject: Subject, spec: Document) -> str:
    """No alert has to fire for the incident."""
    needs(subject.incident, "there is no incident")
    for alert in list_required_alerts(spec):
        alert["class"] = "MayFire"
    return "every alert only may fire"


@edit("SK325")
def demanded_and_forbidden(subject: Subject, spec: Document) -> str:
    """The same alert both must and must not fire."""
    alert = list_required_alerts(spec)[0]
    spec["expect"]["alerts"].append(
        {k: v for k, v in alert.items() if k in ("name", "entity")} | {"class": "MustNotFire"}
    )
    return f"{alert['name']} must and must not fire"


@edit("SK325")
def alert_called_chronic(subject: Subject, spec: Document) -> str:
    """An alert that must fire is declared as background, so control runs tolerate it."""
    alert = list_required_alerts(spec)[0]
    chronic = {k: v for k, v in alert.items() if k in ("name", "entity")} | {"reason": "it is always on"}
    spec["expect"]["background"] = [*spec["expect"].get("background", []), chronic]
    return f"{alert['name']} is in the background"


@edit("SK134", "SK119")
def check_of_nothing(subject: Subject, spec: Document) -> str:
    """A check reads an object that does not exist."""
    name = misspell(next(o for o in subject.objects if o.startswith("Service/")))
    spec.setdefault("expect", {})["checks"] = [{"endpoints": {"service": name, "atLeast": 1}, "withinSeconds": 60}]
    return f"a check of the endpoints of {name}"


@edit("SK114")
def promise_about_what_the_app_lacks(subject: Subject, spec: Document) -> str:
    """An alert that cannot fire in this app must not fire."""
    known = {ref.kind for ref in (*subject.case.known, *subject.case.created)}
    needs("HorizontalPodAutoscaler" not in known, "it has an autoscaler")
    needs("KubeHpaMaxedOut" in (subject.case.alerts or {}), "no rule is about autoscalers")
    spec["expect"]["alerts"].append({"name": "KubeHpaMaxedOut", "class": "MustNotFire"})
    return "KubeHpaMaxedOut must not fire"
