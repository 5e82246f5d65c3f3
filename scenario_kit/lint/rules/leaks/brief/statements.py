"""Find what no page to an on-call engineer contains: words of fault injection, blame, instructions, links, commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.rules.leaks.brief.text import find_phrases

#: Terms of fault injection.
_INJECTION: Final = (
    "chaos", "fault", "faults", "inject", "injected", "injection", "root cause", "ground truth", "scenario", "decoy",
    "simulated", "simulation", "experiment", "misconfigured", "misconfiguration", "sabotage", "sabotaged",
    "deliberately", "intentionally", "on purpose",
)  # fmt: skip
#: Phrases in which these terms have another meaning.
_INNOCENT: Final = re.compile(
    r"\b(?:my|our|your|their|his|her|its|nobody'?s|customers?'s?|users?'s?)(?: own)? faults?\b"
    r"|\b(?:worst|best|every|this)[- ](?:case )?scenario\b|\bA/B[- ]experiments?\b|\b(?:find|the|a) root cause of\b",
    re.IGNORECASE,
)
_BLAME: Final = re.compile(
    r"\b(?:culprits?|to blame|caused by|(?:root )?cause (?:is|was)|(?:is|was) the (?:root )?cause|the reason (?:is|was)"
    r"|is responsible for)\b"
    r"(?! (?:unknown|unclear|not|still|yet|being|anybody|anyone|a mystery))",
    re.IGNORECASE,
)
#: Instructions to a solver.
_ORDERS: Final = (
    "previous instructions", "your instructions", "system prompt", "the correct answer", "your answer",
    "the right answer", "the answer is", "the solution is", "the fix is",
)  # fmt: skip
_HINT: Final = re.compile(
    r"\b(?:hints?|tips?|spoilers?|clues?)\s?:"
    r"|\bthe (?:answer|culprit|component) (?:begins|starts|ends|rhymes|contains)\b"
    r"|\b(?:begins|starts|ends) with (?:(?:the letter|an?) )?['\"]?[b-z]['\"]?(?![\w'])"
    r"|\b(?:has|have|with|of) (?:\d+|three|four|five|six|seven|eight|nine|ten) letters\b",
    re.IGNORECASE,
)
#: Requests to look at what users do not see: how many processes run.
_COUNTING: Final = re.compile(
    r"\bcount (?:the )?(?:\w+ ){0,2}(?:copies|instances|processes)\b"
    r"|\bhow many (?:copies|instances|processes|of (?:it|them)) (?:are )?run(?:ning)?\b"
    r"|\bnot (?:a single|one|any) (?:copy|instance|process) of\b",
    re.IGNORECASE,
)
_TOP_LEVEL: Final = (
    "com|org|net|io|dev|app|ly|gl|gg|me|co|us|uk|de|fr|eu|ch|at|nl|it|es|ru|cn|jp|br|in|info|biz|xyz|site|online|cloud|"
    "page|link|sh|to|cc|tv|ai|tech|wiki|corp|internal|intranet|lan|local"
)
_LINK: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+|\bmailto:\S+"
    rf"|(?<![\w@.-])(?:[\w-]+\.)+(?:{_TOP_LEVEL})(?::\d+)?(?:/\S*)?(?![\w-])"
    r"|(?<![\w@.-])(?:[a-z][\w-]*\.)+[a-z]{2,}/\S+"
    r"|(?<![\w.])(?:go|wiki|jira|confluence|runbook|docs)/[\w-]+\S*",
    re.IGNORECASE,
)
#: Domains reserved by RFC 2606.
_RESERVED: Final = re.compile(r"(?:^|\.)example(?:\.(?:com|org|net))?$", re.IGNORECASE)
#: Names of technologies that look like hosts.
_TECHNOLOGY: Final = frozenset({"asp.net", "node.js", ".net", "socket.io", "booking.com"})
_MARKUP: Final = re.compile(r"<!--.*?(?:-->|$)|</?[a-z][^<>]*>|\[[^\]]*\]\([^)]*\)|\[[^\]]*\]:.*$", re.I | re.S | re.M)
_COMMAND: Final = re.compile(
    r"\b(?:kubectl|helm|docker|podman|crictl|nerdctl|istioctl|etcdctl|k9s|kustomize|argocd|redis-cli|valkey-cli|psql"
    r"|mongosh|mysqladmin|iptables|ip6tables|nft|nslookup|systemctl)\b(?: [^.!?\n]*)?"
    r"|(?<!\S)--[a-z][\w-]*(?:[= ][^\s.,;]+)?"
    r"|`[^`\n]*[\s=/.:][^`\n]*`"
    r"|(?<![\w.])\.?(?:spec|metadata|status|stringData)\.[a-z]\w*(?:[.\[]\S*)?",
    re.IGNORECASE,
)


def find_statements(text: str) -> Iterator[str]:
    """Yield statements that give the answer away in any scenario, as quoted from the text."""
    innocent = _INNOCENT.sub(" ", text)
    yield from find_phrases(innocent, _INJECTION)
    yield from find_phrases(text, _ORDERS)
    for pattern in (_BLAME, _HINT, _COUNTING, _MARKUP, _COMMAND):
        yield from (" ".join(found.group().split()) for found in pattern.finditer(text))
    yield from find_links(text)


def find_links(text: str) -> Iterator[str]:
    """Yield links, with or without a scheme: their contents are not checked, and may change."""
    for found in _LINK.finditer(text):
        link = found.group().rstrip(".,;:!?)'\"")
        host, _, path = link.partition("://")[2].partition("/") if "://" in link else link.partition("/")
        bare = "://" not in link and not path
        if bare and (_RESERVED.search(host) or host.lower() in _TECHNOLOGY or not host.islower()):
            continue
        yield link
