"""Hosts in texts that programs read, and networks of addresses.

A name without a dot is a Service of the pod's own namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address, ip_network
from socket import inet_aton, inet_ntoa
from typing import Any, Final
from unicodedata import normalize
from urllib.parse import unquote

#: Documentation networks (RFC 5737, RFC 3849), whose addresses are unassigned.
NOWHERE: Final = tuple(ip_network(n) for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
#: Loopback and wildcard addresses; no other address of 0.0.0.0/8 has an owner (RFC 6890), so that numbers are no hosts.
LOOPBACK: Final = tuple(ip_network(n) for n in ("127.0.0.0/8", "::1/128", "0.0.0.0/8", "::/128"))
#: Private networks.
PRIVATE: Final = tuple(ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"))
ALL: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
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
    re.compile(
        rf"(?:^|[,;=\s\"'\[]|@(?:tcp\()?|(?<![\w-])(?i:tcp|udp|sctp|openssl|ssl|tls|socks)\d?(?i:-connect)?:)"
        rf"({_HOST}):\d{{1,5}}(?=[,;/?)\s\"'\]]|$)"
    ),
    re.compile(
        rf"(?i)(?:^|[;,\s&?])(?:host|server|hostaddr|data source|addr|address)=(?:tcp:)?({_HOST})(?=[;,\s&:]|$)"
    ),
    re.compile(rf"^({_IPV4})$"),
    # Bash opens these paths as connections.
    re.compile(rf"/dev/(?:tcp|udp)/({_HOST})/\d"),
    # The host and port, or the host, that a program hands to a socket or a resolver.
    re.compile(rf"(?i:socket|connect(?:ion)?|address|dial)\s?\(+\s*[\"']({_HOST})[\"']\s*,\s*\d{{1,5}}\s*\)"),
    re.compile(rf"\b(?:get(?:All)?ByName|gethostbyname|getaddrinfo)\(\s*[\"']({_HOST})[\"']"),
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
PUBLIC: Final = frozenset(
    {
        "asia-docker.pkg.dev", "cgr.dev", "docker.elastic.co", "docker.io", "europe-docker.pkg.dev", "gcr.io",
        "ghcr.io", "index.docker.io", "mcr.microsoft.com", "public.ecr.aws", "quay.io", "registry-1.docker.io",
        "registry.gitlab.com", "registry.k8s.io", "us-docker.pkg.dev",
    }
)  # fmt: skip
#: A shell's or Kubernetes' reference to a variable; the shell may name a value for one that is not set.
_DEFAULTED: Final = re.compile(r"\$\{\w+:?[-=]([^{}\s]*)\}")
_VARIABLE: Final = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|([A-Za-z_]\w*))")


def find_hosts(text: str, *, address: bool = False) -> list[str]:
    """Find the hosts of all addresses in a text, in lower case, each once.

    Full-width and other compatible forms of characters count as what they resemble (UTS 46), and a variable whose value
    is not known as one label. With ``address``, the text is one address, or a list of them.
    """
    text = normalize("NFKC", text).replace("。", ".")
    if "$" in text:
        text = _VARIABLE.sub(lambda m: f"var-{m[1] or m[2] or m[3]}", _DEFAULTED.sub(r"\1", text))
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
        else:  # behind a scheme without slashes
            yield from (part for part in host.split(":") if _BARE.fullmatch(part))


def is_address_name(name: str) -> bool:
    """Return whether a variable of that name holds an address, and no other text."""
    return _ADDRESS_VARIABLE.search(name) is not None


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


def parse_registry(image: str) -> str:
    """Return the host of the registry that an image is pulled from, without its port."""
    first, slash, _ = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first.partition(":")[0].lower() if named else "docker.io"


def is_within(address: Any, networks: tuple[Any, ...]) -> bool:
    """Return whether this is an address of one of the networks."""
    try:
        parsed = ip_address(str(address))
    except ValueError:
        return False
    return any(parsed.version == network.version and parsed in network for network in networks)
