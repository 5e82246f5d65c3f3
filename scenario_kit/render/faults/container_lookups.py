"""Template look-ups on the target's container and its environment variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.target import FaultTarget


class ContainerLookup(Mapping[str, Any]):
    """Lazy look-up on the container named by parameter ``container``, by default the first.

    Call it with a reference and a name to look up another container. Lazy because not every target has containers.
    """

    def __init__(self, find: Callable[[object, str], Mapping[str, Any]], target: FaultTarget, name: str) -> None:
        self._find = find
        self._target = target
        self._name = name

    def __call__(self, workload: object, name: str = "") -> Mapping[str, Any]:
        """Look up a container of a workload by name, by default the first."""
        return self._find(workload, name)

    def __getitem__(self, key: str) -> Any:
        """Return one of its fields."""
        return self._find(self._target, self._name)[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over its fields."""
        return iter(self._find(self._target, self._name))

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self._find(self._target, self._name))


class ContainerEnv(dict[str, Any]):
    """Environment variables of a container by name; an unknown name is an error."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        super().__init__({entry["name"]: entry for entry in entries})

    def __missing__(self, name: str) -> NoReturn:
        """Reject an unknown variable."""
        raise build_error(
            "SK120",
            f"the container has no environment variable {name!r}",
            expected=" | ".join(self) or "a container with variables",
            fix=did_you_mean(name, list(self)),
        )


def index_of(items: Sequence[Mapping[str, Any]], key: str, value: object) -> int:
    """Return the index of the first item whose ``key`` has that value."""
    for index, item in enumerate(items):
        if item.get(key) == value:
            return index
    known = [item.get(key) for item in items]
    raise build_error(
        "SK120",
        f"there is no item with {key} {value!r}",
        expected=" | ".join(str(v) for v in known) or "a list with items",
        fix=did_you_mean(str(value), [str(v) for v in known]),
    )
