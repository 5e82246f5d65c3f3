"""Findings on app twins, which only the lab can load, reported before anything starts."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.discovery import TWIN, add_own_root, classify_file, list_choices
from scenario_kit.load.disk_cache import cache_json
from scenario_kit.load.rules import build_finding, load_rules
from scenario_kit.load.twin import locate_field
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import App, Finding, Object, Position
from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_list
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.model.twin import spell
from scenario_kit.render import render_catalog_app
from scenario_kit.render.apps.namespaces import locate_components


class _Mistake(NamedTuple):
    """A mistake of the lab's, as it is kept on disk."""

    text: str
    place: Place
    observed: str
    allowed: tuple[str, ...]


def check_files(files: Sequence[Path], catalog: Catalog) -> list[Finding]:
    """Return the findings on the twins of all apps among the files, in every version, without duplicates."""
    found: dict[str, Finding] = {}
    for file in files:
        if classify_file(file) != "App":
            continue
        known, name = add_own_root(file, catalog), file.resolve().parent.name
        twin = file.with_name("twin.yaml")
        if unread := _find_read_errors(twin):
            found |= {f"{file} {finding.position} {finding.message}": finding for finding in unread}
            continue
        for finding in (
            *_find_unknown_parts(twin, name, known),
            *_find_unused_assumptions(twin, name, known),
            *(f for v in _list_versions(name, known) for f in _check_app(name, v, known, twin)),
        ):
            # versions share most of a twin: what is said about another version at the same place is said once
            found.setdefault(f"{file} {finding.position} {finding.message.partition(': ')[2]}", finding)
    return list(found.values())


def list_twins(files: Sequence[Path]) -> list[Path]:
    """List the twin definitions of all apps among the files."""
    twins = [file.with_name(TWIN) for file in files if classify_file(file) == "App"]
    return [twin for twin in twins if twin.is_file()]


def check_app(name: str, version: str, catalog: Catalog) -> list[Finding]:
    """Return the findings on the twin of one app; an unknown app has none because other rules report it."""
    try:
        return _check_app(name, version, catalog, catalog.app_path(name).with_name("twin.yaml"))
    except AuthoringError:
        return []


def _check_app(name: str, version: str, catalog: Catalog, file: Path) -> list[Finding]:
    """Return the errors that prevent a twin from loading, running, or connecting its healthy processes."""
    try:
        app = catalog.app(name, version)
    except AuthoringError as error:  # rules report errors of the app itself
        return [_complete(f, file) for f in error.findings if f.code == "SK138"]
    found = _find_mistakes(app, catalog)
    document = read_document(file) if found else None
    return [
        _build_finding(
            f"the twin of {app.name} {app.version}: {mistake.text}",
            locate_field(document, app.version, mistake.place) if document else None,
            mistake.observed,
            mistake.allowed,
        )
        for mistake in found
    ]


def _complete(finding: Finding, file: Path) -> Finding:
    """Add why and fix to a finding, and the path from the command line."""
    rule, at = load_rules()[finding.code], finding.position
    position = None if at is None else msgspec.structs.replace(at, path=str(file))
    return msgspec.structs.replace(finding, position=position, why=rule.why, fix=finding.fix or rule.fix)


def _build_finding(message: str, position: Position | None, observed: str = "", allowed: Sequence[str] = ()) -> Finding:
    """Build a finding; ``allowed`` are the names that could stand instead of ``observed``."""
    found = msgspec.structs.replace(build_finding("SK138", message), position=position, observed=observed)
    if not allowed:
        return found
    expected = f"one of {shorten_list(list(allowed), 12)}"
    return msgspec.structs.replace(found, expected=expected, fix=did_you_mean(observed, allowed))


def _find_read_errors(twin: Path) -> tuple[Finding, ...]:
    """Return the errors that make the file unreadable; no version of the app can then be loaded or linted."""
    if not twin.is_file():
        return ()
    try:
        document = read_document(twin)
    except AuthoringError as error:
        return error.findings
    if document.findings or isinstance(document.data, dict):
        return tuple(document.findings)
    return (_build_finding(f"expected a mapping, observed {type(document.data).__name__}", document.positions.key()),)


