"""IOChaos as accepted by the real daemon's injector (toda): mount points and actions.

toda moves the mount at the volume's path aside and mounts itself there, so the path must be a mount point of the
container other than its root. An effect ends with recovery, toda's process, or the container.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scenario_kit.lab.chaos_daemon.network import Failed, NotSimulated
from scenario_kit.model.chaos.times import parse_whole_seconds

_FAILED: Final = "toda startup takes too long or an error occurs: "
_MISREAD: Final = "toda update RPC failed: [-32602] Invalid params: "


def require_mount(volume: str, mounts: Sequence[str]) -> str:
    """Return the mount point at ``volume``.

    Raises:
        Failed: ``volume`` is not among ``mounts``; the message is the real daemon's.
    """
    path = volume.rstrip("/")
    if not path:
        raise Failed(f"{_FAILED}path is the root")
    if path not in {mount.rstrip("/") for mount in mounts}:
        parent, _, name = path.rpartition("/")
        # The message names the mount that could not be moved, and its destination.
        raise Failed(f"{_FAILED}source: {volume}, target: {parent}/__chaosfs__{name}__")
    return path


def parse_actions(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Parse actions for the ledger: without ``source``, which does not matter to the effect, and delays in seconds.

    Raises:
        Failed: a delay that the injector cannot parse.
        NotSimulated: an action of another type than the four.
    """
    result = []
    for action in found:
        kind = action.get("type")
        if kind not in ("latency", "fault", "attrOverride", "mistake"):
            raise NotSimulated(f"file actions of type {kind!r} are not simulated")
        kept = {key: value for key, value in action.items() if key not in ("source", "latency")}
        if kind == "latency":
            kept["delaySeconds"] = _parse_seconds(str(action.get("latency") or ""))
        result.append(kept)
    return result


def _parse_seconds(text: str) -> float:
    try:
        return parse_whole_seconds(text)
    except ValueError as error:
        raise Failed(f"{_MISREAD}{error}") from error
