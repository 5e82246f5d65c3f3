"""Pairs of fault types and targets in the newest version of every app that a lab can run."""

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Object, Reference
from scenario_kit.render import render_catalog_app, select_options
from scenario_kit.render.faults.applicability import list_targets, offer


class Pair(NamedTuple):
    """A fault type and a target of an app; ``change`` is the version of the fault type."""

    app: str
    version: str
    fault: str
    change: int
    family: str
    target: Reference

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """Identifies the pair's record; a new version of a fault type is tried again."""
        return self.app, self.version, self.fault, self.change, self.target

    def __str__(self) -> str:
        return f"{self.fault} on {self.target} in {self.app} {self.version}"


def list_pairs(catalog: Catalog, apps: Sequence[str] = (), faults: Sequence[str] = ()) -> Iterator[Pair]:
    """Yield all pairs whose target is of the right kind, whether or not the fault has an effect.

    Args:
        catalog: the apps and fault types.
        apps: only these; all if empty.
        faults: only these types; all if empty.
    """
    for name in apps or catalog.apps():
        app = catalog.app(name, catalog.versions(name)[0])
        if app.twin is None:
            continue
        for fault in faults or catalog.faults():
            fault_type = catalog.fault(fault)
            for target in list_targets(fault_type, app, list_objects_for(catalog, app, fault)):
                yield Pair(name, app.version, fault, fault_type.version, fault_type.family, target)


def find_aimless_types(catalog: Catalog, known: Iterable[Pair]) -> dict[str, str]:
    """Return the fault types without a pair, and why."""
    aimed = {pair.fault for pair in known}
    reported = {}
    for name in (fault for fault in catalog.faults() if fault not in aimed):
        fault_type = catalog.fault(name)
        needs = f"; needs {', '.join(fault_type.requires)}" if fault_type.requires else ""
        reported[name] = f"no {' or '.join(fault_type.targets)} in any app{needs}"
    return reported


def takes_effect(catalog: Catalog, pair: Pair) -> bool:
    """Return whether the fault with default parameters has an effect on the target, so that ``new`` offers it."""
    app = catalog.app(pair.app, pair.version)
    try:
        offer(catalog.fault(pair.fault), app, list_objects_for(catalog, app, pair.fault), pair.target)
    except AuthoringError:
        return False
    return True


def list_objects_for(catalog: Catalog, app: App, fault: str) -> tuple[Object, ...]:
    """Return the app's objects, with the options that the fault type requires."""
    desired = select_options(app, catalog.fault(fault))
    return _render_objects(catalog, app.name, app.version, json.dumps(desired, sort_keys=True))


@functools.lru_cache
def _render_objects(catalog: Catalog, name: str, version: str, desired: str) -> tuple[Object, ...]:
    """Render the objects; cached, since most fault types require the same options, and lookups depend on identity."""
    return render_catalog_app(catalog.app(name, version), catalog, json.loads(desired))


def sample(known: Sequence[Pair], seed: int) -> Iterator[Pair]:
    """Yield the pairs in random order, round-robin over families, the faults of each, and the apps of each fault.

    So every prefix covers as many families as possible, then as many fault types, then both apps.
    """
    source = random.Random(seed)
    shuffled = sorted(known)
    source.shuffle(shuffled)
    tree: dict[str, dict[str, dict[str, list[Pair]]]] = {}
    for pair in shuffled:
        tree.setdefault(pair.family, {}).setdefault(pair.fault, {}).setdefault(pair.app, []).append(pair)
    families = [_round([_round(list(apps.values())) for apps in faults.values()]) for faults in tree.values()]
    yield from _round(families)


def select_first_pairs(order: Iterable[Pair], count: int) -> Iterator[Pair]:
    """Yield the first ``count`` pairs of every fault type in every app, in order."""
    taken: Counter[tuple[str, str]] = Counter()
    for pair in order:
        taken[pair.app, pair.fault] += 1
        if taken[pair.app, pair.fault] <= count:
            yield pair


def _round(groups: Sequence[Sequence[Pair]]) -> list[Pair]:
    """Interleave the groups: the first of each, then the second of each, and so on."""
    longest = max((len(group) for group in groups), default=0)
    return [group[position] for position in range(longest) for group in groups if position < len(group)]
