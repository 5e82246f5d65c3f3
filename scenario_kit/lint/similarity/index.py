"""All scenarios that one is compared with: what each breaks, and the words that tell of it.

Exact copies are found by a fingerprint: a sum over what makes a difference to the cluster, and nothing only told.
Near copies break mostly the same things in the same way: at least half of the faults have the same type and target.
Of those, what differs in numbers alone is near whatever is told of it. Others are compared by the angle between
weighted words: single words and pairs of the texts, and the facts of the structure as words of their own. A word
counts the more, the fewer scenarios use it, so that what all share (an app, a usual alert) says little; what the
catalogue's own text about a fault says does not count at all, since every draft with that fault begins with it. For
thousands of scenarios all angles come from products of matrices, a few thousand columns at a time; a word that only
one of them uses shares nothing and enters nothing but lengths, which keeps them narrow.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.similarity.effect_signature import REACH, names, strip_values
from scenario_kit.lint.similarity.fault_signature import call_by_mechanism
from scenario_kit.load import load_scenario
from scenario_kit.load.disk_cache import cache_json
from scenario_kit.model import Reference, Scenario
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.kubernetes.reference import strip_group

#: Cosine from which two scenarios are neighbours.
NEAR: Final = 0.8
#: Scenarios up to which plain dictionaries are faster than importing a library for matrices, where there is one.
_FEW: Final = 48
_COLUMNS: Final = 4096
_WORD: Final = re.compile(r"[a-z0-9]+")
_AMOUNT: Final = re.compile(r"[-+]?\d+(\.\d+)?\s?[A-Za-z%]{0,3}")


class IndexEntry(NamedTuple):
    """A scenario as it is compared; ``words`` counts its features.

    ``place`` is its path within its catalogue: with the name it makes it the same scenario in every checkout.
    ``breaks`` says what is broken in which way, a text for each fault; ``shape`` is a fingerprint without numbers, and
    ``core`` one of the labelled faults alone, whatever happens around them. ``own`` tells whether it brings fault types
    along. ``does`` and ``alike`` are as the fingerprint and the shape, but of what the faults write instead of what
    they are called; ``writes`` names what they write. ``setting`` is a fingerprint of all but the labelled faults: the
    alerts that must fire, other faults, load, noise; ``mechanism`` adds which fields the labelled faults write, with
    whatever values. All but ``setting`` of these are known only of what was rendered.
    """

    name: str
    path: str
    fingerprint: str
    words: dict[str, int]
    place: str
    breaks: tuple[str, ...] = ()
    shape: str = ""
    core: str = ""
    own: bool = False
    does: str = ""
    alike: str = ""
    writes: tuple[str, ...] = ()
    setting: str = ""
    mechanism: str = ""


class Shelf:
    """Entries to compare with."""

    def __init__(self, entries: Iterable[IndexEntry]) -> None:
        found: dict[str, IndexEntry] = {}
        for entry in entries:
            found.setdefault(entry.path, entry)
        self.entries = tuple(found.values())

    def copies(self, entry: IndexEntry) -> list[IndexEntry]:
        """Return others that break the same in the same way."""
        return [other for other in self._prints.get(entry.fingerprint, ()) if _is_different(entry, other)]

    def near(self, entry: IndexEntry) -> list[tuple[float, IndexEntry]]:
        """Return others that are almost the same, nearest first, each with the cosine."""
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
        """Return others that may do the same by fault types of other names: one of the two brings its own."""
        app, targets = _summarise_entry(entry)
        mine = targets | set(entry.writes)
        found = []
        for other in (self.entries if entry.own else self._own) if entry.breaks else ():
            of, theirs = _summarise_entry(other)
            if of == app and mine & theirs and _is_different(entry, other):
                found.append(other)
        return found

    def settings(self, entry: IndexEntry) -> list[IndexEntry]:
        """Return others that promise the same in the same surroundings, by faults at one of the same objects."""
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
        prints: dict[str, list[IndexEntry]] = {}
        for entry in self.entries:
            prints.setdefault(entry.fingerprint, []).append(entry)
        return prints

    @cached_property
    def _used(self) -> Counter[str]:
        """How many entries use a word."""
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
        """For each entry those within reach, from products of matrices."""
        import numpy as np  # only many scenarios are worth its import

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


def build_index(catalog: Catalog, more: Sequence[IndexEntry] = ()) -> Shelf:
    """Build the catalogue's scenarios and these; of the same name, these stand for the catalogue's."""
    names = {entry.name for entry in more}
    return Shelf((*more, *(entry for entry in _list_catalogued(catalog) if entry.name not in names)))


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
            continue  # what is wrong with it is told where it is judged


def build_entry(path: Path, scenario: Scenario, catalog: Catalog) -> IndexEntry:
    """Build a scenario as it is compared."""
    real, own = path.resolve(), _has_own_types(scenario, path)
    scenario = call_by_mechanism(scenario, path, catalog)
    words, place = dict(Counter(_extract_features(scenario, catalog))), "/".join(real.parts[-3:])
    app = scenario.spec.app.name
    breaks = tuple(sorted({f"{app} {use.type} {strip_group(use.target)}" for use in scenario.spec.faults}))
    done = _describe_changes(scenario, catalog)
    shape = _sum(strip_numbers(done)) if breaks else ""
    core, setting = _digest_core(scenario, catalog), _digest_setting(scenario, done) if breaks else ""
    return IndexEntry(scenario.name, str(real), _sum(done), words, place, breaks, shape, core, own, setting=setting)


def add_effects(entry: IndexEntry, scenario: Scenario, catalog: Catalog, done: Sequence[list[Any]]) -> IndexEntry:
    """Return the entry, which now also says what its rendered faults write; ``done`` is that, fault by fault."""
    if not done:
        return entry
    app, version, options, profile, faults, noise = _describe_changes(scenario, catalog)
    faults = [[does, *fault[3:]] for does, fault in zip(done, faults, strict=True)]
    whole = [app, version, options, profile, faults, noise]
    labelled = [
        [one for one in does if one[0] != REACH]
        for does, use in zip(done, scenario.spec.faults, strict=True)
        if use.role in LABELLED
    ]
    alike = _sum([app, sorted(_sum(strip_numbers(does)) for does in labelled)]) if labelled else ""
    mechanism = _sum([entry.setting, sorted(_sum(_strip_written(does)) for does in labelled)]) if labelled else ""
    return entry._replace(does=_sum(whole), alike=alike, writes=tuple(sorted(names(done))), mechanism=mechanism)


def _strip_written(does: Sequence[Any]) -> list[Any]:
    """Return which fields are written, and what else is done but for its numbers."""
    return [one if one[0] == "field" else strip_numbers(one) for one in strip_values(does)]


def _digest_setting(scenario: Scenario, done: Sequence[Any]) -> str:
    """Digest everything that makes an incident but what the labelled faults write; of their staging, all but the
    numbers.
    """
    app, version, options, profile, faults, noise = done
    promised = {
        (a.name, strip_group(a.entity) if a.entity else "")
        for a in scenario.spec.expect.alerts
        if a.alert_class == "MustFire"
    }
    staged = [
        [use.role, strip_numbers(fault[3:]), [] if use.role in LABELLED else fault[:3]]
        for use, fault in zip(scenario.spec.faults, faults, strict=True)
    ]
    return _sum([app, version, options, profile, sorted(map(_sum, staged)), noise, sorted(promised)])


def _has_own_types(scenario: Scenario, path: Path) -> bool:
    own = path.parent / "faults"
    return own.is_dir() and any((own / use.type).is_dir() for use in scenario.spec.faults)


def _digest_core(scenario: Scenario, catalog: Catalog) -> str:
    """Digest the labelled faults without numbers, whatever else happens, when, and in which version of the app."""
    faults = []
    for use in scenario.spec.faults:
        ref = Reference.parse(use.target)
        if use.role in LABELLED:
            chosen = strip_numbers(_select_parameters(use.type, use.parameters, catalog))
            faults.append(_sum([use.type, ref.kind, ref.name, chosen]))
    return _sum([scenario.spec.app.name, sorted(faults)]) if faults else ""


def _summarise_entry(entry: IndexEntry) -> tuple[str, set[str]]:
    """Summarise the app of an entry with faults, and the names of their targets."""
    apps = {text.split(" ")[0] for text in entry.breaks}
    return "".join(apps), {text.rpartition("/")[2] for text in entry.breaks}


def _group_by(entries: Iterable[IndexEntry], key: Callable[[IndexEntry], str]) -> dict[str, list[IndexEntry]]:
    found: dict[str, list[IndexEntry]] = {}
    for entry in entries:
        if key(entry):
            found.setdefault(key(entry), []).append(entry)
    return found


def take_fingerprint(scenario: Scenario, catalog: Catalog) -> str:
    """Compute sha256 over what the scenario does to a cluster: app, options, faults with their parameters, order and
    timing.
    """
    return _sum(_describe_changes(scenario, catalog))


def _describe_changes(scenario: Scenario, catalog: Catalog) -> list[Any]:
    choice = scenario.spec.app
    options = dict(choice.options)
    try:
        known = catalog.app(choice.name, choice.version).options.get("properties", {})
        options = {k: v for k, v in options.items() if v != known.get(k, {}).get("default")}
    except AuthoringError:
        pass  # an unknown app is told elsewhere; here it is one like any other
    order = {use.name: i for i, use in enumerate(scenario.spec.faults)}
    faults = []
    for use in scenario.spec.faults:
        start = use.start.to_json()
        if "afterFault" in start:
            start["afterFault"] = order.get(start["afterFault"], -1)
        recurrence = use.recurrence.to_json() if use.recurrence else None
        faults.append(
            [
                use.type,
                strip_group(use.target),
                _select_parameters(use.type, use.parameters, catalog),
                start,
                recurrence,
            ]
        )
    return [choice.name, choice.version, options, choice.load.profile, faults, list(scenario.spec.noise)]


def _sum(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def strip_numbers(node: Any) -> Any:
    """Return the document without numbers, and texts that are one with a unit at most: a default may say the same
    unsaid.
    """
    if isinstance(node, dict):
        return {key: strip_numbers(value) for key, value in node.items() if not _is_amount(value)}
    if isinstance(node, list):
        return [strip_numbers(value) for value in node if not _is_amount(value)]
    return node


def _is_amount(value: Any) -> bool:
    if isinstance(value, str):
        return _AMOUNT.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _select_parameters(fault_type: str, parameters: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    """Select the parameters without those that say what the fault would do anyway."""
    try:
        known = catalog.fault(fault_type).parameters.get("properties", {})
    except AuthoringError:
        return dict(parameters)
    return {k: v for k, v in parameters.items() if k not in known or v != known[k].get("default")}


def _extract_features(scenario: Scenario, catalog: Catalog) -> Iterator[str]:
    spec = scenario.spec
    given = {word for use in spec.faults for word in _list_catalogue_words(use.type, catalog)}
    because = [edge.because for edge in spec.ground_truth.propagation]
    reported = [*(s.description for s in spec.solutions), *(d.description for d in spec.decoys)]
    for text in (spec.title, spec.description, spec.brief, *because, *reported):
        yield from (word for word in _split_words(text) if word not in given)
    yield f"app={spec.app.name}"
    for use in spec.faults:
        yield from (f"fault={use.type}", f"target={use.target}", f"fault={use.type} target={use.target}")
        yield from (f"{use.type}.{name}={value}" for name, value in use.parameters.items())
    for alert in spec.expect.alerts:
        yield f"alert={alert.name} on={alert.entity} class={alert.alert_class}"
    for cause in spec.ground_truth.root_causes:
        yield f"cause={cause.entity}"
    for edge in spec.ground_truth.propagation:
        yield f"edge={edge.from_} to={edge.to}"
    for changes in (*(s.changes for s in spec.solutions), *(d.changes for d in spec.decoys)):
        yield from (f"change={change.operation.keyword} of={change.target}" for change in changes)


def _split_words(text: str) -> Iterator[str]:
    """Return single words, and each with the next one."""
    words = _WORD.findall(text.lower())
    yield from words
    yield from (f"{one} {other}" for one, other in pairwise(words))


def _list_catalogue_words(fault_type: str, catalog: Catalog) -> Iterator[str]:
    """List what the catalogue says about a fault: a draft that uses it has these words."""
    try:
        known = catalog.fault(fault_type)
    except AuthoringError:
        return
    reported = [str(each.get("description", "")) for each in (*known.solutions, *known.decoys)]
    for text in (known.title, known.description, *reported):
        yield from _split_words(text)


def _is_alike(one: IndexEntry, other: IndexEntry) -> bool:
    """Return whether half of what either of them breaks is broken in the same way by both."""
    both, any_ = set(one.breaks) & set(other.breaks), set(one.breaks) | set(other.breaks)
    return 2 * len(both) >= len(any_)


def _is_different(one: IndexEntry, other: IndexEntry) -> bool:
    return one.path != other.path and (one.name != other.name or one.place != other.place)


def _has_matrices() -> bool:
    """Return whether there is a library for matrices: the operator's image has none."""
    return find_spec("numpy") is not None


def _compute_cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    return sum(weight * many.get(word, 0.0) for word, weight in few.items())
