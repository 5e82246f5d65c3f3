"""What pods ask a name server for, and the wrong answers of one that is told to give them (DNSChaos).

A name with fewer than five dots is first sought in the domains of the pod's namespace, as Kubernetes writes it into
``/etc/resolv.conf``. A failure of one attempt leads to the next, so only the attempt that would succeed matters; a
random address is taken wherever it comes first. Patterns: a star stands at the end, a question mark for any letter.
See docs/fidelity.md.
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
    """What one pod is told instead of the truth, for names that match a pattern, or for all where there is none."""

    random: bool
    patterns: tuple[str, ...] = ()

    def misleads(self, host: str, namespace: str) -> bool:
        """Check whether a program in that namespace that looks up ``host`` gets a wrong answer."""
        asked = list_attempts(host, namespace)
        true = next((name for name in asked if name == qualify_name(host, namespace)), asked[-1])
        concerned = asked[: asked.index(true) + 1] if self.random else (true,)
        return any(self._means(name) for name in concerned)

    def _means(self, name: str) -> bool:
        patterns = [p.lower() for p in self.patterns]
        return not patterns or any(
            fnmatchcase(name, p) or ("*" not in p and fnmatchcase(name, p + ".")) for p in patterns
        )


def collect_wrong_answers(effects: Iterable[ContainerEffect]) -> dict[str, WrongAnswers]:
    """Collect, by the pod's UID, pods that were sent to the wrong name server, and for which it has rules.

    The file that names the server is one for all containers of a pod; what is written into it ends with the container
    that it was written through.
    """
    reported = list(effects)
    sent = {e.pod_uid for e in reported if e.kind == "DNS"}
    return {
        e.pod_uid: WrongAnswers(e.arguments["action"] == "random", tuple(e.arguments["patterns"]))
        for e in reported
        if e.kind == "Names" and e.pod_uid in sent
    }


def qualify_name(host: str, namespace: str) -> str:
    """Return the name, with a dot at its end, by which a host of the cluster is known."""
    labels = host.rstrip(".").lower().split(".")
    name, home = labels[0], "".join(labels[1:2]) or namespace
    return ".".join((name, home, *DOMAIN, ""))


def list_attempts(host: str, namespace: str) -> tuple[str, ...]:
    """List the names that are sought one after another, each with a dot at its end."""
    name = host.lower()
    if name.endswith("."):
        return (name,)
    searched = [".".join((name, *part, "")) for part in ((namespace, *DOMAIN), DOMAIN, DOMAIN[1:])]
    return (*searched, f"{name}.") if name.count(".") < _DOTS else (f"{name}.", *searched)


def find_alias(pod: Object, host: str) -> str:
    """Find the address in the pod's own hosts file for a name as it is spelled; it is read before anybody is asked."""
    name = host.rstrip(".").lower()
    entries = pod["spec"].get("hostAliases") or ()
    return next((str(e["ip"]) for e in entries if name in map(str.lower, e.get("hostnames") or ())), "")


def draw_address(host: str) -> str:
    """Draw an address where nobody is, the same one for a name at every time."""
    return ".".join(str(byte % 255) for byte in hashlib.sha256(host.encode()).digest()[:4])
