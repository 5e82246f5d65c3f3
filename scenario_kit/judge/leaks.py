"""Find what a solver can read but must not: text that gives the answer away (docs/hidden-and-noise.md). Pure.

The tokens are derived from the runbook: names and types of faults, names of procedures, the author's sentences, and for
hidden faults everything that belongs to the injector. Words that the app itself uses, such as a flag's name, are not
tokens.
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
from scenario_kit.model.shortening import shorten_list

#: Texts of fewer words are too common to give anything away.
_MIN_WORDS: Final = 4
#: Maps with user-defined keys.
_USER_KEYED: Final = frozenset(
    ("labels", "annotations", "data", "stringData", "binaryData", "matchLabels", "nodeSelector", "parameters")
)
_FIELD: Final = re.compile(r"[a-z]+(?:[A-Z][a-z0-9]*)+")
#: Maximum number of places in a finding; the others are counted.
_MAX_PLACES: Final = 3


class ReadableText(Value, frozen=True, kw_only=True):
    """A text that a solver can read, and its location: ``Pod/cart: metadata.annotations``."""

    where: str
    text: str


class Token(Value, frozen=True, kw_only=True):
    """A text that gives the answer away; ``what`` describes it, ``injector`` marks the fault injector's own."""

    text: str
    what: str
    injector: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression that matches whole words with any separator that names use."""
        parts = [re.escape(part) for part in re.split(r"[-_ ]", self.text) if part]
        joint = r"\s+" if " " in self.text else r"[-_.]?"
        return rf"(?<![A-Za-z0-9]){joint.join(parts)}(?![A-Za-z0-9])"


def list_tokens(runbook: Runbook) -> tuple[Token, ...]:
    """List the tokens of a runbook, without words that the app or a visible experiment uses."""
    seen = [e for f in runbook.faults if f.visibility != "Hidden" for e in f.experiments]
    known = "\n".join(text for obj in (*runbook.objects, *seen) for text in list_texts(obj).values())
    known += "\n".join((*(c.name for c in runbook.app.components), *sorted(_list_written_fields(runbook))))
    unique = {token.text.lower(): token for token in reversed(list(_find_tokens(runbook)))}
    return tuple(t for t in reversed(unique.values()) if not re.search(t.pattern, known, re.IGNORECASE))


def _list_written_fields(runbook: Runbook) -> set[str]:
    """List the API fields that the faults write (``podAntiAffinity``): reading them is finding the cause."""
    written = [c for f in runbook.faults for c in f.changes]
    bodies = [c.operation.resource or (c.operation.document if c.operation.patches else {}) for c in written]
    return {name for body in bodies for name in _find_fields(body)}


def _find_fields(value: Any) -> Iterator[str]:
    """Find field names of the API, skipping user-defined keys."""
    if isinstance(value, list):
        for item in value:
            yield from _find_fields(item)
    elif isinstance(value, dict):
        for key, inside in value.items():
            if _FIELD.fullmatch(key):
                yield key
            if key not in _USER_KEYED:
                yield from _find_fields(inside)


def _find_tokens(runbook: Runbook) -> Iterator[Token]:
    yield from _split_name_tokens(runbook.scenario, "the name of the scenario")
    for fault in runbook.faults:
        yield from _split_name_tokens(fault.name, "the name of a fault")
        yield from _split_name_tokens(fault.type, "the type of a fault")
    for procedure in runbook.procedures:
        yield from _split_name_tokens(procedure.name, f"the name of a {procedure.use.lower()}")
        yield from _split_text_tokens(procedure.solution.description, f"the description of a {procedure.use.lower()}")
    for edge in runbook.ground_truth.propagation:
        yield from _split_text_tokens(edge.because, "the author's explanation")
    yield Token(text=GROUP, what="an object of scenario-kit", injector=True)
    chaos = [(f, e) for f in runbook.faults for e in f.experiments]
    for fault, experiment in chaos:
        if fault.visibility == "Hidden":
            yield Token(text=experiment["kind"], what="the kind of a hidden experiment", injector=True)
            if name := experiment["metadata"].get("name"):
                yield Token(text=name, what="the name of a hidden experiment", injector=True)
    if chaos and all(fault.visibility == "Hidden" for fault, _ in chaos):
        yield Token(text=CHAOS_GROUP, what="a trace of the fault injector", injector=True)


def _split_name_tokens(name: str, what: str) -> Iterator[Token]:
    """Yield a name of several words; a single word ('quota') is common in logs."""
    if len(re.split(r"[-_]", name)) > 1:
        yield Token(text=name, what=what)


def _split_text_tokens(text: str, what: str) -> Iterator[Token]:
    if len(text.split()) >= _MIN_WORDS:
        yield Token(text=text, what=what)


def has_shown_experiment(runbook: Runbook) -> bool:
    """Return whether the scenario makes some experiment visible; reading its objects is then intended."""
    return any(f.visibility != "Hidden" and f.experiments for f in runbook.faults)


def list_readable(obj: Object) -> Iterator[ReadableText]:
    """List all texts of an object, secret data decoded."""
    name = f"{obj.get('kind', '')}/{obj['metadata'].get('name', '')}"
    for place, text in list_texts(obj).items():
        yield ReadableText(where=f"{name}: {place}", text=text)


def list_texts(obj: Object) -> Mapping[str, str]:
    """List all texts of an object by path, including keys of mappings such as label and variable names."""
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


def find_leaks(read: Iterable[ReadableText], sought: Iterable[Token]) -> list[Finding]:
    """Return one finding per token that a solver can read, with the first places where it occurs."""
    desired = list(sought)
    if not desired:
        return []
    pattern = re.compile("|".join(f"({t.pattern})" for t in desired), re.IGNORECASE)
    places: dict[int, list[ReadableText]] = {}
    for each in read:
        for number in {m.lastindex - 1 for m in pattern.finditer(each.text) if m.lastindex}:
            places.setdefault(number, []).append(each)
    return [_build_finding(desired[number], found) for number, found in sorted(places.items())]


def _build_finding(token: Token, places: list[ReadableText]) -> Finding:
    named = list(dict.fromkeys(p.where for p in places))
    observed = shorten_list(named, _MAX_PLACES, "; ")
    if token.injector:
        return build_finding(
            "SK442",
            message=f"a solver can read {token.what}: '{token.text}'",
            observed=observed,
            expected="nothing of the fault injector within reach of the solver's role",
            fix="hide the experiment (visibility: Hidden); if it is hidden already, report a bug",
        )
    return build_finding(
        "SK441",
        message=f"a solver can read {token.what}: '{token.text}'",
        observed=observed,
        expected="names and texts that do not depend on the fault",
        why="a solver that finds the answer in a name has investigated nothing",
        fix="give the object a neutral name ({{ neutral('settings') }}), or rename the revealing part of the scenario",
    )


def report_listable(where: str) -> Finding:
    """Report that the solver's role can list objects of scenario-kit."""
    return build_finding(
        "SK442",
        message=f"the solver's role can list {where}",
        observed="the API server returns objects",
        expected="Forbidden",
        why="receipts, trials and hidden experiments name the fault",
        fix="remove the role binding that grants it: kubectl get rolebindings,clusterrolebindings -A -o wide",
    )


def report_unneeded(subject: str, reason: str, value: str) -> Finding:
    """Report an unneeded value that a fault wrote within reach of the solver's role."""
    return build_finding(
        "SK443",
        message=f"a fault left unneeded data at {subject}: {reason}",
        observed=value[:200],
        expected="only fields that have an effect",
        why="data without an effect only serves as a hint",
    )
