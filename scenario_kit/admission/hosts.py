"""Hosts in what a program reads, and networks of addresses.

A host counts where a program reads an address: in the value of a variable, an argument, a file, a name server, a probe.
A name without a dot is a Service of the pod's own namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final

from scenario_kit.admission.breach import Keys
from scenario_kit.admission.pods import find_pod_specs, list_containers
from scenario_kit.model import Object

#: Networks for documentation (RFC 5737, RFC 3849): no machine is there, so an address of them leads nowhere.
NOWHERE: Final = tuple(ip_network(n) for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
#: The pod's own machine, as a client or as an address to listen on.
LOOPBACK: Final = tuple(ip_network(n) for n in ("127.0.0.0/8", "::1/128", "0.0.0.0/32", "::/128"))
#: Networks that a pod may be told of: those of private use.
PRIVATE: Final = tuple(ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"))
_NAME: Final = r"(?:[A-Za-z0-9_](?:[-A-Za-z0-9_]*[A-Za-z0-9_])?\.)+[A-Za-z][-A-Za-z0-9]*\.?"
_IPV4: Final = r"\d{1,3}(?:\.\d{1,3}){3}"
_HOST: Final = rf"(?:{_NAME}|{_IPV4}|\[[0-9A-Fa-f:.]+\])"
#: An address in a text: after a scheme, as the only content or an element of a list, or as a field of a DSN.
_ADDRESSES: Final = (
    re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@\s\"'`]*@)?({_HOST})(?=[:/?#\s\"'`,;)\]}}]|$)"),
    re.compile(rf"(?:^|[,;=\s]|@(?:tcp\()?)({_HOST}):\d{{1,5}}(?=[,;/?)\s]|$)"),
    re.compile(
        rf"(?i)(?:^|[;,\s&?])(?:host|server|hostaddr|data source|addr|address)=(?:tcp:)?({_HOST})(?=[;,\s&:]|$)"
    ),
    re.compile(rf"^({_IPV4})$"),
)


def list_texts(obj: Object) -> Iterator[tuple[Keys, str]]:
    """List every text of an object that a program reads, with its place."""
    yield from _list_values(obj)
    yield from _list_files(obj)


def _list_values(obj: Object) -> Iterator[tuple[Keys, str]]:
    """List what a container's program is told: the values of its variables, its arguments."""
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


def find_hosts(text: str) -> list[str]:
    """Find the hosts of all addresses in a text, in lower case, each once."""
    found = (match.group(1).lower().strip("[]").rstrip(".") for each in _ADDRESSES for match in each.finditer(text))
    return list(dict.fromkeys(found))


def collect_hosts(objects: Iterable[Object]) -> frozenset[str]:
    """Collect the hosts that the objects of an app name."""
    texts = (text for obj in objects for _, text in list_texts(obj))
    return frozenset(host for text in texts for host in find_hosts(text))


def is_within(address: Any, networks: tuple[Any, ...]) -> bool:
    """Tell whether this is an address of one of the networks."""
    try:
        parsed = ip_address(str(address))
    except ValueError:
        return False
    return any(parsed.version == network.version and parsed in network for network in networks)
