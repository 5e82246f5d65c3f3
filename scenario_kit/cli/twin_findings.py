"""Twins under judgement: what only the lab can tell of an app, told before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenario_kit.errors import AuthoringError

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.model import App, Finding, Object, Position
    from scenario_kit.model.twin import Place


def of_files(files: Sequence[Path], catalog: Catalog) -> list[Finding]:
    """Findings about the twins of those files that are apps, in every version; each mistake once."""
    from scenario_kit.lint.discovery import kind_of, with_own_root

    found: dict[str, Finding] = {}
    for file in files:
        if kind_of(file) != "App":
            continue
        known, name = with_own_root(file, catalog), file.resolve().parent.name
        twin = file.with_name("twin.yaml")
        if unread := _unread(twin):
            found |= {f"{file} {finding.position} {finding.message}": finding for finding in unread}
            continue
        for finding in (
            *_unheard(twin, name, known),
            *(f for v in _versions(name, known) for f in _of(name, v, known, twin)),
        ):
            found.setdefault(f"{file} {finding.message}", finding)
    return list(found.values())


def of_app(name: str, version: str, catalog: Catalog) -> list[Finding]:
    """Findings about the twin of one app; none where there is no such app, which others tell."""
    try:
        return _of(name, version, catalog, catalog.app_path(name).with_name("twin.yaml"))
    except AuthoringError:
        return []


def _of(name: str, version: str, catalog: Catalog, file: Path) -> list[Finding]:
    """What keeps the twin of an app from being loaded, from running, or its healthy processes from meeting."""
    try:
        app = catalog.app(name, version)
    except AuthoringError as error:  # what is wrong with the app itself is told by the rules
        return [_finding(f.message, _in(file, f.position)) for f in error.findings if f.code == "SK138"]
    from scenario_kit.load.document import read_document
    from scenario_kit.load.twin import position_of

    found = _mistakes(app, catalog)
    document = read_document(file) if found else None
    return [
        _finding(
            f"the twin of {app.name} {app.version}: {text}",
            position_of(document, app.version, place) if document else None,
        )
        for text, place in found
    ]


def _in(file: Path, position: Position | None) -> Position | None:
    """The position with the path as the command line spells it."""
    import msgspec

    return None if position is None else msgspec.structs.replace(position, path=str(file))


def _finding(message: str, position: Position | None) -> Finding:
    from scenario_kit.lint import RULES
    from scenario_kit.model import Finding

    rule = RULES["SK138"]
    return Finding(
        code=rule.code, severity=rule.severity, message=message, position=position, why=rule.why, fix=rule.fix
    )


def _unread(twin: Path) -> tuple[Finding, ...]:
    """What keeps the file from being read at all: then no version of the app can be had, and no rule judges any."""
    from scenario_kit.load.document import read_document

    if not twin.is_file():
        return ()
    try:
        document = read_document(twin)
    except AuthoringError as error:
        return error.findings
    if document.findings or isinstance(document.data, dict):
        return tuple(document.findings)
    return (_finding(f"expected a mapping, observed {type(document.data).__name__}", document.positions.key()),)


def _unheard(twin: Path, name: str, catalog: Catalog) -> Iterator[Finding]:
    """Parts of versions that the app does not have: nothing would ever read them."""
    from scenario_kit.load.document import read_document

    if not twin.is_file():
        return
    document = read_document(twin)
    known, parts = _versions(name, catalog), document.data.get("versions")
    for version in parts if known and isinstance(parts, dict) else ():
        if version not in known:
            said = f"versions: app.yaml has no version '{version}'; there is {', '.join(known)}"
            yield _finding(f"the twin of {name}: {said}", document.positions.key("versions", version))


def _mistakes(app: App, catalog: Catalog) -> list[tuple[str, Place]]:
    """What is wrong, and where; kept, since to load the twin takes longer than to lint a scenario."""
    import msgspec

    from scenario_kit.load.disk_cache import kept

    def judged() -> list[tuple[str, Place]]:
        from scenario_kit.lab.twin.definition_checks import mistakes

        return [(mistake.text, mistake.place) for mistake in mistakes(app, _rendered(app, catalog))]

    files = [path for path in _templates(app, catalog) if path.is_file()]
    return [(text, tuple(place)) for text, place in kept("twin", files, (msgspec.json.encode(app).decode(),), judged)]


def _templates(app: App, catalog: Catalog) -> list[Path]:
    try:
        return sorted(catalog.templates(app.name).rglob("*"))
    except AuthoringError:
        return []


def _rendered(app: App, catalog: Catalog) -> tuple[App, tuple[Object, ...]] | None:
    """The app with its objects, as its options are without a word of anybody; None where others tell what is wrong."""
    from scenario_kit.render import app_objects, options_of
    from scenario_kit.render.namespaces import located

    try:
        templates = catalog.templates(app.name)
        objects = app_objects(app, options_of(app, {}), 50, app.namespace, templates=templates)
        return located(app, objects, app.namespace), objects
    except AuthoringError:
        return None


def _versions(name: str, catalog: Catalog) -> tuple[str, ...]:
    try:
        return catalog.versions(name)
    except AuthoringError:
        return ()  # what is wrong with the app itself is told by the rules