def _find_unknown_parts(twin: Path, name: str, catalog: Catalog) -> Iterator[Finding]:
    """Find sections of versions that the app does not have."""
    if not twin.is_file():
        return
    document = read_document(twin)
    known, parts = _list_versions(name, catalog), document.data.get("versions")
    for version in parts if known and isinstance(parts, dict) else ():
        if version not in known:
            text = f"versions: app.yaml has no version '{version}', only {', '.join(known)}"
            position = document.positions.key("versions", version)
            yield _build_finding(f"the twin of {name}: {text}", position, version, known)


def _find_unused_assumptions(twin: Path, name: str, catalog: Catalog) -> Iterator[Finding]:
    """Find assumptions that no version uses: a campaign would vary them without effect."""
    try:
        twins = [catalog.app(name, version).twin for version in _list_versions(name, catalog)]
    except AuthoringError:
        return  # a twin that does not load is reported alone
    definitions = [each for each in twins if each is not None]
    if not definitions:
        return
    used = {assumption for definition in definitions for assumption in definition.uses}
    document = read_document(twin)
    for place in _list_assumptions(document.data):
        if place[-1] not in used:
            text = f"nothing uses the assumption: write `${place[-1]}` in place of a number, or remove it"
            yield _build_finding(f"the twin of {name}: {spell(place)}: {text}", document.positions.key(*place))


def _list_assumptions(data: Object) -> Iterator[Place]:
    """List the places of all assumptions, those of single versions too."""
    yield from (("assumptions", each) for each in data.get("assumptions") or ())
    for version, part in (data.get("versions") or {}).items():
        yield from (("versions", version, "assumptions", each) for each in (part or {}).get("assumptions") or ())


def _find_mistakes(app: App, catalog: Catalog) -> list[_Mistake]:
    """Find errors and their locations; cached because loading a twin takes longer than linting a scenario."""

    known = frozenset(_list_components(app.name, catalog))

    def compute() -> list[_Mistake]:
        from scenario_kit.lab.twin.definition_checks import find_mistakes

        found = find_mistakes(app, _render_app(app, catalog), known, lambda: _render_others(app, catalog))
        return [_Mistake(*mistake) for mistake in found]

    files = [path for path in _list_templates(app, catalog) if path.is_file()]
    cached = cache_json("twin", files, (app.to_bytes().decode(), *sorted(known)), compute)
    return [_Mistake(text, tuple(place), observed, tuple(allowed)) for text, place, observed, allowed in cached]


def _list_components(name: str, catalog: Catalog) -> Iterator[str]:
    """List the components of all versions of an app that can be read."""
    for version in _list_versions(name, catalog):
        with contextlib.suppress(AuthoringError):  # reported for that version
            yield from (component.name for component in catalog.app(name, version).components)


def _list_templates(app: App, catalog: Catalog) -> list[Path]:
    try:
        return sorted(catalog.templates(app.name).rglob("*"))
    except AuthoringError:
        return []


def _render_app(app: App, catalog: Catalog) -> tuple[App, tuple[Object, ...]] | None:
    """Render the app with default options; None if that fails, which other rules report."""
    try:
        objects = render_catalog_app(app, catalog)
        return locate_components(app, objects, app.namespace), objects
    except AuthoringError:
        return None


def _render_others(app: App, catalog: Catalog) -> Iterator[tuple[Object, ...]]:
    """Render the app with every other value of each option, skipping those that cannot be rendered."""
    for chosen in itertools.islice(list_choices(app), 1, None):
        with contextlib.suppress(AuthoringError):
            yield render_catalog_app(app, catalog, chosen)


def _list_versions(name: str, catalog: Catalog) -> tuple[str, ...]:
    try:
        return catalog.versions(name)
    except AuthoringError:
        return ()  # rules report errors of the app itself
