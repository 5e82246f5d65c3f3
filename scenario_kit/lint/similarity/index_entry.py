"""The features of a scenario by which it is compared with others.

The fingerprint is a hash of everything that affects the cluster, and of no descriptions. Words are those of the texts,
single and in pairs, and structural facts. Words of the catalogue's own description of a fault do not count, since every
draft contains them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.similarity.effect_signature import REACH, list_object_names, strip_values
from scenario_kit.lint.similarity.fault_signature import canonicalise_fault_types
from scenario_kit.model import Scenario
from scenario_kit.model.authored.scenario import LABELLED

_WORD: Final = re.compile(r"[a-z0-9]+")
_AMOUNT: Final = re.compile(r"[-+]?\d+(\.\d+)?\s?[A-Za-z%]{0,3}")


class IndexEntry(NamedTuple):
    """The features of a scenario that are compared.

    Attributes:
        words: counts of words and structural facts.
        place: path within its catalogue; with the name it identifies the scenario in every checkout.
        breaks: per fault, what is broken in which way.
        shape: fingerprint without numbers.
        core: fingerprint of the labelled faults alone, without numbers.
        own: whether it has fault types of its own.
        does: the fingerprint, but of what faults write instead of their types; rendered scenarios only.
        alike: the shape of labelled faults by what they write; rendered scenarios only.
        writes: names of the written objects; rendered scenarios only.
        setting: fingerprint of everything but the labelled faults: must-fire alerts, other faults, load, noise.
        mechanism: ``setting`` with the fields that labelled faults write; rendered scenarios only.
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


def build_entry(path: Path, scenario: Scenario, catalog: Catalog) -> IndexEntry:
    """Build the entry of a scenario, without what needs rendering."""
    real, own = path.resolve(), _has_own_types(scenario, path)
    scenario = canonicalise_fault_types(scenario, path, catalog)
    words, place = dict(Counter(_extract_features(scenario, catalog))), "/".join(real.parts[-3:])
    app = scenario.spec.app.name
    breaks = tuple(sorted({f"{app} {use.type} {use.target.groupless}" for use in scenario.spec.faults}))
    done = _describe_changes(scenario, catalog)
    shape = _sum(strip_numbers(done)) if breaks else ""
    core, setting = _digest_core(scenario, catalog), _digest_setting(scenario, done) if breaks else ""
    return IndexEntry(scenario.name, str(real), _sum(done), words, place, breaks, shape, core, own, setting=setting)


def add_effects(entry: IndexEntry, scenario: Scenario, catalog: Catalog, done: Sequence[list[Any]]) -> IndexEntry:
    """Add the features that need rendering; ``done`` is what each fault writes."""
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
    return entry._replace(
        does=_sum(whole), alike=alike, writes=tuple(sorted(list_object_names(done))), mechanism=mechanism
    )


def _strip_written(does: Sequence[Any]) -> list[Any]:
    """Reduce writes to their fields, and other effects to their form without numbers."""
    return [one if one[0] == "field" else strip_numbers(one) for one in strip_values(does)]


def _digest_setting(scenario: Scenario, done: Sequence[Any]) -> str:
    """Digest everything but what the labelled faults write; their timing counts without numbers."""
    app, version, options, profile, faults, noise = done
    promised = {
        (a.name, a.entity.groupless if a.entity else "")
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
    """Digest the labelled faults without numbers, timing, other faults and the app's version."""
    faults = []
    for use in scenario.spec.faults:
        ref = use.target
        if use.role in LABELLED:
            chosen = strip_numbers(_select_parameters(use.type, use.parameters, catalog))
            faults.append(_sum([use.type, ref.kind, ref.name, chosen]))
    return _sum([scenario.spec.app.name, sorted(faults)]) if faults else ""


def _describe_changes(scenario: Scenario, catalog: Catalog) -> list[Any]:
    choice = scenario.spec.app
    options = dict(choice.options)
    try:
        known = catalog.app(choice.name, choice.version).options.get("properties", {})
        options = {k: v for k, v in options.items() if v != known.get(k, {}).get("default")}
    except AuthoringError:
        pass  # another rule reports an unknown app
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
                use.target.groupless,
                _select_parameters(use.type, use.parameters, catalog),
                start,
                recurrence,
                *([{"replicas": f"{use.replicas} pods"}] if use.replicas is not None else ()),
            ]
        )
    return [choice.name, choice.version, options, choice.load.profile, faults, list(scenario.spec.noise)]


def _sum(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def strip_numbers(node: Any) -> Any:
    """Drop numbers, and texts that are a number with a unit: a default may be left out."""
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
    """Return the parameters that differ from their defaults."""
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
    """Yield words, and pairs of adjacent words."""
    words = _WORD.findall(text.lower())
    yield from words
    yield from (f"{one} {other}" for one, other in pairwise(words))


def _list_catalogue_words(fault_type: str, catalog: Catalog) -> Iterator[str]:
    """Yield the words of the catalogue's description of a fault, which drafts contain."""
    try:
        known = catalog.fault(fault_type)
    except AuthoringError:
        return
    reported = [str(each.get("description", "")) for each in (*known.solutions, *known.decoys)]
    for text in (known.title, known.description, *reported):
        yield from _split_words(text)
