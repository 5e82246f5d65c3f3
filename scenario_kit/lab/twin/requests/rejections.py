"""Rate-limited ICMP errors for dials of a Service without endpoints: not every dial is refused at once.

kube-proxy rejects such packets, so the kernel of the caller's node sends ICMP errors, limited to one per second and
address after an initial burst (``net.ipv4.icmp_ratelimit``, 1000 ms, and ``XRLIM_BURST_FACTOR``, 6:
``inet_peer_xrlim_allow`` in ``net/ipv4/inetpeer.c``). A dial without an error retransmits its SYN
(``tcp_syn_retries`` and ``tcp_syn_linear_timeouts``: networking/ip-sysctl in the kernel's documentation), and each SYN
may be rejected, until the caller gives up. See docs/fidelity.md, "Services without endpoints".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.network.traffic_shaping import CONNECT_SECONDS
from scenario_kit.lab.twin.numeric.arrays import Floats, Ints

#: The burst of errors per address, and the rate per second afterwards.
BURST: Final = 6.0
PER_SECOND: Final = 1.0
#: How late a timeout of a second is on average: timers end in steps of 32 ms (``kernel/time/timer.c``, 250 Hz).
_LATE_SECONDS: Final = 0.016
#: When TCP sends a SYN, and when it gives up (since Linux 6.5: four linear timeouts, then six that double).
_SYN: Final = np.array((0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67)) * (1.0 + _LATE_SECONDS)
_ROUNDING: Final = 1e-9


class _Dials(NamedTuple):
    """Dials of one step of a program, and the seconds after which their caller gives up."""

    at: Floats
    patience: float


class _Packets(NamedTuple):
    """SYNs in order of time, each with the number of its dial."""

    times: Floats
    dials: Ints


@dataclass(slots=True)
class _Address:
    """The errors for one address: a token bucket as of ``since``, and the errors after that, in order.

    Steps of a program are computed one after another, so errors are added in any order; the later ones are for
    retransmissions. ``now`` and ``before`` are the dials of this tick and of the previous one, by step.
    """

    since: float
    tokens: float = BURST
    errors: list[float] = field(default_factory=list)
    now: dict[int, list[_Dials]] = field(default_factory=dict)
    before: dict[int, list[_Dials]] = field(default_factory=dict)

    def begin(self, start: float) -> None:
        """Begin a tick."""
        past = [when for when in self.errors if when < start]
        for when in past:
            self.tokens = _refill(self.tokens, when - self.since) - 1.0
            self.since = when
        self.errors = self.errors[len(past) :]
        self.before, self.now = self.now, {}


class Rejections:
    """The ICMP errors of each caller's address, by pod UID."""

    def __init__(self) -> None:
        self._addresses: dict[str, _Address] = {}
        self._locks: dict[tuple[str, int], tuple[float, float]] = {}
        self._start = self._end = 0.0

    def begin(self, start: float, end: float, alive: set[str]) -> None:
        """Begin a tick, and drop the state of all pods but those that are ``alive``."""
        self._start, self._end = start, end
        self._addresses = {uid: address for uid, address in self._addresses.items() if uid in alive}
        self._locks = {key: lock for key, lock in self._locks.items() if key[0] in alive}
        for address in self._addresses.values():
            address.begin(start)

    def delays(self, pod_uid: str, step: int, at: Floats, patience: float) -> Floats:
        """Return the delay in seconds after which each dial is refused; infinite if the caller's ``patience`` ends
        before.

        All dials of a pod compete for its errors: those of other ``step`` s in this tick, and those to come while these
        dials retransmit. Where they are not known yet, they are assumed to be those of the latest tick once more.
        """
        address = self._addresses.setdefault(pod_uid, _Address(self._start))
        mine = _Dials(at, min(patience, CONNECT_SECONDS))
        packets = _order_packets([mine, *self._list_rivals(address, step, mine)])
        when = _assign_errors(address, packets)
        found = np.full(at.size, np.inf)
        for number, answered_at in when.items():
            if number < at.size:
                found[number] = answered_at - float(at[number])
        address.errors = sorted([*address.errors, *(t for number, t in when.items() if number < at.size)])
        address.now.setdefault(step, []).append(mine)
        return found

    def hold(self, pod_uid: str, edge: int, at: Floats, attempts: int, patience: float) -> Floats:
        """Return the seconds for which each call attempts to connect, where a lock lets one call at a time do so.

        Every attempt needs an error, or lasts until its caller's ``patience`` ends. Nobody else dials meanwhile, so
        after the burst it is the first retransmission that is rejected, a second later.
        """
        held = np.zeros(at.size)
        each = min(1.0 / PER_SECOND, patience)
        for number in np.argsort(at, kind="stable"):
            when = float(at[number])
            tokens, last = self._locks.get((pod_uid, edge), (BURST, when))
            tokens = _refill(tokens, when - last)
            held[number] = max(attempts - np.floor(max(tokens, 0.0) + _ROUNDING), 0.0) * each
            # What is owed lasts as long as the lock is held; waiting calls are not counted here.
            self._locks[pod_uid, edge] = (max(tokens - attempts, float(-attempts)), max(when, last))
        return held

    def _list_rivals(self, address: _Address, step: int, mine: _Dials) -> list[_Dials]:
        """List the other dials of a pod, as far as they may take errors from ``mine``."""
        length = self._end - self._start
        unknown = {key: dials for key, dials in address.before.items() if key not in address.now and key != step}
        rivals = [d._replace(at=d.at + length) for dials in unknown.values() for d in dials]
        latest = [*rivals, *(d for dials in address.now.values() for d in dials), mine]
        last = float(mine.at.max(initial=self._start)) + float(_SYN[mine.patience > _SYN].max(initial=0.0))
        ahead = 1
        while length > 0.0 and self._start + ahead * length <= last:
            rivals += [d._replace(at=d.at + ahead * length) for d in latest]
            ahead += 1
        return rivals


