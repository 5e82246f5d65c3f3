"""Briefs with more text, and names that they must not contain."""

from __future__ import annotations

from tools.defects.kind import Defect, needs
from tools.defects.subject import Subject, bare


def extend_brief(subject: Subject, text: str) -> Defect:
    """Return the scenario with more text at the end of its brief."""
    document, spec = subject.copy()
    spec["brief"] = f"{spec['brief']} {text}"
    return Defect(f"the brief also says {text[:60]!r}", document)


def find_target_name(subject: Subject) -> str:
    """Return the name of the first fault's target."""
    return bare(needs(subject.spec.faults, "nothing is broken")[0].target).partition("/")[2]
