"""How the cluster was when it came up, and what has to be written so that it is that way again. Pure but for a file.

Values are taken as they are in etcd. Deleting there is what an API server cannot offer: it asks no finalizer and waits
for no controller, and whoever watches sees ordinary deletions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from scenario_kit.lab.control_plane.etcd import Range

#: Heartbeats and locks of parts that go on running: an old one would look like a part that has stopped. And what the
#: name server of the cluster consists of while it goes on running; what is wanted of it is put back.
_ALIVE = (
    b"/registry/leases/kube-node-lease/",
    b"/registry/leases/kube-system/",
    b"/registry/masterleases/",
    b"/registry/pods/kube-system/",
    b"/registry/replicasets/kube-system/",
    b"/registry/endpointslices/kube-system/",
    b"/registry/services/endpoints/kube-system/",
)
#: Keys that are no objects of anybody: the API server's own book-keeping.
_BOOKS = (b"compact_rev_key",)
#: What happened on the way up. Events end by themselves, so they are never brought back.
_PASSING = (b"/registry/events/",)


class Restoration(NamedTuple):
    """What to delete, which keys to put back, and how many keys the ranges hold."""

    delete: tuple[Range, ...]
    restore: tuple[bytes, ...]
    extra: int

    def __bool__(self) -> bool:
        return bool(self.delete or self.restore)


class StoreBaseline(msgspec.Struct, frozen=True):
    """Keys and values at a revision: what has not been written since then is as it was."""

    revision: int
    values: dict[bytes, bytes]


def select_kept(found: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Select, of everything in the store, what a baseline holds."""
    return {key: value for key, value in found.items() if not key.startswith((*_ALIVE, *_BOOKS, *_PASSING))}


def plan_restoration(
    baseline: Mapping[bytes, bytes], found: Iterable[bytes], changed: Mapping[bytes, bytes]
) -> Restoration:
    """Plan what makes a store with the keys ``found`` equal to the baseline.

    ``changed`` are the present values of keys of the baseline that may differ. Keys beside one another are deleted as
    one range.
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
    there = set(present)
    differ = {key for key, value in changed.items() if key in baseline and baseline[key] != value}
    restore = tuple(key for key in baseline if key not in there or key in differ)
    return Restoration(tuple(ranges), restore, extra)


def save(path: Path, baseline: StoreBaseline) -> None:
    """Write a baseline, for its owner's eyes only: Secrets are in it."""
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.msgpack.encode(baseline))
    temporary.replace(path)


def load(path: Path) -> StoreBaseline | None:
    """Load the baseline in a file; None where there is none, or none that can be read."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=StoreBaseline)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
