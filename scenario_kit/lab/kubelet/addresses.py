"""Pod addresses: blocks of 254 addresses from 10.244.0.0/16, assigned to nodes on demand."""

from __future__ import annotations

from collections import deque

from scenario_kit.errors import LabError

_PREFIX = "10.244"
_BLOCKS = 256


class Addresses:
    """Unique pod addresses. A released address is reused as late as possible."""

    def __init__(self) -> None:
        self._owner: dict[int, str] = {}
        self._free: dict[str, deque[str]] = {}
        self._used: set[str] = set()

    def allocate(self, node: str) -> str:
        """Return a free address of the node.

        Raises:
            LabError: all 65,024 addresses are in use.
        """
        free = self._free.setdefault(node, deque())
        while free:
            address = free.popleft()
            if address not in self._used:
                self._used.add(address)
                return address
        block = next((b for b in range(_BLOCKS) if b not in self._owner), None)
        if block is None:
            raise LabError(f"node {node}: no free pod address, observed {len(self._used)} in use")
        self._claim(block, node)
        return self.allocate(node)

    def reserve(self, node: str, address: str) -> None:
        """Reserve an address that a pod already has, from before a restart. Other ranges are ignored."""
        if not address.startswith(f"{_PREFIX}."):
            return
        block = int(address.split(".")[2])
        if block not in self._owner:
            self._claim(block, node)
        self._used.add(address)

    def release(self, address: str) -> None:
        """Release the address of a deleted pod."""
        if address in self._used:
            self._used.remove(address)
            self._free[self._owner[int(address.split(".")[2])]].append(address)

    def _claim(self, block: int, node: str) -> None:
        self._owner[block] = node
        self._free.setdefault(node, deque()).extend(f"{_PREFIX}.{block}.{host}" for host in range(1, 255))
