"""Findings that are suppressed: by who knows that they are right."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.suppression import latest, today
from tests.defects.alerts import must_fire
from tests.defects.kind import Defect, kind, needs
from tests.defects.subject import Document, Subject, bare


def suppress(spec: Document, code: str, until: str = "") -> None:
    """Silence a code, with a reason and a near end unless another one is given."""
    spec["suppress"] = [{"code": code, "reason": "it is meant so", "until": until or latest(today())}]


@kind("SK609")
def leak_suppressed(subject: Subject) -> Iterator[Defect]:
    """The brief names the broken object, and the finding about it is suppressed."""
    document, spec = subject.copy()
    fault = needs(subject.spec.faults, "nothing is broken")[0]
    spec["brief"] = f"{spec['brief']} Please look at {bare(fault.target)} first."
    suppress(spec, "SK211")
    yield Defect(f"the brief names {bare(fault.target)}, SK211 is suppressed", document)


@kind("SK609")
def silence_suppressed(subject: Subject) -> Iterator[Defect]:
    """No alert must fire, and the finding about it is suppressed."""
    document, spec = subject.copy()
    needs(subject.incident, "there is no incident")
    for alert in must_fire(spec):
        alert["class"] = "MayFire"
    suppress(spec, "SK324")
    yield Defect("no alert must fire, SK324 is suppressed", document)


@kind("SK609")
def edge_suppressed(subject: Subject) -> Iterator[Defect]:
    """The finding about edges that follow no call is suppressed, in case it comes."""
    document, spec = subject.copy()
    suppress(spec, "SK125")
    yield Defect("SK125 is suppressed", document)


@kind("SK609")
def copy_suppressed(subject: Subject) -> Iterator[Defect]:
    """The finding about duplicates is suppressed, in case it comes."""
    document, spec = subject.copy()
    suppress(spec, "SK216")
    yield Defect("SK216 is suppressed", document)


@kind("SK610")
def suppression_without_an_end(subject: Subject) -> Iterator[Defect]:
    """What may be suppressed is suppressed for thousands of years."""
    document, spec = subject.copy()
    suppress(spec, "SK432", "9999-12")
    yield Defect("SK432 is suppressed until 9999-12", document)


@kind("SK610")
def suppression_without_a_reason(subject: Subject) -> Iterator[Defect]:
    """What may be suppressed is suppressed, and nothing says why."""
    document, spec = subject.copy()
    suppress(spec, "SK432")
    spec["suppress"][0]["reason"] = " "
    yield Defect("SK432 is suppressed for a blank", document)
