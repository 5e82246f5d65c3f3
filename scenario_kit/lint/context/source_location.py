"""Locate the source of a wrong field of a rendered object.

A template does not record which text produced which field. The source is found by the names that lead to the field: of
all values below the changes, the one whose trailing names match most of the field's. If none matches, it is the
changes themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scenario_kit.lint.context.catalog_context import AppCase, FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.simulation.stages import Simulation, WrittenObject
from scenario_kit.model import Object, Position
from scenario_kit.model.json_document import Place
from scenario_kit.render.objects.lookup import format_reference

Judged = LintContext | FaultCase | AppCase


class RenderedField(NamedTuple):
    """A field of a rendered object, its value, and a remark."""

    keys: Place
    value: Any
    note: str = ""


class SourceSite(NamedTuple):
    """The source of a field: its text, and its ``position`` if it is in another file."""

    place: Place
    text: str = ""
    position: Position | None = None


class LocatedField(NamedTuple):
    """A field of a written object, with its source."""

    written: WrittenObject
    spot: RenderedField
    site: SourceSite

    @property
    def subject(self) -> str:
        """The object, as messages name it."""
        return format_reference(self.written.object)


Finder = Callable[[Object], Iterable[RenderedField]]


def find_introduced(case: Judged, finder: Finder) -> Iterator[LocatedField]:
    """Find the fields that the file introduces, each once; what an object had before the change does not count."""
    reported: set[tuple[object, ...]] = set()
    for one in case.written:
        before: set[tuple[Place, str]] | None = None
        for spot in finder(one.object):
            if before is None:
                before = {(_strip_indices(s.keys), str(s.value)) for s in finder(one.was)} if one.was else set()
            if (_strip_indices(spot.keys), str(spot.value)) in before:
                continue
            site = find_site(case, one.stage, spot.keys, spot.value)
            key = (site, _strip_indices(spot.keys), str(spot.value)) if site else None
            if site and key and key not in reported:
                reported.add(key)
                yield LocatedField(one, spot, site)


def find_site(case: Judged, stage: Simulation, keys: Place, value: Any) -> SourceSite | None:
    """Find the source of a field; None if it comes from the catalogue's part of a scenario."""
    if isinstance(case, AppCase):
        return _find_in_templates(case, stage, keys, value)
    known: dict[Place, str] = {**case.positions.raw, **case.positions.texts}
    if isinstance(case, LintContext) and stage.place[:2] == ("spec", "faults"):
        return next((SourceSite(p, t) for p, t in known.items() if _is_below(p, stage.place) and t == str(value)), None)
    best, most = stage.place, (0, False)
    for place, text in known.items():
        if _is_below(place, stage.place):
            score = _count_agreeing(place, keys, text), text == str(value)
            if score > most:
                best, most = place, score
    return SourceSite(best, known.get(best, ""))


def _count_agreeing(place: Place, keys: Place, text: str) -> int:
    """Count the trailing names that agree; the path of a JSON patch counts as the names it contains."""
    if place[-1:] == ("path",) and text.startswith("/"):
        place = tuple(int(p) if p.isdigit() else p for p in text[1:].split("/"))
    count = 0
    for one, other in zip(reversed(place), reversed(keys), strict=False):
        if one != other and not (isinstance(one, int) and isinstance(other, int)):
            break
        count += 1
    return count


def _is_below(place: Place, root: Place) -> bool:
    return place[: len(root)] == root


def _find_in_templates(case: AppCase, stage: Simulation, keys: Place, value: Any) -> SourceSite:
    """Find the template that contains the value, or else the field's name; the version's own files come first."""
    own = [path for path in case.templates if stage.app.version in path.parts]
    rest = [path for path in case.templates if not any(number in path.parts for number in case.document["versions"])]
    names = [str(key) for key in reversed(keys) if isinstance(key, str)]
    for word in (str(value) if isinstance(value, str) and len(value) > 2 else "", *names[:1]):
        for path in (*own, *rest):
            if word and (at := case.templates[path].find(word)) >= 0:
                return SourceSite(("name",), "", _find_position(path, case.templates[path], at))
    return SourceSite(("name",))


def _find_position(path: Path, text: str, at: int) -> Position:
    return Position(path=str(path), line=text.count("\n", 0, at) + 1, column=at - text.rfind("\n", 0, at))


def _strip_indices(keys: Place) -> Place:
    return tuple("" if isinstance(key, int) else key for key in keys)
