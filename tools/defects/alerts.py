"""Wrong alert expectations: unknown alerts, wrong objects, contradictions."""

from __future__ import annotations

from collections.abc import Iterator

from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Document, Subject, misspell


def must_fire(spec: Document) -> list[Document]:
    """Return the alerts of ``spec`` that must fire."""
    alerts = [a for a in spec.get("expect", {}).get("alerts", []) if a.get("class", "MustFire") == "MustFire"]
    found: list[Document] = needs(alerts, "no alert must fire")
    return found


@kind("SK113")
def alert_nobody_defines(subject: Subject) -> Iterator[Defect]:
    """An expected alert is defined by no rule."""
    document, spec = subject.copy()
    alert = must_fire(spec)[0]
    alert["name"] = misspell(alert["name"])
    yield Defect(f"{alert['name']} must fire", document)


@kind("SK114")
def alert_about_another_kind(subject: Subject) -> Iterator[Defect]:
    """An alert is expected on an object of a kind that its rule never reports."""
    document, spec = subject.copy()
    alert = needs([a for a in must_fire(spec) if a.get("entity")], "no alert names its object")[0]
    services = [o for o in subject.objects if o.startswith("Service/")]
    same = f"Service/{alert['entity'].split('/')[1]}"
    alert["entity"] = same if same in services else services[0]
    yield Defect(f"{alert['name']} must fire on {alert['entity']}", document)


@kind("SK114")
def alert_in_another_namespace(subject: Subject) -> Iterator[Defect]:
    """An alert is expected on an object of another namespace."""
    document, spec = subject.copy()
    alert = needs([a for a in must_fire(spec) if a.get("entity")], "no alert names its object")[0]
    alert["entity"] = f"kube-system/{alert['entity']}"
    yield Defect(f"{alert['name']} must fire on {alert['entity']}", document)


@kind("SK308")
def window_below_the_rule(subject: Subject) -> Iterator[Defect]:
    """An alert is expected before its rule can fire."""
    document, spec = subject.copy()
    alert = must_fire(spec)[0]
    alert["withinSeconds"] = 90
    yield Defect(f"{alert['name']} within 90 s", document)


@kind("SK208")
def window_of_hours(subject: Subject) -> Iterator[Defect]:
    """An alert has a deadline of hours."""
    document, spec = subject.copy()
    must_fire(spec)[0]["withinSeconds"] = 7200
    yield Defect("two hours for an alert", document)


@kind("SK324")
def nothing_must_fire(subject: Subject) -> Iterator[Defect]:
    """No alert has to fire for the incident."""
    document, spec = subject.copy()
    needs(subject.incident, "there is no incident")
    for alert in must_fire(spec):
        alert["class"] = "MayFire"
    yield Defect("every alert only may fire", document)


@kind("SK325")
def demanded_and_forbidden(subject: Subject) -> Iterator[Defect]:
    """The same alert both must and must not fire."""
    document, spec = subject.copy()
    alert = must_fire(spec)[0]
    spec["expect"]["alerts"].append(
        {k: v for k, v in alert.items() if k in ("name", "entity")} | {"class": "MustNotFire"}
    )
    yield Defect(f"{alert['name']} must and must not fire", document)


@kind("SK325")
def alert_called_chronic(subject: Subject) -> Iterator[Defect]:
    """An alert that must fire is declared as background, so control runs tolerate it."""
    document, spec = subject.copy()
    alert = must_fire(spec)[0]
    chronic = {k: v for k, v in alert.items() if k in ("name", "entity")} | {"reason": "it is always on"}
    spec["expect"]["background"] = [*spec["expect"].get("background", []), chronic]
    yield Defect(f"{alert['name']} is in the background", document)


@kind("SK134", "SK119")
def check_of_nothing(subject: Subject) -> Iterator[Defect]:
    """A check reads an object that does not exist."""
    document, spec = subject.copy()
    name = misspell(next(o for o in subject.objects if o.startswith("Service/")))
    spec.setdefault("expect", {})["checks"] = [{"endpoints": {"service": name, "atLeast": 1}, "withinSeconds": 60}]
    yield Defect(f"a check of the endpoints of {name}", document)
