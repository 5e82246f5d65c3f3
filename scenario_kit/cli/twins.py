"""Twins under judgement: what only the lab can tell of an app, told before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenario_kit.errors import AuthoringError

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.model import App, Finding


def of_files(files: Sequence[Path], catalog: Catalog) -> list[Finding]:
    """Findings about the twins of those files that are apps, in every version; each mistake once."""
    from scenario_kit.lint.opening import kind_of, with_own_root

    found: dict[str, Finding] = {}
    for file in files:
        if kind_of(file) != "App":
            continue
        known, name = with_own_root(file, catalog), file.resolve().parent.name
        for app in _versions(name, known):
            for finding in findings(app, file.with_name("twin.yaml")):
                found.setdefault(f"{file} {finding.message}", finding)
    return list(found.values())


def of_app(name: str, version: str, catalog: Catalog) -> list[Finding]:
    """Findings about the twin of one app; none where there is no such app, which others tell."""
    try:
        return findings(catalog.app(name, version), Path("catalog") / "apps" / name / "twin.yaml")
    except AuthoringError:
        return []


def findings(app: App, file: Path) -> list[Finding]:
    """What keeps the twin of an app from running."""
    from scenario_kit.lab.twin.fit import mistakes
    from scenario_kit.lint import RULES
    from scenario_kit.model import Finding, Position

    rule = RULES["SK138"]
    return [
        Finding(
            code=rule.code,
            severity=rule.severity,
            message=f"the twin of {app.name} {app.version}: {said}",
            position=Position(path=str(file)),
            why=rule.why,
            fix=rule.fix,
        )
        for said in mistakes(app)
    ]


def _versions(name: str, catalog: Catalog) -> Iterator[App]:
    try:
        for version in catalog.versions(name):
            yield catalog.app(name, version)
    except AuthoringError:
        return  # what is wrong with the app itself is told by the rules
