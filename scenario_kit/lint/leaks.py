"""SK211: what a solver could read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from scenario_kit.lint.case import Case
from scenario_kit.lint.disguise import UNITS, decoded, foreign, readings, spelled
from scenario_kit.lint.phrases import repeated
from scenario_kit.lint.rule import Problem, rule
from scenario_kit.model import Reference, Severity

#: Words of the trade of breaking things; a page that uses them was not written by somebody on call.
_TRADE = (
    "chaos", "fault", "inject", "injected", "injection", "root cause", "ground truth", "scenario", "decoy", "simulated",
    "experiment", "misconfigured", "misconfiguration",
)  # fmt: skip
#: Words that name somebody as the cause, whoever that is: a page tells what is seen, and who reads it finds out why.
_BLAME = ("culprit", "to blame", "caused by", "the cause is", "the cause was", "is the cause", "the reason is")
#: What is said to a solver, and not to somebody on call.
_ORDERS = ("previous instructions", "your instructions", "system prompt", "the correct answer", "your answer")
_LINK = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
#: Words that say how something broke, by family of fault.
_MECHANISM = {
    "Network": ("port", "targetport", "selector", "endpoint", "endpoints", "service object", "dns", "network policy"),
    "WorkloadSpec": ("image", "tag", "pull", "replica", "replicas", "scaled", "probe", "rollout"),
    "Configuration": ("environment variable", "env", "config", "configuration", "address", "secret"),
    "Chaos": ("delay", "latency injected", "packet", "packets", "partition", "network", "pod failure", "killed"),
    "DataStores": ("privilege", "privileges", "grant", "grants", "revoked", "password", "login", "locked", "evicted"),
    "Resources": ("limit", "limits", "quota", "file descriptors", "oom", "out of memory"),
    "Storage": ("volume", "volumes", "claim", "storage class", "pvc"),
    "Scheduling": ("node", "nodes", "taint", "toleration", "affinity", "anti-affinity", "cordoned", "unschedulable"),
    "ControlPlane": ("webhook", "admission", "rbac", "role", "role binding", "service account"),
    "InitContainers": ("init container", "init"),
    "Autoscaling": ("autoscaler", "hpa", "limit", "limits"),
    "FeatureFlags": ("flag", "feature flag"),
    "Mesh": ("mtls", "sidecar", "mesh", "authorization policy"),
}
#: Of a fault that does not say how it breaks things, any of these would tell.
_ALL = tuple(dict.fromkeys(word for words in _MECHANISM.values() for word in words))
#: How a title goes on after the symptom.
_REASON = re.compile(r"\b(because|since|as|due to|after|when|while)\b", re.IGNORECASE)
#: How the name of a component goes on in prose: carts, the catalogue, its checkout's.
_ENDING = r"(?:s|ue|ues|['\u2019]s)?"
_WORD = re.compile(r"\w+")
#: Those whose letters are taken for each other.
_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK"})
#: So many words in a row are no coincidence: in a text that only tells the cause, and in one that also tells symptoms.
_FEW, _MANY = 4, 6
#: Shorter names may come about by chance where letters are turned round.
_TELLING = 4
#: How users of kubectl type kinds.
_TYPED = {
    "Service": "svc", "Deployment": "deploy", "StatefulSet": "sts", "DaemonSet": "ds", "ConfigMap": "cm", "Pod": "po",
    "NetworkPolicy": "netpol", "PersistentVolumeClaim": "pvc", "HorizontalPodAutoscaler": "hpa", "CronJob": "cj",
    "ServiceAccount": "sa", "Ingress": "ing",
}  # fmt: skip


@rule(
    "SK211",
    why="the brief is the only text a solver gets; a solver that reads the cause there has found nothing",
    bad="brief: The Service product-catalog has a wrong target port.",
    good="brief: Customers report that product pages have been failing for a few minutes.",
    fix="describe what users or alerts report; name neither the broken object nor the mechanism",
)
def brief(case: Case) -> Iterator[Problem]:
    """The brief gives the answer away."""
    text = _plain(case.scenario.spec.brief)
    found = [word for word in (*_TRADE, *_BLAME, *_ORDERS) if _says(text, word)]
    found += _LINK.findall(text)  # what lies there, no rule has read, and may be another text tomorrow
    found += [use.type for use in case.scenario.spec.faults if _says(text, use.type.replace("-", " "))]
    for use in case.scenario.spec.faults:
        names = {Reference.parse(use.target).name, *(Reference.parse(e).name for e in case.entities(use.name, "Cause"))}
        family = case.types[use.type].family if use.type in case.types else ""
        words = _MECHANISM.get(family, () if family else _ALL)
        mechanism = [word for word in words if _says(text, word)]
        broken = [n for n in sorted(names) if any(_says(text, n.replace("-", j), _ENDING) for j in ("-", " ", ""))]
        if broken and mechanism:
            found += [f"{broken[0]} and {mechanism[0]}"]
        kinds = {Reference.parse(use.target).kind, *(Reference.parse(e).kind for e in case.entities(use.name, "Cause"))}
        found += [f"{kind}/{name}" for kind in sorted(kinds) for name in sorted(names) if _says(text, f"{kind}/{name}")]
        values = [str(v) for v in use.parameters.values() if isinstance(v, str | int) and len(str(v)) >= 4]
        found += [value for value in values if _says(text, value)]
    found += list(_quoted(case, text))
    found += list(_told_otherwise(case, text))
    found += [word for word in _WORD.findall(text) if _in_two_alphabets(word)]
    if found:
        said = ", ".join(f"'{word}'" for word in dict.fromkeys(found))
        message = f"the brief says {said}"
        yield Problem(("spec", "brief"), message, text[:120], "symptoms only")
    if strange := foreign(text):
        said = ", ".join(f"'{word}'" for word in dict.fromkeys(strange))
        message = f"the brief is not in English, so no rule can tell what it gives away: {said}"
        fix, severity = "write it in English, or let somebody read it who knows the language", Severity.WARNING
        yield Problem(("spec", "brief"), message, text[:120], "a brief in English", fix, severity)


def _told_otherwise(case: Case, text: str) -> Iterator[str]:
    """Names that only the file knows, objects as an operator types them, and what is told in disguise."""
    yield from (run for run, _ in decoded(text))
    spec, names = case.scenario.spec, set[str]()
    yield from (n for n in (case.scenario.name, *(use.name for use in spec.faults)) if "-" in n and _says(text, n))
    for use in spec.faults:
        broken = [Reference.parse(text_) for text_ in (use.target, *case.entities(use.name, "Cause"))]
        for ref in broken:
            short = _TYPED.get(ref.kind, "")
            typed = [f"{short}{j}{ref.name}" for j in ("/", " ") if short]
            yield from (name for name in typed if _says(text, name))
            if re.search(rf"(?<![\w-]){ref.kind} {re.escape(ref.name)}(?![\w-])", text):
                yield f"{ref.kind} {ref.name}"
            yield from re.findall(rf"(?<![\w-]){re.escape(ref.name)}(?:\.[\w-]+)?\.svc\b", text)
        names |= {ref.name for ref in broken} | {use.type}
    turned, letters = list(readings(text)), spelled(text)
    for name in sorted(n for n in names if len(n) >= _TELLING):
        hidden = any(_says(reading, name.replace("-", j)) for reading in turned for j in ("-", " ", ""))
        if hidden or any(name.replace("-", "") in run for run in letters):
            yield f"{name} in disguise"


def _quoted(case: Case, text: str) -> Iterator[str]:
    """What the brief repeats of the texts that tell the answer."""
    spec = case.scenario.spec
    cause = _REASON.search(spec.title)
    told = [(spec.title[cause.end() :], _FEW) if cause else ("", _FEW), (spec.description, _MANY)]
    told += [(edge.because, _FEW) for edge in spec.ground_truth.propagation]
    told += [(solution.description, _FEW) for solution in spec.solutions]
    told += [(words, _MANY) for known in case.types.values() for words in (known.title, known.description)]
    yield from dict.fromkeys(words for source, least in told if (words := repeated(text, source, least)))


def _plain(text: str) -> str:
    """The text as somebody reads it: without what has no width, and every letter and hyphen in its usual shape."""
    usual = unicodedata.normalize("NFKC", text).replace("\u2010", "-")
    return "".join(c for c in usual if unicodedata.category(c) != "Cf")


def _in_two_alphabets(word: str) -> bool:
    """Whether a word is spelled with letters of another alphabet that only look like its own."""
    if word.isascii():
        return False
    names = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter not in UNITS}
    return len(_ALPHABETS & names) > 1


def _says(text: str, word: str, ending: str = "") -> bool:
    """Whether a text has the word; ``ending`` is an expression for what may follow it."""
    if text.isascii() and word.lower() not in text.lower():
        return False  # most are not: a pattern for each is the slowest part of the rule
    return re.search(rf"(?<![\w-]){re.escape(word)}{ending}(?![\w-])", text, re.IGNORECASE) is not None
