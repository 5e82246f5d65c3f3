"""Find statements of how a component broke: Kubernetes terms beside its name, and operations on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from scenario_kit.lint.rules.leaks.brief.text import (
    contains_name,
    find_phrases,
    may_contain_name,
    name_pattern,
    quote,
    split_name,
    split_sentences,
)
from scenario_kit.load.package_data import read_package_data

_DATA: Final = read_package_data(__file__)
_TERMS: Final[dict[str, list[str]]] = _DATA["terms"]
_WORKLOAD: Final[list[str]] = _DATA["workload"]
_COMMON: Final = frozenset(_DATA["common"])
_ALL: Final = tuple(dict.fromkeys((*_WORKLOAD, *(t for terms in _TERMS.values() for t in terms if t not in _COMMON))))
_CHANGED: Final = frozenset(_DATA["changed"])
#: Words with another meaning to users unless they refer to a component: a shipping port, no image, a role.
_NOUNS: Final = (
    r"port|image|image tag|probe|config(?:uration)?|selector|limits?|quota|flag|password|credentials?|volume|secret|"
    r"replicas?|pods?|containers?|service object|network policy|variable|manifest"
)
#: Operations on a component. Carts are deleted and payments rolled back, so these verbs count only before the word for
#: a service.
_DONE: Final = (
    r"(?:scaled(?: down)?|undeployed|uninstalled|killed|evicted|cordoned|drained|throttled|misrouted|repointed|"
    r"downgraded|unplugged|isolated|firewalled|decommissioned|retired|suspended|"
    r"paused|put to sleep|(?:turned|switched|shut|powered|taken) (?:off|down|away|offline))"
)
_DONE_TO_SERVICE: Final = r"(?:deleted|disabled|removed|rolled back|renamed|terminated|disconnected|stopped)"
_SERVICE: Final = r"(?: (?:service|server|component|deployment|backend|database|store|app|process|workload))"
_DID: Final = (
    r"(?:scal(?:ed|ing)(?: down)?|deleted|deleting|undeployed|uninstalled|disabled|disabling|kill(?:ed|ing)|evicted|"
    r"throttl(?:ed|ing)|renamed|misrouted|repointed|downgraded|removed|unplugged|isolated|firewalled|"
    r"cut off|(?:turn|switch|shut|power)(?:t?ed|t?ing)? ?(?:off|down))"
)
#: Changes of a component. Customers change their carts and payments, so most count only before the word for a service.
_CHANGED_SERVICE: Final = (
    r"(?:edit(?:ed|ing)|chang(?:ed|ing)|modif(?:ied|ying)|updat(?:ed|ing)|touch(?:ed|ing)|restart(?:ed|ing)|"
    r"redeploy(?:ed|ing)|migrat(?:ed|ing)|upgrad(?:ed|ing)|broke)"
)
_CHANGED_COMPONENT: Final = r"(?:(?:re|mis)configur(?:ed|ing)|patch(?:ed|ing)|tweak(?:ed|ing)|fat-finger(?:ed|ing))"
#: Resources of a component, and their reduction; users see neither.
_AMOUNT: Final = r"(?:memory|cpu|ram|resources?|instances?|copies|number of (?:instances|copies|servers|processes))"
_LESSENED: Final = (
    r"(?:cut|reduced|lowered|halved|capped|limited|restricted|shrunk|decreased|taken away|set to|0|zero|none)"
)
_SPLIT_VERB: Final = r"\b(?:turn(?:ed|ing)?|switch(?:ed|ing)?|shut(?:ting)?|power(?:ed|ing)?|tak(?:en|ing)|took)"
_ZERO: Final = re.compile(
    r"\bscal(?:ed|ing) (?:\w+ ){0,4}(?:down )?to (?:zero|0|none|nothing)\b"
    r"|\b(?:(?:service|deployment|pod|ingress|config ?map) manifests?|port number)\b"
    r"|\b(?:on which|to which|where|that) (?:nobody|nothing|no one) (?:listens|is listening)\b"
    r"|\b(?:closed|wrong) ports?\b"
    r"|\b(?:forward|point|listen|connect)(?:s|ed|ing)? (?:to|on|at) (?:an?|the|another) (?:\w+ )?port\b"
    r"|\btypos? in (?:\w+ ){0,3}(?:manifests?|selectors?|specs?|charts?|values files?|yaml)\b"
    r"|\b(?:no|zero|0|without) (?:ready )?replicas?\b",
    re.IGNORECASE,
)
#: Changes of an object of the cluster. Kinds that are ordinary words too count in capitals only.
_EDITED: Final = re.compile(
    r"\b(?i:edited|edits?|changed|patched|modified|misconfigured|applied|deleted|renamed|touched)"
    r" (?:(?i:an?|the|one|some|of|in|wrong|new|another|manifests?) ){0,3}"
    r"(?:(?i:services? objects?|kubernetes (?:service|object|resource)|deployment manifest)"
    r"|Services?|Deployments?|StatefulSets?|DaemonSets?|ConfigMaps?|Secrets?|NetworkPolic(?:y|ies)|Ingress(?:es)?)\b(?!['\u2019])"
)
_LOOK: Final = r"\b(?:look(?:ing)? (?:closely )?(?:at|into)|inspect|suspect)"
#: Words between a verb or noun and a component's name; possessives of persons do not refer to a component.
_THE: Final = (
    r"(?:(?:the|our|its|a|all|every) )?"
    r"(?:(?!(?:from|to|in|into|at|on|with|by|for|of|and|or|their|his|her|my|your|empty)\b)[\w-]+ )?"
)


class Broken(NamedTuple):
    """What a fault breaks: the names of its target and causes, and the family of its type (empty if unknown)."""

    names: tuple[str, ...]
    family: str


def find_mechanisms(text: str, broken: Broken) -> Iterator[str]:
    """Yield statements of how one of the broken objects failed: quoted from the text, or a name beside a term."""
    terms = _TERMS.get(broken.family, [] if broken.family else _ALL)
    yield from (quote(found.group()) for pattern in (_ZERO, _EDITED) for found in pattern.finditer(text))
    yield from map(quote, find_phrases(text, tuple(term for term in terms if term in _CHANGED)))
    for name in broken.names:
        if contains_name(text, name):
            found = set(find_phrases(text, (*terms, *_WORKLOAD[:2])))
            sentences = [sentence for sentence in split_sentences(text) if contains_name(sentence, name)]
            found.update(term for sentence in sentences for term in find_phrases(sentence, _ALL))
            yield from (f"the name '{name}' together with the term '{term}'" for term in sorted(found))
        yield from map(quote, _find_actions(text, _build_head_patterns(text, name)))


def _build_head_patterns(text: str, name: str) -> Iterable[str]:
    """Return patterns for a name and for its last word, which people use alone: the catalogue, the proxy.

    Patterns that the text cannot match are left out.
    """
    words = split_name(name)
    return dict.fromkeys(name_pattern(n) for n in (name, *words[-1:]) if words and may_contain_name(text, n))


def _find_actions(text: str, names: Iterable[str]) -> Iterator[str]:
    be = r"(?:is|was|were|are|got|has been|have been|had been|being)(?: \w+ly)?"
    for name in names:
        if not re.search(name, text, re.IGNORECASE):
            continue  # the patterns below take a hundred times as long to compile
        for pattern in (
            rf"\b(?:{_NOUNS}) (?:of|for|behind) {_THE}{name}(?!\w)",
            rf"(?<![\w-]){name}['\u2019]s? (?:{_NOUNS})\b",
            rf"(?<![\w-]){name} (?:pods?|replicas?|deployment|selector|probe|config)\b",
            rf"(?<![\w-]){name}{_SERVICE}? {be} {_DONE}(?!\w)",
            rf"(?<![\w-]){name}{_SERVICE} {be} {_DONE_TO_SERVICE}(?!\w)",
            rf"\b{_DID} {_THE}{name}(?!\w)(?!['\u2019])",
            rf"\b{_CHANGED_SERVICE} {_THE}{name}{_SERVICE}(?!\w)",
            rf"\b{_CHANGED_COMPONENT} {_THE}{name}(?!\w)",
            rf"(?<![\w-]){name}{_SERVICE} {be} {_CHANGED_SERVICE}(?!\w)",
            rf"{_SPLIT_VERB} {_THE}{name}{_SERVICE}? (?:off|down|away|offline)\b",
            rf"{_LOOK} {_THE}{name}(?!\w)",
            rf"\b{_AMOUNT} (?:of|for) {_THE}{name}{_SERVICE}? {be} {_LESSENED}\b",
            rf"(?<![\w-]){name}(?:['\u2019]s?)? {_AMOUNT} {be} {_LESSENED}\b",
            rf"\bnumber of {name} (?:instances|copies|servers|processes) {be} {_LESSENED}\b",
            rf"\b(?:no|zero|0|without) (?:instances?|copies|processes) of {_THE}{name}(?!\w)",
            rf"(?<![\w-]){name}{_SERVICE}?[:= ]{{1,3}}0 ?/ ?\d+ (?:is |are )?(?:ready|running|up|available)\b",
        ):
            yield from (" ".join(found.group().split()) for found in re.finditer(pattern, text, re.IGNORECASE))
