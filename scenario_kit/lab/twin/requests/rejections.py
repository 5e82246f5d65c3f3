"""Answers of a node's kernel to dials of a Service without endpoints: not every dial gets one.

kube-proxy rejects such packets, so the kernel of the caller's node answers each with an ICMP message, of which it sends
one a second to any address once a few have gone there at once (``net.ipv4.icmp_ratelimit``, 1000 ms, and
``XRLIM_BURST_FACTOR``, 6: ``inet_peer_xrlim_allow`` in ``net/ipv4/inetpeer.c``). A dial without an answer goes on: TCP
sends its first packet again after 1, 3, 7 … seconds, and each of them may be answered, until the caller gives up. The
limit of a whole node, a thousand messages a second, is not reached here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Floats

#: Answers that an address gets at once, and in each second after that.
BURST: Final = 6.0
PER_SECOND: Final = 1.0
#: When TCP sends the first packet of a connection again, and when it gives up by itself (``tcp_syn_retries``, 6).
_AGAIN: Final = (0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0)
LONGEST_SECONDS: Final = 127.0


class Rejections:
    """What is left of the answers to each caller's address; by the UID of its pod."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}

    def forget(self, alive: set[str]) -> None:
        """Drop the state of pods that are gone."""
        self._left = {uid: left for uid, left in self._left.items() if uid in alive}

    def delays(self, pod_uid: str, at: Floats, patience: float) -> Floats:
        """Return after how many seconds each dial is refused; infinite where the caller gives up after ``patience``
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
