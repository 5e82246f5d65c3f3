"""DNS queries of pods, and DNSChaos.

A name with fewer than five dots is tried with the search domains of the pod's namespace first, as in the
``/etc/resolv.conf`` of Kubernetes. A failed attempt leads to the next, so an error matters only for the attempt that
would succeed; a random address is used wherever it comes first. Patterns: a star at the end, a question mark for any
character, in the case of the names. See docs/fidelity.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from scenario_kit.model import Object
from scenario_kit.model.chaos.effects import ContainerEffect

DOMAIN: Final = ("svc", "cluster", "local")
_DOTS: Final = 5


class WrongAnswers(NamedTuple):
    """The wrong answers for one pod, for names that match a pattern, or for all names if there is none."""

    random: bool
    patterns: tuple[str, ...] = ()

    def misleads(self, host: str, namespace: str) -> bool:
        """Return whether a program in that namespace gets a wrong answer for ``host``."""
        attempts = list_attempts(host, namespace)
        true = next((name for name in attempts if name.lower() == qualify_name(host, namespace)), attempts[-1])
        concerned = attempts[: attempts.index(true) + 1] if self.random else (true,)
        return any(self._means(name) for name in concerned)

    def _means(self, name: str) -> bool:
        return not self.patterns or any(
            fnmatchcase(name, p) or ("*" not in p and fnmatchcase(name, p + ".")) for p in self.patterns
        )


def collect_wrong_answers(effects: Iterable[ContainerEffect]) -> dict[str, WrongAnswers]:
    """Collect the wrong answers by pod UID, for pods that use the chaos DNS server and have rules there.

    All containers of a pod share the file with the DNS server's address; a change ends with the container
    through which it was made.
    """
    reported = list(effects)
    sent = {e.pod_uid for e in reported if e.kind == "DNS"}
    return {
        e.pod_uid: WrongAnswers(e.arguments["action"] == "random", tuple(e.arguments["patterns"]))
        for e in reported
        if e.kind == "Names" and e.pod_uid in sent
    }


def qualify_name(host: str, namespace: str) -> str:
    """Return the fully qualified name of a host of the cluster; before ``.svc``, a third label is that of a pod."""
    labels = host.rstrip(".").lower().split(".")
    hostname = labels[:1] if labels[3:] and tuple(labels[3:]) == DOMAIN[: len(labels) - 3] else []
    name, home = labels[len(hostname)], "".join(labels[len(hostname) + 1 : len(hostname) + 2]) or namespace
    return ".".join((*hostname, name, home, *DOMAIN, ""))


def list_readings(host: str, namespace: str) -> tuple[tuple[str, str, str], ...]:
    """List what a name of the cluster can mean to a pod: hostname, Service and namespace, in the order of the search.

    Endpoints of a headless Service whose pods have hostnames, as those of a StatefulSet, have names below the Service's
    (the specification of DNS-based service discovery, 2.4.1). Without hostname, it is the Service itself.
    """
    labels = host.rstrip(".").lower().split(".")
    readings = []
    for count in (1, 0):
        names, rest = labels[count:], tuple(labels[count + 2 :])
        if names and rest == DOMAIN[: len(rest)]:
            readings.append(("".join(labels[:count]), names[0], "".join(names[1:2]) or namespace))
    return tuple(readings)


def list_attempts(host: str, namespace: str) -> tuple[str, ...]:
    """List the fully qualified names tried in sequence, in the case of the host."""
    if host.endswith("."):
        return (host,)
    searched = [".".join((host, *part, "")) for part in ((namespace, *DOMAIN), DOMAIN, DOMAIN[1:])]
    return (*searched, f"{host}.") if host.count(".") < _DOTS else (f"{host}.", *searched)


def find_alias(pod: Object, host: str) -> str:
    """Find the address of a name in the pod's hosts file, which takes precedence over DNS."""
    name = host.rstrip(".").lower()
    entries = pod["spec"].get("hostAliases") or ()
    return next((str(e["ip"]) for e in entries if name in map(str.lower, e.get("hostnames") or ())), "")


def draw_address(host: str) -> str:
    """Return an unused address, deterministic in the name."""
    return ".".join(str(byte % 255) for byte in hashlib.sha256(host.encode()).digest()[:4])