def _refill(tokens: float, seconds: float) -> float:
    return min(BURST, tokens + max(seconds, 0.0) * PER_SECOND)


def _order_packets(groups: list[_Dials]) -> _Packets:
    """Return the SYNs of all dials, which are numbered in the order of the groups."""
    times, dials, first = [], [], 0
    for group in groups:
        offsets = _SYN[group.patience > _SYN]
        times.append((group.at[:, None] + offsets).ravel())
        dials.append(np.repeat(np.arange(first, first + group.at.size), offsets.size))
        first += group.at.size
    when, number = np.concatenate(times), np.concatenate(dials)
    order = np.lexsort((number, when))
    return _Packets(when[order], number[order])


def _assign_errors(address: _Address, packets: _Packets) -> dict[int, float]:
    """Return when which dials are rejected: whichever SYN comes first once a token is left.

    The errors that are already in the book keep theirs.
    """
    booked, times = np.array(address.errors), packets.times
    # What a token taken before booked error number n lacks at a later one: the largest number less its time.
    lack = np.maximum.accumulate((np.arange(booked.size) - booked * PER_SECOND)[::-1])[::-1]
    tokens, last = address.tokens, address.since
    answered: dict[int, float] = {}
    packet = error = 0
    while packet < times.size:
        when = float(times[packet])
        while error < booked.size and booked[error] <= when:
            tokens, last = _refill(tokens, float(booked[error]) - last) - 1.0, max(float(booked[error]), last)
            error += 1
        tokens, last = _refill(tokens, when - last), max(when, last)
        owed = float(lack[error]) + when * PER_SECOND - error + 1.0 if error < booked.size else 0.0
        if tokens + _ROUNDING < 1.0 + max(owed, 0.0):
            later = when + (1.0 - tokens) / PER_SECOND if tokens + _ROUNDING < 1.0 else float(booked[error])
            packet = max(packet + 1, int(np.searchsorted(times, later - _ROUNDING)))
            continue
        if int(packets.dials[packet]) not in answered:
            answered[int(packets.dials[packet])] = when
            tokens -= 1.0
        packet += 1
    return answered
