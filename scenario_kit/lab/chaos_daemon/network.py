"""Parsers of the network calls: traffic control, packet filters and address sets."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.model import NetworkEffect
from scenario_kit.model.chaos.times import is_passed_to_tc, parse_tc_seconds

#: The real daemon's default device.
DEFAULT_DEVICE = "eth0"
#: Rates in the notation of Chaos Mesh and tc(8).
_RATE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt]?)(i?)(bit|bps))?", re.IGNORECASE)
_REFUSED: Final = "error code: exit status 1, msg: "


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

    Queue limits in packets are ignored: the simulated network has no packets.

    Raises:
        ValueError: the block for the type is missing, or a duration or rate is.
        Failed: tc refuses the arguments.
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
        effect = _parse_netem(effect, message.netem)
    return NetworkRule(effect, (message.ipset,) if message.ipset else ())


def _parse_netem(effect: NetworkEffect, netem: Any) -> NetworkEffect:
    """Add what the daemon's arguments make tc do."""
    delayed = is_passed_to_tc(netem.time)
    jitter = _parse_time(netem.jitter) if delayed and is_passed_to_tc(netem.jitter) else 0.0
    found = msgspec.structs.replace(
        effect,
        delay=_parse_time(netem.time) if delayed else 0.0,
        jitter=jitter,
        jitter_correlation=_read_percent(netem, "delay_corr") if jitter else 0.0,
        reorder=_read_percent(netem, "reorder") if delayed else 0.0,
        reorder_correlation=_read_percent(netem, "reorder_corr") if delayed else 0.0,
        gap=int(netem.gap) if delayed else 0,
        loss=_read_percent(netem, "loss"),
        loss_correlation=_read_percent(netem, "loss_corr"),
        duplicate=_read_percent(netem, "duplicate"),
        corrupt=_read_percent(netem, "corrupt"),
        corrupt_correlation=_read_percent(netem, "corrupt_corr"),
        rate=parse_rate(netem.rate),
    )
    if not delayed and not netem.limit and not netem.rate and not (found.loss or found.duplicate or found.corrupt):
        raise Failed(f'{_REFUSED}What is ""?')
    return found


def _parse_time(text: str) -> float:
    try:
        return parse_tc_seconds(text)
    except ValueError as error:
        raise Failed(f"{_REFUSED}{error}") from error


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


def _read_percent(netem: Any, name: str) -> float:
    # Percentages arrive as 32-bit floats: 12.3 as 12.30000019.
    return round(float(getattr(netem, name, 0.0)), 4)


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
