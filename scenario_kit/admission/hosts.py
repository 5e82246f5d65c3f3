"""Hosts in the inputs of programs, and networks of addresses.

Hosts are found where programs read addresses: in environment variables, arguments, files, name servers, probes and Java
code that an experiment injects. A name without a dot is a Service of the pod's own namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final

from scenario_kit.admission.breach import Keys
from scenario_kit.admission.pods import find_pod_specs, list_containers
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import find_spec

#: Documentation networks (RFC 5737, RFC 3849), whose addresses are unassigned.
NOWHERE: Final = tuple(ip_network(n) for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
#: Loopback and wildcard addresses.
LOOPBACK: Final = tuple(ip_network(n) for n in ("127.0.0.0/8", "::1/128", "0.0.0.0/32", "::/128"))
#: Private networks.
PRIVATE: Final = tuple(ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"))
#: Fields of a JVMChaos that hold Java expressions or rules.
_JAVA: Final = ("ruleData", "exception", "returnValue")
_NAME: Final = r"(?:[A-Za-z0-9_](?:[-A-Za-z0-9_]*[A-Za-z0-9_])?\.)+[A-Za-z][-A-Za-z0-9]*\.?"
_IPV4: Final = r"\d{1,3}(?:\.\d{1,3}){3}"
_HOST: Final = rf"(?:{_NAME}|{_IPV4}|\[[0-9A-Fa-f:.]+\])"
#: Addresses in a text: after a scheme, as the only content or a list element, or as a field of a DSN.
_ADDRESSES: Final = (
    re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@\s\"'`]*@)?({_HOST})(?=[:/?#\s\"'`,;)\]}}]|$)"),
    re.compile(rf"(?:^|[,;=\s]|@(?:tcp\()?)({_HOST}):\d{{1,5}}(?=[,;/?)\s]|$)"),
    re.compile(
        rf"(?i)(?:^|[;,\s&?])(?:host|server|hostaddr|data source|addr|address)=(?:tcp:)?({_HOST})(?=[;,\s&:]|$)"
    ),
    re.compile(rf"^({_IPV4})$"),
)


def list_texts(obj: Object) -> Iterator[tuple[Keys, str]]:
    """List the texts of an object that programs read, each with its place."""
    yield from _list_values(obj)
    yield from _list_files(obj)
    yield from _list_java(obj)


def _list_values(obj: Object) -> Iterator[tuple[Keys, str]]:
    """List a container's environment values and arguments."""
    for keys, spec in find_pod_specs(obj):
        for place, container in list_containers(spec, keys):
            for i, variable in enumerate(container.get("env") or ()):
                if isinstance(variable, Mapping) and isinstance(value := variable.get("value"), str):
                    yield (*place, "env", i, "value"), value
            for field in ("command", "args"):
                for i, word in enumerate(container.get(field) or ()):
                    if isinstance(word, str):
                        yield (*place, field, i), word


def _list_files(obj: Object) -> Iterator[tuple[Keys, str]]:
    """List the texts of a ConfigMap or a Secret that are not encoded."""
    fields = {"ConfigMap": ("data",), "Secret": ("stringData",)}.get(obj["kind"], ())
    for field in fields:
        data = obj.get(field)
        for key, text in data.items() if isinstance(data, Mapping) else ():
            if isinstance(text, str):
                yield (field, str(key)), text


def _list_java(obj: Object) -> Iterator[tuple[Keys, str]]:
    """List the Java code that a JVMChaos, or one that a Schedule starts, adds to a program."""
    keys, spec = find_spec(obj, "JVMChaos") or ((), {})
    for field in _JAVA:
        if isinstance(text := spec.get(field), str):
            yield (*keys, field), text


def find_hosts(text: str) -> list[str]:
    """Find the hosts of all addresses in a text, in lower case, each once."""
    found = (match.group(1).lower().strip("[]").rstrip(".") for each in _ADDRESSES for match in each.finditer(text))
    return list(dict.fromkeys(found))


def collect_hosts(objects: Iterable[Object]) -> frozenset[str]:
    """Collect the hosts that the objects of an app name."""
    texts = (text for obj in objects for _, text in list_texts(obj))
    return frozenset(host for text in texts for host in find_hosts(text))


def is_within(address: Any, networks: tuple[Any, ...]) -> bool:
    """Return whether this is an address of one of the networks."""
    try:
        parsed = ip_address(str(address))
    except ValueError:
        return False
    return any(parsed.version == network.version and parsed in network for network in networks)
