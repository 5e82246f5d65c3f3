"""Parsers of the network calls: traffic control, packet filters and address sets."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from scenario_kit.model import NetworkEffect
from scenario_kit.model.kubernetes.duration import parse_seconds

#: The real daemon's default device.
DEFAULT_DEVICE = "eth0"
#: Rates in the notation of Chaos Mesh and tc(8).
_RATE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt]?)(i?)(bit|bps))?", re.IGNORECASE)


class NotSimulated(ValueError):
    """A valid request for something that is not simulated."""


class Failed(ValueError):
    """A valid request that fails; the message is the real daemon's."""


class AddressSet(NamedTuple):
    """An ipset: its addresses (CIDRs), and the names of its member sets."""

    cidrs: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


class NetworkRule(NamedTuple):
    """An effect on the members of ``sets``, or on every peer if there are none."""

    effect: NetworkEffect
    sets: tuple[str, ...] = ()


def parse_address_set(message: Any) -> AddressSet:
    """Parse an ``IPSet`` message.

    Raises:
        ValueError: an unknown type or an invalid address.
        NotSimulated: addresses with ports, which are not simulated.
    """
    if message.type == "list:set":
        return AddressSet(sets=tuple(message.set_names))
    if message.type == "hash:net":
        return AddressSet(cidrs=tuple(str(ipaddress.ip_network(cidr, strict=False)) for cidr in message.cidrs))
    if message.type == "hash:net,port":
        if message.cidr_and_ports:
            raise NotSimulated(f"ipset {message.name}: targets with a port are not simulated, use the address only")
        return AddressSet()
    raise ValueError(f"ipset {message.name}: unexpected type {message.type!r}")


def parse_traffic_rule(pod_uid: str, message: Any) -> NetworkRule:
    """Parse a ``Tc`` message, a rule for the pod's egress.

    Correlation and queue limits in packets are ignored: the simulated network has no packets.

    Raises:
        ValueError: the block for the type is missing, or a duration or rate is.
        NotSimulated: a filter on protocol or ports.
    """
    _refuse_ports(message.protocol, *(getattr(message, name, "") for name in ("source_port", "egress_port")))
    effect = NetworkEffect(pod_uid=pod_uid, direction="OUTPUT", device=message.device or DEFAULT_DEVICE)
    if message.type == message.DESCRIPTOR.enum_types_by_name["Type"].values_by_name["BANDWIDTH"].number:
        if not message.HasField("tbf"):
            raise ValueError("type BANDWIDTH requires tbf")
        tbf = message.tbf
        effect = msgspec.structs.replace(
            effect, rate=parse_rate(tbf.rate), burst=float(tbf.buffer), queue=float(tbf.limit)
        )
    else:
        if not message.HasField("netem"):
            raise ValueError("type NETEM requires netem")
        netem = message.netem
        delay = parse_seconds(netem.time)
        effect = msgspec.structs.replace(
            effect,
            delay=delay,
            jitter=parse_seconds(netem.jitter) if delay else 0.0,  # tc accepts jitter only with a delay
            prompt=_compute_prompt_percent(netem.reorder, netem.gap) if delay else 0.0,
            loss=_parse_percent(netem.loss),
            duplicate=_parse_percent(netem.duplicate),
            corrupt=_parse_percent(netem.corrupt),
            rate=parse_rate(netem.rate),
        )
    return NetworkRule(effect, (message.ipset,) if message.ipset else ())


def parse_filter_rule(pod_uid: str, message: Any) -> NetworkRule:
    """Parse a ``Chain`` message: packets from (INPUT) or to (OUTPUT) its sets are dropped.

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
    """Return the effect with its peers resolved; None if its sets are empty, so that it affects no peer."""
    if not rule.sets:
        return rule.effect
    peers = list_members(rule.sets, sets)
    return msgspec.structs.replace(rule.effect, peers=peers) if peers else None


def list_members(names: tuple[str, ...], sets: Mapping[str, AddressSet]) -> tuple[str, ...]:
    """List the addresses of sets and their member sets, sorted, without duplicates."""
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
    # Percentages arrive as 32-bit floats: 12.3 as 12.30000019.
    return round(float(value), 4)


def _compute_prompt_percent(reorder: float, gap: int) -> float:
    """Return the percentage of packets that netem sends at once: after ``gap - 1`` delayed ones, each with ``reorder``.

    Source: tc-netem(8), and ``netem_enqueue`` in Linux' net/sched/sch_netem.c.
    """
    share = min(_parse_percent(reorder), 100.0) / 100.0
    return 100.0 / (max(gap, 1) - 1 + 1.0 / share) if share > 0.0 else 0.0


def _refuse_ports(*filters: str) -> None:
    if any(filters):
        raise NotSimulated(f"filters on protocol and ports are not simulated, found {[f for f in filters if f]}")


def parse_rate(text: str) -> float:
    """Parse a rate in the notation of tc(8), in bytes per second; empty text is zero.

    ``bit`` is bits, ``bps`` *bytes* per second; ``k``, ``m``, ``g``, ``t`` are powers of 1000, with an ``i`` powers of
    1024; a number without unit is bits per second.

    Raises:
        ValueError: not a rate.
    """
    if not text:
        return 0.0
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a rate, expected for example 1mbit (bits) or 128kbps (bytes)")
    number, prefix, binary, unit = match.groups()
    base = 1024.0 if binary else 1000.0
    power = " kmgt".index(prefix.lower()) if prefix else 0
    return float(number) * base**power / (1 if (unit or "").lower() == "bps" else 8)
