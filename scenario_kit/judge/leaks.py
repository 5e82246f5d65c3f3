"""What a solver can read, held against what it must not find there (docs/hidden-and-noise.md). Pure.

The tokens are derived once from the runbook: names and types of the faults, names of procedures, the author's
sentences, and for hidden faults whatever belongs to the injector. What the app itself says, such as the name of a
flag, is none.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object, Runbook, Value
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.kubernetes.reference import GROUP

#: A sentence is given away by its words; a word or two may stand anywhere.
_SENTENCE: Final = 4
#: Maps whose keys are an author's own words.
_FREE: Final = frozenset(
    ("labels", "annotations", "data", "stringData", "binaryData", "matchLabels", "nodeSelector", "parameters")
)
_FIELD: Final = re.compile(r"[a-z]+(?:[A-Z][a-z0-9]*)+")
#: Places that a finding names; the rest is counted.
_NAMED: Final = 3


class Readable(Value, frozen=True, kw_only=True):
    """A text that a solver can read, and where: ``Pod/cart: metadata.annotations``."""

    where: str
    text: str


class Token(Value, frozen=True, kw_only=True):
    """A text that gives the answer away. ``what`` says what it is, ``injector`` that it belongs to the machinery."""

    text: str
    what: str
    injector: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression: whole words, joined by whatever joins words in names."""
        parts = [re.escape(part) for part in re.split(r"[-_ ]", self.text) if part]
        joint = r"\s+" if " " in self.text else r"[-_.]?"
        return rf"(?<![A-Za-z0-9]){joint.join(parts)}(?![A-Za-z0-9])"


def list_tokens(runbook: Runbook) -> tuple[Token, ...]:
    """List what must not be readable, without what the app says itself, and what an experiment says that is to be
    seen.
    """
    seen = [e for f in runbook.faults if f.visibility != "Hidden" for e in f.experiments]
    known = "\n".join(text for obj in (*runbook.objects, *seen) for text in list_texts(obj).values())
    known += "\n".join((*(c.name for c in runbook.app.components), *sorted(_list_written_fields(runbook))))
    unique = {token.text.lower(): token for token in reversed(list(_find_tokens(runbook)))}
    return tuple(t for t in reversed(unique.values()) if not re.search(t.pattern, known, re.IGNORECASE))


def _list_written_fields(runbook: Runbook) -> set[str]:
    """List fields of the API that the faults write (``podAntiAffinity``): to see them there is to find the cause."""
    written = [c for f in runbook.faults for c in f.changes]
    bodies = [c.operation.resource or (c.operation.document if c.operation.patches else {}) for c in written]
    return {name for body in bodies for name in _find_fields(body)}


def _find_fields(value: Any) -> Iterator[str]:
    """Find names that belong to the API: keys of maps that somebody fills freely are none."""
    if isinstance(value, list):
        for item in value:
            yield from _find_fields(item)
    elif isinstance(value, dict):
        for key, inside in value.items():
            if _FIELD.fullmatch(key):
                yield key
            if key not in _FREE:
                yield from _find_fields(inside)


def _find_tokens(runbook: Runbook) -> Iterator[Token]:
    yield from _split_name_tokens(runbook.scenario, "the name of the scenario")
    for fault in runbook.faults:
        yield from _split_name_tokens(fault.name, "the name of a fault")
        yield from _split_name_tokens(fault.type, "the type of a fault")
    for procedure in runbook.procedures:
        yield from _split_name_tokens(procedure.name, f"the name of a {procedure.use.lower()}")
        yield from _split_text_tokens(procedure.solution.description, f"what a {procedure.use.lower()} says")
    for edge in runbook.ground_truth.propagation:
        yield from _split_text_tokens(edge.because, "the author's explanation")
    yield Token(text=GROUP, what="an object or a trace of ours", injector=True)
    chaos = [(f, e) for f in runbook.faults for e in f.experiments]
    for fault, experiment in chaos:
        if fault.visibility == "Hidden":
            yield Token(text=experiment["kind"], what="the kind of a hidden experiment", injector=True)
            if name := experiment["metadata"].get("name"):
                yield Token(text=name, what="the name of a hidden experiment", injector=True)
    if chaos and all(fault.visibility == "Hidden" for fault, _ in chaos):
        yield Token(text=CHAOS_GROUP, what="a trace of the fault injector", injector=True)


