"""The index of scenarios: find copies and near copies of one.

Exact copies have the same fingerprint. Near copies share at least half of their faults (type and target); of these,
those that differ only in numbers are near whatever their texts. Others are compared by the cosine of TF-IDF vectors:
rare words count more, so that common ones (an app, a usual alert) matter little. For thousands of scenarios, the
cosines are computed by products of matrices, a few thousand columns at a time. A word of a single scenario affects only
the vector's length, which keeps the matrices narrow.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.similarity.index_entry import IndexEntry, build_entry
from scenario_kit.load import load_scenario
from scenario_kit.load.disk_cache import cache_json

#: Minimum cosine of near copies.
NEAR: Final = 0.8
#: Up to this many scenarios, dictionaries are faster than importing NumPy.
_FEW: Final = 48
_COLUMNS: Final = 4096


class ScenarioIndex:
    """Scenarios to compare with.

    Attributes:
        entries: the scenarios, each once.
        rendered: by catalogue and path, the entries that were rendered for comparison; None if that failed.
    """

    def __init__(self, entries: Iterable[IndexEntry]) -> None:
        found: dict[str, IndexEntry] = {}
        for entry in entries:
            found.setdefault(entry.path, entry)
        self.entries = tuple(found.values())
        self.rendered: dict[tuple[Catalog, str], IndexEntry | None] = {}

    def copies(self, entry: IndexEntry) -> list[IndexEntry]:
        """Return other scenarios with the same fingerprint."""
        return [other for other in self._prints.get(entry.fingerprint, ()) if _is_different(entry, other)]

    def near(self, entry: IndexEntry) -> list[tuple[float, IndexEntry]]:
        """Return near copies with their cosines, nearest first."""
        index = self._places.get(entry.path)
        if index is not None and self.entries[index] == entry and len(self.entries) > _FEW and _has_matrices():
            found = [(cosine, self.entries[i]) for i, cosine in self._angles.get(index, ())]
        else:
            own = self._vector(entry.words)
            found = [(_compute_cosine(own, other), self.entries[i]) for i, other in enumerate(self._vectors)]
        near = [(cosine, other) for cosine, other in found if cosine >= NEAR and _is_alike(entry, other)]
        known = {other.path for _, other in near}
        same = {o.path: o for o in (*self._shapes.get(entry.shape, ()), *self._cores.get(entry.core, ()))}
        near += [(1.0, other) for other in same.values() if other.path not in known]
        return sorted(
            ((c, other) for c, other in near if _is_different(entry, other)), key=lambda pair: (-pair[0], pair[1].name)
        )

    def candidates(self, entry: IndexEntry) -> list[IndexEntry]:
        """Return scenarios that may do the same with other fault types, since one of the two has its own."""
        app, targets = _summarise_entry(entry)
        mine = targets | set(entry.writes)
        found = []
        for other in (self.entries if entry.own else self._own) if entry.breaks else ():
            of, theirs = _summarise_entry(other)
            if of == app and mine & theirs and _is_different(entry, other):
                found.append(other)
        return found

    def settings(self, entry: IndexEntry) -> list[IndexEntry]:
        """Return scenarios with the same setting and a common target."""
        mine = _summarise_entry(entry)[1] | set(entry.writes)
        return [
            o
            for o in self._settings.get(entry.setting, ())
            if _is_different(entry, o) and mine & _summarise_entry(o)[1]
        ]

    @cached_property
    def _settings(self) -> dict[str, list[IndexEntry]]:
        return _group_by(self.entries, lambda entry: entry.setting)

    @cached_property
    def _own(self) -> list[IndexEntry]:
        return [entry for entry in self.entries if entry.own]

    @cached_property
    def _shapes(self) -> dict[str, list[IndexEntry]]:
        return _group_by(self.entries, lambda entry: entry.shape)

    @cached_property
    def _cores(self) -> dict[str, list[IndexEntry]]:
        return _group_by(self.entries, lambda entry: entry.core)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {entry.path: i for i, entry in enumerate(self.entries)}

    @cached_property
    def _prints(self) -> dict[str, list[IndexEntry]]:
        return _group_by(self.entries, lambda entry: entry.fingerprint)

    @cached_property
    def _used(self) -> Counter[str]:
        """The number of entries that use a word."""
        return Counter(word for entry in self.entries for word in entry.words)

    def _weight(self, word: str, count: int) -> float:
        rare = math.log((1 + len(self.entries)) / (1 + self._used[word])) + 1
        return (1 + math.log(count)) * rare

    def _vector(self, words: Mapping[str, int]) -> dict[str, float]:
        weights = {word: self._weight(word, count) for word, count in words.items()}
        length = math.sqrt(sum(w * w for w in weights.values())) or 1.0
        return {word: w / length for word, w in weights.items()}

    @cached_property
    def _vectors(self) -> list[dict[str, float]]:
        return [self._vector(entry.words) for entry in self.entries]

    @cached_property
    def _angles(self) -> dict[int, list[tuple[int, float]]]:
        """The near copies of each entry, by products of matrices."""
        import numpy as np  # slow to import; needed for many scenarios only

        shared = sorted(word for word, n in self._used.items() if n > 1)
        columns = {word: i for i, word in enumerate(shared)}
        count = len(self.entries)
        cells = [
            (row, columns[word], weight)
            for row, vector in enumerate(self._vectors)
            for word, weight in vector.items()
            if word in columns
        ]
        rows, places = (np.array([cell[i] for cell in cells], dtype=np.int64) for i in (0, 1))
        weights = np.array([cell[2] for cell in cells], dtype=np.float32)
        cosines = np.zeros((count, count), dtype=np.float32)
        for first in range(0, len(shared), _COLUMNS):
            inside = (places >= first) & (places < first + _COLUMNS)
            block = np.zeros((count, min(_COLUMNS, len(shared) - first)), dtype=np.float32)
            block[rows[inside], places[inside] - first] = weights[inside]
            cosines += block @ block.T
        found: dict[int, list[tuple[int, float]]] = {}
        for row, column in zip(*np.nonzero(cosines >= NEAR), strict=True):
            found.setdefault(int(row), []).append((int(column), float(cosines[row, column])))
        return found


def build_index(catalog: Catalog, more: Sequence[IndexEntry] = ()) -> ScenarioIndex:
    """Build an index of the catalogue's scenarios and of these, which replace those of the same name."""
    names = {entry.name for entry in more}
    return ScenarioIndex((*more, *(entry for entry in _list_catalogued(catalog) if entry.name not in names)))


