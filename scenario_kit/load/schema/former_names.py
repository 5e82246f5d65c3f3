"""Find fields with former names, and rename them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.load.package_data import read_package_data
from scenario_kit.load.yaml.document import Positions, quote_place
from scenario_kit.load.yaml.edit import Rename
from scenario_kit.model.json_document import Place
from scenario_kit.schema.field_renames import FIX_RENAMED, explain_renaming
from scenario_kit.schema.source import FORMER_NAMES

_NONE: Final[Mapping[str, str]] = {}


class FormerName(NamedTuple):
    """A field with a former name; ``taken`` if the object also has the current one."""

    place: Place
    name: str
    taken: bool = False

    @property
    def message(self) -> str:
        """The message of a finding."""
        renamed = explain_renaming(str(self.place[-1]), self.name)
        where = quote_place(self.place[:-1])
        return f"{where} has both: {renamed}" if self.taken else f"{renamed} in {where}"

    @property
    def fix(self) -> str:
        """The fix of a finding."""
        return f"remove `{self.place[-1]}`" if self.taken else FIX_RENAMED


def load_former_twin_names() -> Mapping[str, Mapping[str, str]]:
    """Load the former names of the fields of ``twin.yaml``: by type, the current name by the former one."""
    names: Mapping[str, Mapping[str, str]] = read_package_data(__file__)
    return names


def find_former_names(
    data: Any, schema: Any, place: Place = (), definitions: Mapping[str, Any] = _NONE
) -> Iterator[FormerName]:
    """Yield all fields of ``data`` with former names.

    Args:
        data: any value.
        schema: its schema; references are resolved in ``definitions``.
        place: its place in the document.
        definitions: schemas by name.
    """
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield from find_former_names(data, definitions[schema["$ref"].rpartition("/")[2]], place, definitions)
    for branch in schema.get("anyOf", ()):
        yield from find_former_names(data, branch, place, definitions)
    if isinstance(data, list):
        for i, item in enumerate(data):
            yield from find_former_names(item, schema.get("items"), (*place, i), definitions)
    elif isinstance(data, dict):
        former, fields = schema.get(FORMER_NAMES, _NONE), schema.get("properties", _NONE)
        for key, value in data.items():
            name = former.get(key, key)
            if name != key:
                yield FormerName((*place, key), name, name in data)
            part = fields.get(name, schema.get("additionalProperties"))
            yield from find_former_names(value, part, (*place, key), definitions)


def list_renames(found: Iterable[FormerName]) -> tuple[Rename, ...]:
    """Return edits that rename all fields; none if one of them cannot be renamed."""
    names = list(found)
    return () if any(each.taken for each in names) else tuple(Rename(each.place, each.name) for each in names)


def translate_positions(positions: Positions, names: Mapping[Place, str]) -> Positions:
    """Return the positions of a document after renaming fields."""

    def translate(place: Place) -> Place:
        return tuple(names.get(place[: i + 1], part) for i, part in enumerate(place))

    return positions.translate(translate)
