"""Random streams that depend on the identity of a draw, not on the order of draws.

Counter-based (Philox): the key is the seed and the identity of a draw (call path, tick, replica ordinal). A draw has
the same value whatever else happens, and names of pods, nodes and addresses have no influence.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Floats

_MASK = (1 << 64) - 1


@lru_cache(maxsize=4096)
def hash_text(text: str) -> int:
    """Hash a text to 64 bits; the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=1 << 14)  # most keys recur in every tick
def mix(a: int, b: int) -> int:
    """Combine two 64-bit numbers with the finaliser of splitmix64."""
    z = (a + 0x9E3779B97F4A7C15 + (b << 1) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


class Streams:
    """All random numbers of one world. ``at`` selects the tick; every draw has a key."""

    def __init__(self, seed: int) -> None:
        self._seed = mix(seed & _MASK, hash_text("twin"))
        self._bits = np.random.Philox(key=1)
        self._generator = np.random.Generator(self._bits)
        self._state = self._bits.state
        words = self._state["state"]
        self._key, self._counter = words["key"], words["counter"]
        self._tick = 0
        self._ordinals: dict[int, int] = {}

    def at(self, tick: int) -> None:
        """Select the tick for subsequent draws."""
        self._tick = tick & _MASK
        self._ordinals = {}

    def open(self, key: int, ordinal: int = 0) -> np.random.Generator:
        """Return the generator of one draw, valid until the next call of any method."""
        second = self._ordinals.get(ordinal)
        if second is None:
            second = self._ordinals[ordinal] = mix(self._tick, ordinal)
        self._key[0] = mix(self._seed, key)
        self._key[1] = second
        self._counter[:] = 0
        state = self._state
        state["buffer_pos"] = 4
        state["has_uint32"] = 0
        self._bits.state = state
        return self._generator

    def normal(self, key: int, rows: int, n: int, ordinal: int = 0) -> Floats:
        """Draw ``rows`` × ``n`` standard normal numbers."""
        return self.open(key, ordinal).standard_normal((rows, n))

    def uniform(self, key: int, n: int, ordinal: int = 0) -> Floats:
        """Draw ``n`` uniform numbers in [0, 1)."""
        return self.open(key, ordinal).random(n)

    def single(self, key: int, ordinal: int = 0) -> float:
        """Return one uniform number in [0, 1)."""
        return float(self.open(key, ordinal).random())

    def anytime(self, key: int, ordinal: int = 0) -> float:
        """Return a uniform number in [0, 1) that is the same in every tick."""
        tick = self._tick
        self.at(0)
        try:
            return self.single(key, ordinal)
        finally:
            self.at(tick)

    def poisson(self, key: int, mean: float, ordinal: int = 0) -> int:
        """Return a Poisson number; 0 for a mean that is not positive."""
        return int(self.open(key, ordinal).poisson(mean)) if mean > 0 else 0
