"""Effects of chaos on packets: which apply to those of a sender, and what they amount to together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from scenario_kit.lab.twin.cluster.network_policy import is_inside
from scenario_kit.lab.twin.numeric.correlated_draws import LONGEST_JITTER_SECONDS, compute_share
from scenario_kit.model.chaos.effects import NetworkEffect


class TrafficShape(NamedTuple):
    """Effects on messages in one direction: delay in seconds, loss probability, bytes per second (0: unlimited).

    The share ``prompt`` of messages has no delay. With a rate, ``burst`` bytes pass at once after a silence, and at
    most ``queue`` bytes wait (0: any number).
    """

    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    rate: float = 0.0
    burst: float = 0.0
    queue: float = 0.0
    prompt: float = 0.0
    jitter_correlation: float = 0.0


#: The bytes of the largest packets on the wire, by what they carry: a part of a message of the application, an answer
#: to a probe, and a DNS query. Handshakes are smaller.
MESSAGE_PACKET, PROBE_PACKET, QUERY_PACKET = 1514.0, 300.0, 100.0

#: No packet passes.
CUT: Final = TrafficShape(loss=1.0)


def combine_effects(effects: Iterable[NetworkEffect], packet: float = MESSAGE_PACKET) -> TrafficShape | None:
    """Combine effects on a pod's egress: delays add, probabilities multiply, the lowest rate applies.

    Rules for all packets are in a row, but of those for some peers, a packet takes one: the last that classified it.
    A ``packet`` larger than a token bucket or than its queue never passes, while others do.
    """
    met = list(effects)
    if any(effect.drop for effect in met):
        return CUT
    chosen = [effect for effect in met if not effect.peers] + [effect for effect in met if effect.peers][-1:]
    if not chosen:
        return None
    passing, bucket = 1.0, (0.0, 0.0, 0.0)
    for effect in chosen:
        passing *= 1.0 - compute_share(effect.loss, effect.loss_correlation)
        passing *= 1.0 - compute_share(effect.corrupt, effect.corrupt_correlation)
        if effect.rate and not 0.0 < bucket[0] <= effect.rate:
            bucket = (effect.rate, effect.burst, effect.queue)
    if passing <= 0.0:
        return CUT
    if any(_is_too_large(packet, effect) for effect in chosen):
        passing = 0.0
    return TrafficShape(
        sum(effect.delay for effect in chosen),
        sum(min(effect.jitter, LONGEST_JITTER_SECONDS) for effect in chosen),
        1.0 - passing,
        *bucket,
        prompt=max(_compute_prompt_share(effect) for effect in chosen),
        jitter_correlation=max(effect.jitter_correlation for effect in chosen),
    )


def _is_too_large(packet: float, effect: NetworkEffect) -> bool:
    """Return whether a packet exceeds the bucket of a rate or its queue (Linux' ``tbf_enqueue``, ``bfifo_enqueue``)."""
    return effect.rate > 0.0 and any(0.0 < size < packet for size in (effect.burst, effect.queue))


def _compute_prompt_share(effect: NetworkEffect) -> float:
    """Return the share of packets that netem sends at once (tc-netem(8), and Linux' ``netem_enqueue``)."""
    share = compute_share(effect.reorder, effect.reorder_correlation)
    return 1.0 / (max(effect.gap, 1) - 1 + 1.0 / share) if share > 0.0 else 0.0


def concerns(effect: NetworkEffect, peer: str) -> bool:
    """Return whether an effect applies to packets to or from an address."""
    return not effect.peers or is_inside(peer, effect.peers)
