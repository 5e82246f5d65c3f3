"""Chaos in files, as the real daemon's injector (toda) takes it: where it can mount itself, and which actions it reads.

It moves the mount at the volume's path aside and mounts itself there, so the path must be a mount point of the
container, and not its root. Recovery ends it: nothing of it outlives its process, nor the container.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from scenario_kit.lab.chaos_daemon.network import Failed, NotSimulated

#: Durations as the injector reads them: whole numbers with units, no fractions.
_DURATION: Final = re.compile(r"(?:\d{1,18}\s*(?:ns|us|ms|s|m|h)\s*)+")
_PART: Final = re.compile(r"(\d{1,18})\s*(ns|us|ms|s|m|h)")
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_FAILED: Final = "toda startup takes too long or an error occurs: "
_MISREAD: Final = "toda update RPC failed: [-32602] Invalid params: "


def demand_mount(volume: str, mounts: Sequence[str]) -> str:
    """Return the mount point at ``volume``, which must be among ``mounts``.

    Raises:
        Failed: nothing is mounted there; the words are those of the real daemon.
    """
    path = volume.rstrip("/")
    if not path:
        raise Failed(f"{_FAILED}path is the root")
    if path not in {mount.rstrip("/") for mount in mounts}:
        parent, _, name = path.rpartition("/")
        # What it says is which mount it could not move, and where to.
        raise Failed(f"{_FAILED}source: {volume}, target: {parent}/__chaosfs__{name}__")
    return path


def parse_actions(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Parse actions for the ledger: without their source, as an effect does not depend on who asked for it, and with
    delays in seconds.

    Raises:
        Failed: a delay that the injector cannot read.
        NotSimulated: an action of another type than the four.
    """
    result = []
    for action in found:
        kind = action.get("type")
        if kind not in ("latency", "fault", "attrOverride", "mistake"):
            raise NotSimulated(f"actions of the type {kind!r} on files are not simulated")
        kept = {key: value for key, value in action.items() if key not in ("source", "latency")}
        if kind == "latency":
            kept["delaySeconds"] = _parse_seconds(str(action.get("latency") or ""))
        result.append(kept)
    return result


def _parse_seconds(text: str) -> float:
    if _DURATION.fullmatch(text) is None:
        raise Failed(f"{_MISREAD}{text!r} is no duration")
    return sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
