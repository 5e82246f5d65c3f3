"""Twins under judgement: what only the lab can tell of an app, told before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenario_kit.errors import AuthoringError

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.lab.twin.fit import Place
    from scenario_kit.load.document import Document
    from scenario_kit.model import App, Finding, Position


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
        return findings(catalog.app(name, version), catalog.app_path(name).with_name("twin.yaml"))
    except AuthoringError:
        return []


def findings(app: App, file: Path) -> list[Finding]:
    """What keeps the twin of an app from running, each mistake where it stands in the file."""
    from scenario_kit.lint import RULES
    from scenario_kit.load.document import read_document
    from scenario_kit.model import Finding

    found, rule = _mistakes(app), RULES["SK138"]
    document = read_document(file) if found else None
    return [
        Finding(
            code=rule.code,
            severity=rule.severity,
            message=f"the twin of {app.name} {app.version}: {text}",
            position=position_of(document, app.version, place) if document else None,
            why=rule.why,
            fix=rule.fix,
        )
        for text, place in found
    ]


def _mistakes(app: App) -> list[tuple[str, Place]]:
    """What is wrong, and where; kept, since to load the twin takes longer than to lint a scenario."""
    import msgspec

    from scenario_kit.load.kept import kept

    def judged() -> list[tuple[str, Place]]:
        from scenario_kit.lab.twin.fit import mistakes

        return [(mistake.text, mistake.place) for mistake in mistakes(app)]

    return [(text, tuple(place)) for text, place in kept("twin", (), (msgspec.json.encode(app).decode(),), judged)]


def position_of(document: Document, version: str, place: Place) -> Position:
    """Where a field of a version is written: in the part of that version, or in what all versions share."""
    own = ("versions", version, *place)
    return document.positions.key(*(own if _stands(document.data, own) else place))


def _stands(data: Any, place: Place) -> bool:
    for part in place:
        known = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part not in known:
            return False
        data = data[part]
    return True


def _versions(name: str, catalog: Catalog) -> Iterator[App]:
    try:
        for version in catalog.versions(name):
            yield catalog.app(name, version)
    except AuthoringError:
        return  # what is wrong with the app itself is told by the rules
