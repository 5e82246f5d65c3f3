"""The CoreDNS configuration: it may deny and rewrite the app's names, but not redirect others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenario_kit.admission.bounds import AdmissionBounds
from scenario_kit.admission.breach import Breach
from scenario_kit.admission.foreign_hosts import is_own_name
from scenario_kit.admission.hosts import LOOPBACK, NOWHERE, is_within
from scenario_kit.model import Object

#: Plugins that answer only the cluster's own names, or nothing.
_PLUGINS: Final = frozenset(
    (
        "any", "autopath", "bufsize", "cache", "cancel", "chaos", "debug", "errors", "erratic", "fallthrough",
        "forward", "health", "hosts", "kubernetes", "lameduck", "log", "loadbalance", "loop", "match",
        "max_concurrent", "minimal", "pods", "prometheus", "rcode", "ready", "reload", "rewrite", "template",
        "ttl",
    )
)  # fmt: skip
#: Fields of those plugins.
_FIELDS: Final = frozenset(
    (
        "additional", "answer", "authority", "class", "continue", "denial", "disable", "duration", "ederror",
        "endpoint_pod_names", "expire", "force_tcp", "health_check", "ignore", "labels", "max_fails", "name",
        "namespaces", "no_rev", "noendpoints", "policy", "prefer_udp", "prefetch", "serve_stale", "servfail",
        "stop", "success", "upstream",
    )
)  # fmt: skip
_RESOLVER: Final = "/etc/resolv.conf"
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F:]*")
_NAMED: Final = re.compile(r"(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\.)+[a-z][-a-z0-9]*", re.IGNORECASE)


def check_corefile(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check that CoreDNS uses no other upstream, and maps no name to an assigned address."""
    if obj["kind"] != "ConfigMap" or obj["metadata"]["name"] != "coredns" or not obj["metadata"].get("namespace"):
        return
    for key, text in (obj.get("data") or {}).items():
        for word, note in _list_foreign(str(text), bounds):
            expected = f"`forward . {_RESOLVER}`, and addresses for documentation, such as 192.0.2.1"
            yield Breach("SK237", ("data", key), word, note, expected=expected)


def _list_foreign(text: str, bounds: AdmissionBounds) -> Iterator[tuple[str, str]]:
    statements = (line.split("#")[0].split() for line in re.split(r"[{}\n]", text))
    for first, *rest in filter(None, statements):
        for word in (first, *rest):
            if _is_address(word) and not is_within(word, (*NOWHERE, *LOOPBACK)):
                yield word, f"makes the cluster's name server use {word}"
        if first == "forward":
            for word in rest[1:]:
                if word != _RESOLVER and not _is_address(word):
                    yield word, f"makes the cluster's name server forward to {word}"
        elif first == "rewrite":
            for word in rest:
                if _NAMED.fullmatch(word) and not is_own_name(word, bounds):
                    yield word, f"rewrites '{word}', which is not a name of the app"
        elif first.isalpha() and first.islower() and first not in _PLUGINS | _FIELDS:
            yield first, f"makes the name server use `{first}`, which answers more than the cluster's own names"


def _is_address(word: str) -> bool:
    return _ADDRESS.fullmatch(word.partition("@")[0]) is not None
