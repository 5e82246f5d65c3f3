"""Positions in objects of an API server, which have fields but no lines."""

from __future__ import annotations

from scenario_kit.load.yaml.document import Positions, format_place
from scenario_kit.model import Position
from scenario_kit.model.json_document import Place


class ObjectPositions(Positions):
    """The places of an object: each position is the path of a field, such as ``spec.faults[0].type``."""

    _above: Place = ()

    def value(self, *place: str | int) -> Position:
        """Return the path of a field; of the object as a whole, its name."""
        whole = (*self._above, *place)
        return Position(path=format_place(whole) or self.path, line=0, column=0)

    def within(self, part: Place) -> ObjectPositions:
        """Return the positions inside a part of the object, by their places in that part."""
        result = ObjectPositions(self.path)
        result._above = (*self._above, *part)
        result.texts = {place[len(part) :]: text for place, text in self.texts.items() if place[: len(part)] == part}
        return result

    def key(self, *place: str | int) -> Position:
        """Return the path of a field."""
        return self.value(*place)

    def note_texts(self, node: object, place: Place = ()) -> None:
        """Remember every text of the object, for the rules about texts."""
        if isinstance(node, str):
            self.texts[place] = node
        elif isinstance(node, dict):
            for name, value in node.items():
                self.note_texts(value, (*place, str(name)))
        elif isinstance(node, list):
            for i, value in enumerate(node):
                self.note_texts(value, (*place, i))
