"""The container that a fault is about, and its environment variables, as templates see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from scenario_kit.render.templating.authoring_error import build_error, did_you_mean
from scenario_kit.render.templating.target import FaultTarget


class ChosenPart(Mapping[str, Any]):
    """What is known of the container that parameter ``container`` names, of the first one without.

    Called with a reference and a name, it finds the same of another container. It is looked up when a template uses
    it: not everything that a fault can be aimed at has containers.
    """

    def __init__(self, find: Callable[[object, str], Mapping[str, Any]], target: FaultTarget, name: str) -> None:
        self._find = find
        self._target = target
        self._name = name

    def __call__(self, workload: object, name: str = "") -> Mapping[str, Any]:
        """Find the same of a container of a workload by name, of the first one where no name is given."""
        return self._find(workload, name)

    def __getitem__(self, key: str) -> Any:
        """Return one of its fields."""
        return self._find(self._target, self._name)[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over its fields."""
        return iter(self._find(self._target, self._name))

    def __len__(self) -> int:
        """Return how many fields it has."""
        return len(self._find(self._target, self._name))


class ContainerEnv(dict[str, Any]):
    """ContainerEnv variables of a container by name; one that is not there is an error."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        super().__init__({entry["name"]: entry for entry in entries})
        self._entries = entries

    def __missing__(self, name: str) -> NoReturn:
        """Refuse a variable that is not there."""
        index_of(self._entries, "name", name)
        raise KeyError(name)


def index_of(items: Sequence[Mapping[str, Any]], key: str, value: object) -> int:
    """Return the index of the first item whose ``key`` has that value."""
    for index, item in enumerate(items):
        if item.get(key) == value:
            return index
    there = [item.get(key) for item in items]
    raise build_error(
        "SK120",
        f"there is no item with {key} {value!r}",
        expected=" | ".join(str(v) for v in there) or "a list with items",
        fix=did_you_mean(str(value), [str(v) for v in there]),
    )
