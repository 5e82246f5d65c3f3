"""Hosts in the inputs of programs, and networks of addresses.

Hosts are found where programs read addresses: in environment variables, arguments, files, name servers, probes and Java
code that an experiment injects. A name without a dot is a Service of the pod's own namespace.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address, ip_network
from socket import inet_aton, inet_ntoa
from typing import Any, Final, NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

from scenario_kit.admission.breach import Keys
from scenario_kit.admission.pods import find_pod_specs, list_actions, list_containers
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import find_spec
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import list_mappings

#: Documentation networks (RFC 5737, RFC 3849), whose addresses are unassigned.
NOWHERE: Final = tuple(ip_network(n) for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
#: Loopback and wildcard addresses; no other address of 0.0.0.0/8 has an owner (RFC 6890), so that numbers are no hosts.
LOOPBACK: Final = tuple(ip_network(n) for n in ("127.0.0.0/8", "::1/128", "0.0.0.0/8", "::/128"))
#: Private networks.
PRIVATE: Final = tuple(ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"))
ALL: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
#: Fields of a JVMChaos that hold Java expressions or rules.
_JAVA: Final = ("ruleData", "exception", "returnValue")
_NAME: Final = r"(?:[A-Za-z0-9_](?:[-A-Za-z0-9_]*[A-Za-z0-9_])?\.)+[A-Za-z][-A-Za-z0-9]*\.?"
_IPV4: Final = r"\d{1,3}(?:\.\d{1,3}){3}"
_HOST: Final = rf"(?:{_NAME}|{_IPV4}|\[[0-9A-Fa-f:.]+\])"
#: The authority of a URL, also without a scheme. Clients read a backslash as a slash, and accept any number of slashes
#: after the schemes of the web (WHATWG URL, 4.4). Of a scheme only the last character is matched: texts may be long.
#: A call in a comment, `//console.log(x)`, is none. The names of gRPC's own resolvers follow a name server, if any
#: (https://grpc.io/docs/guides/custom-name-resolution).
_AUTHORITY: Final = re.compile(
    r"(?:(?i:https?|wss?|ftp):[/\\]+|[A-Za-z0-9+.-]:(?://|\\\\)|(?:^|(?<=[\s\"'`=,(\[]))//(?![\w.$]+\()"
    r"|(?<![\w.-])(?:dns|ipv[46]|passthrough):(?:///)?)([^/\\?#\s\"'`<>(){}|]+)"
)
#: Addresses in a text: as the only content, a string or a list element, or as a field of a DSN.
_ADDRESSES: Final = (
    re.compile(rf"(?:^|[,;=\s\"'\[]|@(?:tcp\()?)({_HOST}):\d{{1,5}}(?=[,;/?)\s\"'\]]|$)"),
    re.compile(
        rf"(?i)(?:^|[;,\s&?])(?:host|server|hostaddr|data source|addr|address)=(?:tcp:)?({_HOST})(?=[;,\s&:]|$)"
    ),
    re.compile(rf"^({_IPV4})$"),
)
#: Names of variables that hold an address, and no other text.
_ADDRESS_VARIABLE: Final = re.compile(
    r"(?:^|_)(?:ADDR(?:ESS)?(?:ES)?|BACKENDS?|BROKERS?|DOMAIN|ENDPOINTS?|HOST(?:NAME|S)?|PROXY|SERVERS?|UPSTREAMS?|UR[IL]S?)$",
    re.IGNORECASE,
)
#: Programs whose words are hosts.
_CLIENTS: Final = re.compile(
    r"(?:^|[\s;&|(`/])(?:curl|dig|ftp|getent\s+hosts|nc|ncat|netcat|nslookup|ping6?|scp|ssh|telnet|wget)\s+([^;&|\n)`]+)"
)
_BARE: Final = re.compile(_NAME)
_QUOTED: Final = re.compile(r"^([\"'])(.*)\1$")
#: A number of up to four parts, each decimal, octal or hexadecimal, as inet_aton(3) reads an address.
_NUMBER: Final = re.compile(r"(?:0[xX][0-9A-Fa-f]+|\d+)(?:\.(?:0[xX][0-9A-Fa-f]+|\d+)){0,3}")
#: Registries that serve images to everybody.
_PUBLIC: Final = frozenset(
    {
        "asia-docker.pkg.dev", "cgr.dev", "docker.elastic.co", "docker.io", "europe-docker.pkg.dev", "gcr.io",
        "ghcr.io", "index.docker.io", "mcr.microsoft.com", "public.ecr.aws", "quay.io", "registry-1.docker.io",
        "registry.gitlab.com", "registry.k8s.io", "us-docker.pkg.dev",
    }
)  # fmt: skip
#: Parts of files that no program requests: comments, names of XML namespaces, and those of JSON schemas.
_IDENTIFIERS: Final = re.compile(r"(?m)^[ \t]*#(?!!).*$|\bxmlns(?::\w+)?=\"[^\"\n]*\"|\"\$schema\"\s*:\s*\"[^\"\n]*\"")
_REFERENCE: Final = re.compile(r"\$\((\w+)\)")


class ReadText(NamedTuple):
    """A text that a program reads, its place, and whether it is nothing but an address."""

    keys: Keys
    text: str
    address: bool = False

    @property
    def hosts(self) -> list[str]:
        """Return the hosts that it names, in lower case, each once."""
        return find_hosts(self.text, address=self.address)


def list_texts(obj: Object) -> Iterator[ReadText]:
    """List the texts of an object that programs read, each with its place."""
    for keys, spec in find_pod_specs(obj):
        for place, container in list_containers(spec, keys):
            yield from _list_variables(container, place)
            yield from _list_commands(container, place)
    yield from _list_files(obj)
    yield from _list_java(obj)


def _list_variables(container: Mapping[str, Any], keys: Keys) -> Iterator[ReadText]:
    """List a container's environment values, with references to earlier ones expanded as the kubelet does."""
    known: dict[str, str] = {}
    for i, variable in list_mappings(container.get("env")):
        if isinstance(value := variable.get("value"), str):
            name = str(variable.get("name"))
            known[name] = _REFERENCE.sub(lambda m: known.get(m[1], m[0]), value)
            yield ReadText((*keys, "env", i, "value"), known[name], _ADDRESS_VARIABLE.search(name) is not None)


