"""Alerts and checks that a scenario expects."""

from __future__ import annotations

from typing import Any

from tools.defects.kind import Defect, needs
from tools.defects.subject import Document, Subject


def expect_check(subject: Subject, check: dict[str, Any]) -> Defect:
    """Return the scenario with this check as the only one that it expects."""
    document, spec = subject.copy()
    needs(subject.incident, "there is no incident")
    spec.setdefault("expect", {})["checks"] = [{"withinSeconds": 60, **check}]
    return Defect(f"it expects {check}", document)


def list_required_alerts(spec: Document) -> list[Document]:
    """Return the alerts of ``spec`` that must fire."""
    alerts = [a for a in spec.get("expect", {}).get("alerts", []) if a.get("class", "MustFire") == "MustFire"]
    found: list[Document] = needs(alerts, "no alert must fire")
    return found
