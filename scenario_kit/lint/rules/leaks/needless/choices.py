"""Values that are in use but could be any other, and so must not reveal the fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.lint.rules.leaks.needless.surroundings import Needless, ObjectSurroundings, split_words
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place
from scenario_kit.schema.writable import WRITABLE

#: Words that explain a fault; programs, labels and paths do not contain them.
_EXPLAINING: Final = frozenset(
    {
        "blame", "blamed", "broken", "bug", "buggy", "chaos", "culprit", "decoy", "evil", "experiment", "fake", "fault",
        "faulty", "guilty", "hint", "incident", "injected", "injection", "malicious", "misconfig", "misconfigured",
        "rootcause", "sabotage", "sabotaged", "scenario", "simulated", "solution", "suspect", "wrong",
    }
)  # fmt: skip
#: Fields with arbitrary keys, which only have to match a label that the same author writes.
_KEYED: Final = ("matchLabels", "nodeSelector", "selector")
#: Fields with amounts of resources, and the resources that Kubernetes and common device plugins define.
_AMOUNTS: Final = ("hard", "limits", "requests")
_STANDARD: Final = re.compile(
    r"(?:(?:limits|requests)\.)?(?:cpu|memory|ephemeral-storage|storage|hugepages-\w+)|pods|configmaps|secrets"
    r"|services(?:\.(?:loadbalancers|nodeports))?|persistentvolumeclaims|replicationcontrollers|resourcequotas"
    r"|(?:[a-z0-9-]+\.)?(?:nvidia|amd|intel)\.com/\w+"
)
#: Numbers of objects that a quota may limit.
_COUNTED: Final = frozenset(f"count/{each.resource}.{each.group}".rstrip(".") for each in WRITABLE)
#: What precedes the name of an option of a Java machine.
_OPTION: Final = re.compile(r"(?<![\w-])-(?:D|XX:[+-]?|X)(?=\w)")
#: Placeholders that are replaced when a change is made.
_PLACEHOLDER: Final = re.compile(r"(?:node|room):.+")
#: Fields with arbitrary names.
_FREE: Final = frozenset(
    {"appProtocol", "prefix", "schedulerName", "terminationMessagePath", "topologyKey", "workingDir"}
)
#: Place that Kubernetes assigns to nodes, pods and namespaces.
_WELL_KNOWN: Final = re.compile(
    r"(?:(?:beta\.)?kubernetes\.io/(?:arch|hostname|os|metadata\.name)|node-role\.kubernetes\.io/control-plane"
    r"|failure-domain\.beta\.kubernetes\.io/(?:region|zone)|topology\.kubernetes\.io/(?:region|zone)|node\.kubernetes\.io/(?:instance-type|(?:disk|memory|pid)-pressure"
    r"|network-unavailable|not-ready|unreachable|unschedulable)|app\.kubernetes\.io/(?:component|instance|name|part-of"
    r"|managed-by|version)|(?:batch\.kubernetes\.io/)?(?:controller-uid|job-name)|pod-template-hash)"
)
#: Values that Kubernetes defines: defaults, operating systems and architectures, and protocols, also those of Istio.
_DEFINED: Final = frozenset(
    {
        "/dev/termination-log", "amd64", "default-scheduler", "false", "grpc-web", "kubernetes.io/ws",
        "kubernetes.io/wss", "linux", "mongo", "mysql", "ppc64le", "tcp", "tls", "true", "udp", "windows",
    }
)  # fmt: skip
#: Headers of HTTP that probes send.
_HEADERS: Final = re.compile(
    r"(?i:host|accept(?:-[a-z]+)?|authorization|connection|content-type|user-agent|x-forwarded-(?:for|host|proto))"
)
_TOLERATED: Final = ("tolerations", "matchExpressions")
_BODIES: Final = ("metadata", "status", "data", "stringData", "binaryData")


def find_choices(
    obj: Object, was: Object | None, new: Sequence[tuple[Place, str]], world: ObjectSurroundings
) -> Iterator[Needless]:
    """Find new values that contain a word about the fault, and new names that are not neutral.

    ``new`` are the object's new texts.
    """
    for keys, value in new:
        if keys[:1] in [(b,) for b in _BODIES]:
            continue
        if words := [
            w for w in split_words(_OPTION.sub(" ", value)) if w in _EXPLAINING and w not in world.known.words
        ]:
            yield Needless(keys, value, f"`{_name_field(keys)}: {value[:80]}` contains '{words[0]}'")
        elif _is_free(keys) and not (_is_known(value) or world.neutral(value)):
            yield _report_strange(keys, value, world)
    known = set(_list_keys(was)) if was is not None else set()
    for keys, key in _list_keyed(obj):
        usual = key in known or key in world.known.selected_keys or _WELL_KNOWN.fullmatch(key)
        if not usual and not world.neutral(key):
            yield _report_strange((*keys, key), key, world)


def _is_known(value: str) -> bool:
    patterns = (_HEADERS, _WELL_KNOWN, _PLACEHOLDER)
    return value in _DEFINED or any(pattern.fullmatch(value) for pattern in patterns)


def _is_resource(name: str) -> bool:
    return name in _COUNTED or _STANDARD.fullmatch(name) is not None


def _report_strange(keys: Place, text: str, world: ObjectSurroundings) -> Needless:
    strange = world.strange(text)
    return Needless(keys, text, f"`{_name_field(keys)}` is '{text}': '{strange[0]}' is not a neutral word")


def _is_free(keys: Place) -> bool:
    tolerated = keys[-1] in ("key", "value") or keys[-2:-1] == ("values",)
    return keys[-1] in _FREE or "httpHeaders" in keys or (tolerated and any(field in keys for field in _TOLERATED))


def _list_keys(value: Any) -> Iterator[str]:
    return (key for _, key in _list_keyed(value))


def _list_keyed(value: Any, keys: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield the label keys of selectors and the names of resources, each with its place."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            plain = isinstance(item, Mapping) and all(isinstance(part, str) for part in item.values())
            if name in _KEYED and plain:
                yield from (((*keys, name), str(key)) for key in item)
            elif name in _AMOUNTS and isinstance(item, Mapping):
                yield from (((*keys, name), str(key)) for key in item if not _is_resource(str(key)))
            elif name not in ("metadata", "status"):
                yield from _list_keyed(item, (*keys, name))
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _list_keyed(item, (*keys, i))


def _name_field(keys: Place) -> str:
    return next((str(key) for key in reversed(keys) if isinstance(key, str)), "")