def _list_catalogued(catalog: Catalog) -> list[IndexEntry]:
    files = catalog.scenarios()
    shown = [str(path.resolve()) for path in files]
    own = [fault for path in files for fault in path.parent.glob("faults/*/fault.yaml")]
    found = cache_json("shelf-8", [*files, *own], shown, lambda: [[*e] for e in _read_entries(files, catalog)])
    return [
        IndexEntry(name, path, done, words, place, tuple(breaks), shape, core, own, setting=rest[-2])
        for name, path, done, words, place, breaks, shape, core, own, *rest in found
    ]


def _read_entries(files: Iterable[Path], catalog: Catalog) -> Iterator[IndexEntry]:
    for path in files:
        try:
            yield build_entry(path, load_scenario(path).scenario, catalog)
        except AuthoringError:
            continue  # it has findings of its own


def _summarise_entry(entry: IndexEntry) -> tuple[str, set[str]]:
    """Return the app of an entry, and the names of its targets."""
    apps = {text.split(" ")[0] for text in entry.breaks}
    return "".join(apps), {text.rpartition("/")[2] for text in entry.breaks}


def _group_by(entries: Iterable[IndexEntry], key: Callable[[IndexEntry], str]) -> dict[str, list[IndexEntry]]:
    found: dict[str, list[IndexEntry]] = {}
    for entry in entries:
        if key(entry):
            found.setdefault(key(entry), []).append(entry)
    return found


def _is_alike(one: IndexEntry, other: IndexEntry) -> bool:
    """Return whether two scenarios share at least half of their faults."""
    both, any_ = set(one.breaks) & set(other.breaks), set(one.breaks) | set(other.breaks)
    return 2 * len(both) >= len(any_)


def _is_different(one: IndexEntry, other: IndexEntry) -> bool:
    return one.path != other.path and (one.name != other.name or one.place != other.place)


def _has_matrices() -> bool:
    """Return whether NumPy is installed; the operator's image does not have it."""
    return find_spec("numpy") is not None


def _compute_cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    return sum(weight * many.get(word, 0.0) for word, weight in few.items())
