"""The baseline of the cluster's store, and the plan that restores it. Pure except for a file.

Values are raw etcd values. Deleting them in etcd bypasses finalizers and controllers, which an API server cannot do;
watchers see ordinary deletions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from scenario_kit.lab.control_plane.etcd import Range
from scenario_kit.load.atomic_file import write_private

#: Heartbeats and locks of running components, whose old values would look like a failure; and the DNS server of the
#: cluster, as long as it keeps running (its desired state is restored).
_ALIVE = (
    b"/registry/leases/kube-node-lease/",
    b"/registry/leases/kube-system/",
    b"/registry/masterleases/",
    b"/registry/pods/kube-system/",
    b"/registry/replicasets/kube-system/",
    b"/registry/endpointslices/kube-system/",
    b"/registry/services/endpoints/kube-system/",
)
#: The API server's own bookkeeping.
_BOOKS = (b"compact_rev_key",)
#: Events expire by themselves, so those of the start are not restored.
_PASSING = (b"/registry/events/",)


class Restoration(NamedTuple):
    """The keys to delete, the keys to restore, and the number of keys in the deleted ranges."""

    delete: tuple[Range, ...]
    restore: tuple[bytes, ...]
    extra: int

    def __bool__(self) -> bool:
        return bool(self.delete or self.restore)


class StoreBaseline(msgspec.Struct, frozen=True):
    """Keys and values at a revision: keys not written since then are unchanged."""

    revision: int
    values: dict[bytes, bytes]


def select_kept(found: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Select the keys of the store that belong to a baseline."""
    return {key: value for key, value in found.items() if not key.startswith((*_ALIVE, *_BOOKS, *_PASSING))}


def plan_restoration(
    baseline: Mapping[bytes, bytes], found: Iterable[bytes], changed: Mapping[bytes, bytes]
) -> Restoration:
    """Plan the changes that make a store with the keys ``found`` equal to the baseline.

    ``changed`` are the current values of baseline keys that may differ. Adjacent keys are deleted as one range.
    """
    present = sorted(found)
    ranges: list[Range] = []
    extra, open_ = 0, False
    for key in present:
        if key in baseline or key.startswith((*_ALIVE, *_BOOKS)):
            open_ = False
            continue
        extra += 1
        end = key + b"\0"
        if open_:
            ranges[-1] = Range(ranges[-1].first, end)
        else:
            ranges.append(Range(key, end))
        open_ = True
    existing = set(present)
    differ = {key for key, value in changed.items() if key in baseline and baseline[key] != value}
    restore = tuple(key for key in baseline if key not in existing or key in differ)
    return Restoration(tuple(ranges), restore, extra)


def save(path: Path, baseline: StoreBaseline) -> None:
    """Write a baseline, readable by its owner only: it contains Secrets."""
    temporary = path.with_suffix(".new")
    write_private(temporary, msgspec.msgpack.encode(baseline))
    temporary.replace(path)


def load(path: Path) -> StoreBaseline | None:
    """Load a baseline; None if the file is missing or invalid."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=StoreBaseline)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
