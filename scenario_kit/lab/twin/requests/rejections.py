"""Rate-limited ICMP errors for dials of a Service without endpoints: not every dial is refused at once.

kube-proxy rejects such packets, so the kernel of the caller's node sends ICMP errors, limited to one per second and
address after an initial burst (``net.ipv4.icmp_ratelimit``, 1000 ms, and ``XRLIM_BURST_FACTOR``, 6:
``inet_peer_xrlim_allow`` in ``net/ipv4/inetpeer.c``). A dial without an error retransmits its SYN after 1, 3, 7 …
seconds, each of which may be rejected, until the caller gives up. The per-node limit of a thousand messages per second
is not reached here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Floats

#: The burst of errors per address, and the rate per second afterwards.
BURST: Final = 6.0
PER_SECOND: Final = 1.0
#: When TCP retransmits a SYN, and when it gives up (``tcp_syn_retries``, 6).
_AGAIN: Final = (0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0)
LONGEST_SECONDS: Final = 127.0


class Rejections:
    """The remaining ICMP errors of each caller's address, by pod UID."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}

    def forget(self, alive: set[str]) -> None:
        """Drop the state of deleted pods."""
        self._left = {uid: left for uid, left in self._left.items() if uid in alive}

    def delays(self, pod_uid: str, at: Floats, patience: float) -> Floats:
        """Return the delay in seconds after which each dial is refused; infinite if the caller's ``patience`` ends
        before.
        """
        packets = sorted(
            (float(begin) + again, number)
            for number, begin in enumerate(at)
            for again in _AGAIN
            if again < min(patience, LONGEST_SECONDS)
        )
        found = np.full(at.size, np.inf)
        for when, number in packets:
            if not np.isfinite(found[number]) and self._answers(pod_uid, when):
                found[number] = when - float(at[number])
        return found

    def _answers(self, pod_uid: str, when: float) -> bool:
        tokens, last = self._left.get(pod_uid, (BURST, when))
        tokens = min(BURST, tokens + max(when - last, 0.0) * PER_SECOND)
        answered = tokens >= 1.0
        self._left[pod_uid] = (tokens - 1.0 if answered else tokens, max(when, last))
        return answered
