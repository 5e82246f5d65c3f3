"""What the network calls say, as rules: traffic control, packet filters, and the address sets that they name."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from scenario_kit.lab.chaos_daemon.units import parse_rate
from scenario_kit.model import NetworkEffect
from scenario_kit.model.kubernetes.duration import parse_seconds

#: The device that the real daemon shapes when the request names none.
DEFAULT_DEVICE = "eth0"


class NotSimulated(ValueError):
    """The request is sound, but asks for something that the simulation does not know."""


class Failed(ValueError):
    """The request is sound, and what it asks for fails there; the real daemon answers with these words."""


class AddressSet(NamedTuple):
    """One ipset: addresses of its own (CIDRs), and the names of other sets that it holds."""

    cidrs: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


class NetworkRule(NamedTuple):
    """An effect that applies to the members of ``sets``, or to every peer when it names none."""

    effect: NetworkEffect
    sets: tuple[str, ...] = ()


def parse_address_set(message: Any) -> AddressSet:
    """Parse the set that an ``IPSet`` message describes.

    Raises:
        ValueError: an unknown type, or an address that is none.
        NotSimulated: addresses with ports, which the simulated network cannot tell apart.
    """
    if message.type == "list:set":
        return AddressSet(sets=tuple(message.set_names))
    if message.type == "hash:net":
        return AddressSet(cidrs=tuple(str(ipaddress.ip_network(cidr, strict=False)) for cidr in message.cidrs))
    if message.type == "hash:net,port":
        if message.cidr_and_ports:
            raise NotSimulated(f"ipset {message.name}: targets with a port are not simulated, name the address only")
        return AddressSet()
    raise ValueError(f"ipset {message.name}: unexpected type {message.type!r}")


def parse_traffic_rule(pod_uid: str, message: Any) -> NetworkRule:
    """Parse the rule that a ``Tc`` message describes. It shapes what the pod sends.

    Correlations, reordering, queue limits and burst sizes are left out: the simulated network has no packets.

    Raises:
        ValueError: the block that the type asks for is missing, or holds no duration or rate where one is due.
        NotSimulated: a filter on protocol or ports.
    """
    _refuse_ports(message.protocol, *(getattr(message, name, "") for name in ("source_port", "egress_port")))
    effect = NetworkEffect(pod_uid=pod_uid, direction="OUTPUT", device=message.device or DEFAULT_DEVICE)
    if message.type == message.DESCRIPTOR.enum_types_by_name["Type"].values_by_name["BANDWIDTH"].number:
        if not message.HasField("tbf"):
            raise ValueError("tbf is missing while the type is BANDWIDTH")
        effect = msgspec.structs.replace(effect, rate=parse_rate(message.tbf.rate))
    else:
        if not message.HasField("netem"):
            raise ValueError("netem is missing while the type is NETEM")
        netem = message.netem
        delay = parse_seconds(netem.time)
        effect = msgspec.structs.replace(
            effect,
            delay=delay,
            jitter=parse_seconds(netem.jitter) if delay else 0.0,  # tc takes a jitter only after a delay
            loss=_parse_percent(netem.loss),
            duplicate=_parse_percent(netem.duplicate),
            corrupt=_parse_percent(netem.corrupt),
            rate=parse_rate(netem.rate),
        )
    return NetworkRule(effect, (message.ipset,) if message.ipset else ())


def filter_rule(pod_uid: str, message: Any) -> NetworkRule:
    """Filter the rule that a ``Chain`` message describes: packets from (INPUT) or to (OUTPUT) its sets are dropped.

    Raises:
        ValueError: a target other than DROP.
        NotSimulated: a filter on protocol, ports or flags.
    """
    if message.target != "DROP":
        raise ValueError(f"chain {message.name}: target {message.target!r}, expected DROP")
    _refuse_ports(message.protocol, message.source_ports, message.destination_ports, message.tcp_flags)
    values = message.DESCRIPTOR.enum_types_by_name["Direction"].values_by_number
    if message.direction not in values:
        raise ValueError(f"chain {message.name}: unknown direction {message.direction}")
    direction = values[message.direction].name
    effect = NetworkEffect(pod_uid=pod_uid, direction=direction, drop=True, device=message.device or DEFAULT_DEVICE)
    return NetworkRule(effect, tuple(message.ipsets))


def resolve_peers(rule: NetworkRule, sets: Mapping[str, AddressSet]) -> NetworkEffect | None:
    """Return the effect with its peers filled in; None when it names sets and these are empty, for then it touches
    nobody.
    """
    if not rule.sets:
        return rule.effect
    peers = list_members(rule.sets, sets)
    return msgspec.structs.replace(rule.effect, peers=peers) if peers else None


def list_members(names: tuple[str, ...], sets: Mapping[str, AddressSet]) -> tuple[str, ...]:
    """List the addresses in the named sets and in the sets they hold, sorted, each once."""
    found: set[str] = set()
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            here = sets.get(name, AddressSet())
            found.update(here.cidrs)
            todo.extend(here.sets)
    return tuple(sorted(found))


def _parse_percent(value: float) -> float:
    # The wire carries 32-bit floats: 12.3 arrives as 12.30000019.
    return round(float(value), 4)


def _refuse_ports(*filters: str) -> None:
    if any(filters):
        raise NotSimulated(f"filters on protocol and ports are not simulated, found {[f for f in filters if f]}")