def _list_commands(container: Mapping[str, Any], keys: Keys) -> Iterator[ReadText]:
    """List the words of all commands of a container."""
    yield from _list_words(container, keys, ("command", "args"))
    for place, action in list_actions(container, keys):
        if isinstance(action.get("exec"), Mapping):
            yield from _list_words(action["exec"], (*place, "exec"), ("command",))


def _list_words(value: Mapping[str, Any], keys: Keys, fields: Iterable[str]) -> Iterator[ReadText]:
    for field in fields:
        words = [str(word) for word in value.get(field) or () if isinstance(word, str | int)]
        for i, word in enumerate(words):
            yield ReadText((*keys, field, i), word)
        yield from (ReadText((*keys, field), host, address=True) for host in find_arguments(" ".join(words)))


def _list_files(obj: Object) -> Iterator[ReadText]:
    """List the texts of a ConfigMap or a Secret."""
    fields = {"ConfigMap": ("data", "binaryData"), "Secret": ("stringData", "data")}.get(obj["kind"], ())
    for field in fields:
        data = obj.get(field)
        for key, text in data.items() if isinstance(data, Mapping) else ():
            encoded = (obj["kind"], field) in (("ConfigMap", "binaryData"), ("Secret", "data"))
            if isinstance(text, str):
                yield ReadText((field, str(key)), _IDENTIFIERS.sub("", _decode(text) if encoded else text))


def _decode(text: str) -> str:
    try:
        return b64decode(text).decode(errors="replace")
    except ValueError:
        return text  # the API server rejects it


def _list_java(obj: Object) -> Iterator[ReadText]:
    """List the Java code that a JVMChaos, or one that a Schedule starts, adds to a program."""
    keys, spec = find_spec(obj, "JVMChaos") or ((), {})
    for field in _JAVA:
        if isinstance(text := spec.get(field), str):
            yield ReadText((*keys, field), text)


def find_hosts(text: str, *, address: bool = False) -> list[str]:
    """Find the hosts of all addresses in a text, in lower case, each once.

    Full-width and other compatible forms of characters count as what they resemble (UTS 46). With ``address``, the text
    is one address, or a list of them.
    """
    text = normalize("NFKC", text).replace("。", ".")
    authorities = [match[1] for match in _AUTHORITY.finditer(text)]
    if address and not authorities and not re.search(r"[=/\s]", text.strip()):
        authorities = [text.strip()]
    found = [host for each in authorities for host in _split_authority(each)]
    found += (match[1].lower().strip("[]").rstrip(".") for each in _ADDRESSES for match in each.finditer(text))
    return list(dict.fromkeys(found))


def _split_authority(authority: str) -> Iterator[str]:
    """Yield the hosts of an authority that are more than one label, which would be a Service of the namespace."""
    for each in unquote(authority).rpartition("@")[2].split(","):
        host = re.sub(r":\d*$", "", each.rstrip(".;:!)]}") if each[:1] != "[" else each.rstrip(".;!)}")).lower()
        host = host.strip("[]").rstrip(".")
        if _NUMBER.fullmatch(host):
            with suppress(OSError):
                yield inet_ntoa(inet_aton(host))
        elif is_within(host, ALL) or not host.isascii() or _BARE.fullmatch(host):
            yield host


def find_arguments(command: str) -> list[str]:
    """Find the hosts that a command names as words of a client; words after an option of curl and wget are files."""
    found: list[str] = []
    for match in _CLIENTS.finditer(command):
        options = match[0].lstrip().partition(" ")[0].endswith(("curl", "wget"))
        words = match[1].split()
        for before, word in zip(["", *words], words, strict=False):
            host = _QUOTED.sub(r"\2", word)
            if _BARE.fullmatch(host) and not (options and before.startswith("-")):
                found.append(host)
    return found


@cache_by_identity(maxsize=16)
def collect_hosts(objects: tuple[Object, ...]) -> frozenset[str]:
    """Collect the hosts that the objects of an app name."""
    return frozenset(host for obj in objects for read in list_texts(obj) for host in read.hosts)


def parse_registry(image: str) -> str:
    """Return the host of the registry that an image is pulled from, without its port."""
    first, slash, _ = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first.partition(":")[0].lower() if named else "docker.io"


@cache_by_identity(maxsize=16)
def collect_registries(objects: tuple[Object, ...]) -> frozenset[str]:
    """Collect the public registries, and those of the images of an app's objects."""
    pods = (found for obj in objects for found in find_pod_specs(obj))
    images = (str(c.get("image") or "") for keys, spec in pods for _, c in list_containers(spec, keys))
    return _PUBLIC | {parse_registry(image) for image in images}


def is_within(address: Any, networks: tuple[Any, ...]) -> bool:
    """Return whether this is an address of one of the networks."""
    try:
        parsed = ip_address(str(address))
    except ValueError:
        return False
    return any(parsed.version == network.version and parsed in network for network in networks)
