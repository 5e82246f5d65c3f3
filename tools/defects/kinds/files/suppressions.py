"""Unjustified exceptions: suppressed findings, unneeded scopes and capabilities."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.framework.suppression import find_latest_month, get_today
from tools.defects.edits.expectations import list_required_alerts
from tools.defects.edits.fault_type import with_own_fault
from tools.defects.edits.solutions import require_one_cause
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject, bare


def suppress(spec: Document, code: str, until: str = "") -> None:
    """Suppress a code, by default until the latest allowed month."""
    spec["suppress"] = [{"code": code, "reason": "it is meant so", "until": until or find_latest_month(get_today())}]


@edit("SK609")
def leak_suppressed(subject: Subject, spec: Document) -> str:
    """The brief names the broken object, and the finding about it is suppressed."""
    fault = needs(subject.spec.faults, "nothing is broken")[0]
    spec["brief"] = f"{spec['brief']} Please look at {bare(fault.target)} first."
    suppress(spec, "SK211")
    return f"the brief names {bare(fault.target)}, SK211 is suppressed"


@edit("SK609")
def silence_suppressed(subject: Subject, spec: Document) -> str:
    """No alert has to fire, and the finding about it is suppressed."""
    needs(subject.incident, "there is no incident")
    for alert in list_required_alerts(spec):
        alert["class"] = "MayFire"
    suppress(spec, "SK324")
    return "no alert must fire, SK324 is suppressed"


@edit("SK609")
def edge_suppressed(subject: Subject, spec: Document) -> str:
    """The finding about edges that follow no call is suppressed in advance."""
    suppress(spec, "SK125")
    return "SK125 is suppressed"


@edit("SK609")
def copy_suppressed(subject: Subject, spec: Document) -> str:
    """The finding about duplicates is suppressed in advance."""
    suppress(spec, "SK216")
    return "SK216 is suppressed"


@edit("SK610")
def suppression_without_an_end(subject: Subject, spec: Document) -> str:
    """A permitted suppression never expires."""
    suppress(spec, "SK432", "9999-12")
    return "SK432 is suppressed until 9999-12"


@kind("SK610")
def suppression_without_a_reason(subject: Subject) -> Iterator[Defect]:
    """A permitted suppression gives no reason."""
    for reason, reported in ((" ", "a blank"), ("...", "some dots")):
        document, spec = subject.copy()
        suppress(spec, "SK432")
        spec["suppress"][0]["reason"] = reason
        yield Defect(f"SK432 is suppressed for {reported}", document)


@kind("SK225")
def needless_scope(subject: Subject) -> Iterator[Defect]:
    """The fault has cluster scope but changes only objects of the app."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(fault.scope == "Namespace", "it needs that scope")
    document, files = with_own_fault(subject, lambda f: f.update(scope="Cluster"))
    yield Defect("scope: Cluster", document, files)


@kind("SK225")
def needless_privilege(subject: Subject) -> Iterator[Defect]:
    """The fault requires node access, and none of its pods uses it."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs("node-access" not in fault.requires, "it needs that access")
    document, files = with_own_fault(subject, lambda f: f.update(requires=[*f.get("requires", ()), "node-access"]))
    yield Defect("requires: node-access", document, files)


@edit("SK225")
def needless_conjunction(subject: Subject, spec: Document) -> str:
    """Causes are declared to join conjunctively, but there is only one."""
    require_one_cause(subject)
    spec["groundTruth"]["causesJoin"] = "Conjunctive"
    return "causesJoin: Conjunctive"
