"""DNS queries under network chaos: how long a name takes to resolve, and to fail (docs/fidelity.md, "DNS queries").

A resolver sends a query again after five seconds, and gives a name up after two attempts, the defaults of resolv.conf.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, assert_never

from scenario_kit.lab.twin.cluster.dns import list_attempts, qualify_name
from scenario_kit.lab.twin.network.packet_effects import QUERY_PACKET, combine_effects, concerns
from scenario_kit.model.chaos.effects import NetworkEffect
from scenario_kit.model.twin.component import Resolver

#: The address of the Service of the DNS server, to which a pod sends its queries.
DNS_ADDRESS: Final = "10.96.0.10"
ATTEMPT_SECONDS: Final = 5.0
_ATTEMPTS: Final = 2
#: glibc gives up the search at the first name without an answer, and tries the name as it is.
_GLIBC_NAMES: Final = 2


class QueryPath(NamedTuple):
    """What chaos does to the DNS queries of a pod: whether any gets an answer, how late, and which share is lost."""

    answered: bool = True
    delay: float = 0.0
    loss: float = 0.0


def find_path(effects: Iterable[NetworkEffect]) -> QueryPath:
    """Return what the effects in a pod do to its queries; those for other peers than the DNS server do nothing."""
    met = [effect for effect in effects if concerns(effect, DNS_ADDRESS)]
    sent = combine_effects((effect for effect in met if effect.direction == "OUTPUT"), QUERY_PACKET)
    lost = sent is not None and sent.loss >= 1.0
    if lost or any(effect.direction == "INPUT" and effect.drop for effect in met):
        return QueryPath(answered=False)
    return QueryPath(delay=sent.delay, loss=sent.loss) if sent is not None else QueryPath()


def measure_failure(host: str, namespace: str, resolver: Resolver) -> float:
    """Return the seconds until a program's resolver gives up a name, if no query gets an answer."""
    match resolver:
        case "envoy":
            return 0.0  # it resolves beside the requests, which fail at once without an address
        case "musl":
            return ATTEMPT_SECONDS  # for both attempts, at the first name
        case "go" | "glibc":
            names = len(list_attempts(host, namespace))
            return (names if resolver == "go" else min(names, _GLIBC_NAMES)) * _ATTEMPTS * ATTEMPT_SECONDS
        case _:
            assert_never(resolver)


def measure_resolution(host: str, namespace: str, resolver: Resolver, path: QueryPath) -> float | None:
    """Return the seconds that late queries add to the resolution of a name of the cluster; None if it fails.

    The names of the search are queried one after another, both kinds of addresses at once. Go's resolver has a socket
    for each attempt, which misses answers to the former one; others take them. musl's two attempts last five seconds.
    """
    patience = ATTEMPT_SECONDS * (_ATTEMPTS if resolver == "glibc" else 1)
    if not path.answered or path.delay >= patience:
        return None
    return find_position(host, namespace) * path.delay


def find_position(host: str, namespace: str) -> int:
    """Return how many names a resolver asks for until it comes to the one that is meant."""
    names = list_attempts(host, namespace)
    meant = qualify_name(host, namespace)
    return next((number for number, name in enumerate(names, 1) if name.lower() == meant), len(names))