def _split_name_tokens(name: str, what: str) -> Iterator[Token]:
    """Split a name of several parts; a single word ('quota') is a word of the trade, and stands in every log."""
    if len(re.split(r"[-_]", name)) > 1:
        yield Token(text=name, what=what)


def _split_text_tokens(text: str, what: str) -> Iterator[Token]:
    if len(text.split()) >= _SENTENCE:
        yield Token(text=text, what=what)


def has_shown_experiment(runbook: Runbook) -> bool:
    """Return whether some experiment is one that the scenario lets a solver see: its objects are read by design."""
    return any(f.visibility != "Hidden" and f.experiments for f in runbook.faults)


def list_readable(obj: Object) -> Iterator[Readable]:
    """List everything that an object says, secret data decoded."""
    name = f"{obj.get('kind', '')}/{obj['metadata'].get('name', '')}"
    for place, text in list_texts(obj).items():
        yield Readable(where=f"{name}: {place}", text=text)


def list_texts(obj: Object) -> Mapping[str, str]:
    """List every text of an object by its path; keys of mappings count, since names of labels and variables are
    keys.
    """
    found: dict[str, str] = {}
    _walk(obj, "", found)
    if obj.get("kind") == "Secret":
        for key, value in (obj.get("data") or {}).items():
            try:
                found[f"data.{key}"] = base64.b64decode(value or "", validate=True).decode("utf-8", "replace")
            except (binascii.Error, ValueError):
                found[f"data.{key}"] = str(value)
    return found


def _walk(value: Any, path: str, found: dict[str, str]) -> None:
    if isinstance(value, Mapping):
        if value:
            found[f"{path}." if path else "."] = " ".join(map(str, value))
        for key, item in value.items():
            _walk(item, f"{path}.{key}" if path else str(key), found)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _walk(item, f"{path}[{index}]", found)
    elif isinstance(value, str):
        found[path] = value


def find_leaks(read: Iterable[Readable], sought: Iterable[Token]) -> list[Finding]:
    """Build one finding for each token that a solver can read, with the first places where it stands."""
    desired = list(sought)
    if not desired:
        return []
    pattern = re.compile("|".join(f"({t.pattern})" for t in desired), re.IGNORECASE)
    places: dict[int, list[Readable]] = {}
    for each in read:
        for number in {m.lastindex - 1 for m in pattern.finditer(each.text) if m.lastindex}:
            places.setdefault(number, []).append(each)
    return [_build_finding(desired[number], found) for number, found in sorted(places.items())]


def _build_finding(token: Token, places: list[Readable]) -> Finding:
    named = list(dict.fromkeys(p.where for p in places))
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    observed = "; ".join(named[:_NAMED]) + more
    if token.injector:
        return build_finding(
            "SK442",
            message=f"a solver can read {token.what}: '{token.text}'",
            observed=observed,
            expected="nothing of the fault injector where the solver's role reaches",
            fix="visibility: Hidden keeps an experiment out of sight; if nothing of yours shows it, report it as a bug",
        )
    return build_finding(
        "SK441",
        message=f"a solver can read {token.what}: '{token.text}'",
        observed=observed,
        expected="names and texts that somebody who knows nothing could have chosen",
        why="a solver that finds the answer in a name has investigated nothing",
        fix="give the object a neutral name ({{ neutral('settings') }}), or rename what gives it away in the scenario",
    )


def report_reached(where: str) -> Finding:
    """Report that the solver's role reaches into what is ours."""
    return build_finding(
        "SK442",
        message=f"the solver's role can list {where}",
        observed="the API server answers with objects",
        expected="a refusal",
        why="receipts, trials and hidden experiments name the fault",
        fix="remove the role binding that grants it: kubectl get rolebindings,clusterrolebindings -A -o wide",
    )


def report_unneeded(subject: str, reason: str, value: str) -> Finding:
    """Report a fault wrote what no symptom needs, where the solver's role reaches."""
    return build_finding(
        "SK443",
        message=f"a fault left what no symptom needs at {subject}: {reason}",
        observed=value[:200],
        expected="only fields that something acts on",
        why="what nothing acts on is there for whoever reads it",
    )
