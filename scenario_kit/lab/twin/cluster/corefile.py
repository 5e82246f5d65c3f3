"""CoreDNS configuration, as far as it affects the resolution of Services.

Supported are the plugins ``template``, ``hosts`` and ``kubernetes`` of the server block for all names or for the
cluster's zone, in CoreDNS' order of plugins, regardless of their order in the file. CoreDNS keeps its previous
configuration if a new one is invalid; here that is taken to be the default. https://coredns.io/plugins/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from scenario_kit.lab.twin.cluster.dns import DOMAIN
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.kubernetes.ip_address import is_ip_address
from scenario_kit.model.re2 import Pattern, compile_pattern

_ZONE: Final = ".".join(DOMAIN[1:])
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|#[^\n]*|\n|[^\s]+')
_ADDRESS: Final = re.compile(r"\sIN\s+A\s+(\S+)", re.IGNORECASE)
#: Outcomes of response codes.
_OUTCOMES: Final = {"NOERROR": None, "NXDOMAIN": ConnectionOutcome.NXDOMAIN}


class Template(NamedTuple):
    """Synthesised answers for matching names: a response code or an address."""

    zones: tuple[str, ...]
    match: tuple[Pattern, ...]
    outcome: ConnectionOutcome | None
    address: str = ""

    def matches(self, name: str) -> bool:
        """Return whether a fully qualified name matches."""
        return any(_is_inside(name, zone) for zone in self.zones) and any(p.found_in(name) for p in self.match)


class CoreDnsConfig(NamedTuple):
    """A parsed configuration. ``serves`` is whether it resolves Services of the cluster."""

    templates: tuple[Template, ...] = ()
    hosts: Mapping[str, str] = {}
    serves: bool = True

    def answer(self, name: str) -> tuple[ConnectionOutcome | None, str]:
        """Resolve a fully qualified name: a failed outcome, an address, or neither for the regular answer."""
        for template in self.templates:
            if template.matches(name):
                return (
                    (None, template.address)
                    if template.address
                    else (template.outcome or ConnectionOutcome.NXDOMAIN, "")
                )
        if known := self.hosts.get(name.rstrip(".")):
            return None, known
        return (None, "") if self.serves else (ConnectionOutcome.NXDOMAIN, "")


@lru_cache(maxsize=64)
def parse_corefile(text: str) -> CoreDnsConfig:
    """Parse a configuration; return the default one if CoreDNS would reject it."""
    try:
        blocks = _blocks(text)
        own = [body for head, body in blocks if any(_parse_zone(word) in (".", _ZONE) for word in head)]
        return _parse_server(own[-1]) if own else CoreDnsConfig(serves=False)
    except (ValueError, IndexError):
        return CoreDnsConfig()


class _Directive(NamedTuple):
    """A line of a server block: its words, and the lines in its braces."""

    words: tuple[str, ...]
    inside: tuple[tuple[str, ...], ...] = ()


def _parse_server(body: list[_Directive]) -> CoreDnsConfig:
    templates = tuple(_parse_template(d) for d in body if d.words[0] == "template")
    hosts: dict[str, str] = {}
    for directive in body:
        if directive.words[0] == "hosts":
            for address, *names in (line for line in directive.inside if is_ip_address(line[0])):
                hosts.update({name.lower().rstrip("."): address for name in names})
    zones = [_parse_zone(word) for d in body if d.words[0] == "kubernetes" for word in d.words[1:] or (".",)]
    return CoreDnsConfig(templates, hosts, any(zone in (".", _ZONE) for zone in zones))


def _parse_template(directive: _Directive) -> Template:
    _, _, kind, *zones = directive.words
    options = {line[0]: line[1:] for line in directive.inside if line}
    match = tuple(compile_pattern(text) for text in options.get("match", (".*",)))  # CoreDNS uses RE2, too
    code = options.get("rcode", ("NOERROR",))[0].upper()
    found = _ADDRESS.search(" ".join(options.get("answer", ())))
    address = found[1] if found and kind.upper() in ("A", "ANY") and code == "NOERROR" else ""
    meant = tuple(_parse_zone(zone) for zone in zones) or (".",)
    # Programs query address records only.
    return Template(
        meant, match if kind.upper() in ("A", "ANY") else (), _OUTCOMES.get(code, ConnectionOutcome.SERVFAIL), address
    )


def _blocks(text: str) -> list[tuple[tuple[str, ...], list[_Directive]]]:
    """Return the server blocks: the words before the brace, and their lines."""
    found: list[tuple[tuple[str, ...], list[_Directive]]] = []
    depth, words = 0, list[str]()
    for token in (*_TOKEN.findall(text), "\n"):
        if token == "{":
            depth += 1
            if depth == 1:
                found.append((tuple(words), []))
            elif depth == 2:
                found[-1][1].append(_Directive(tuple(words)))
            else:
                raise ValueError("nested braces in a plugin's block")
            words = []
        elif token in ("\n", "}"):
            if words and depth == 1:
                found[-1][1].append(_Directive(tuple(words)))
            elif words and depth == 2:
                last = found[-1][1][-1]
                found[-1][1][-1] = last._replace(inside=(*last.inside, tuple(words)))
            elif words and token == "}":
                raise ValueError("unexpected text before a closing brace")
            words = [] if depth or token == "}" else words
            depth -= token == "}"
            if depth < 0:
                raise ValueError("unmatched closing brace")
        elif not token.startswith("#"):
            words.append(token.strip('"`'))
    if depth:
        raise ValueError("unmatched opening brace")
    return found


def _parse_zone(word: str) -> str:
    """Return the zone of ``dns://zone:port`` or of a bare name, without the trailing dot; a dot for the root."""
    return word.rpartition("://")[2].rstrip(",").rsplit(":", 1)[0].lower().rstrip(".") or "."


def _is_inside(name: str, zone: str) -> bool:
    return zone == "." or name == f"{zone}." or name.endswith(f".{zone}.")
