"""IOChaos: its effect on file operations of a process.

Only programs that wait for a file are affected. Delays add up method by method; an error ends an access, and with it
the operation or the whole program, as the app's definition says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.tree import OperationNode
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.numeric.batches import Batch
from scenario_kit.lab.twin.numeric.random_streams import Streams, hash_text, mix
from scenario_kit.lab.twin.numeric.serial_queue import compute_wait
from scenario_kit.lab.twin.process.logs import LogBuffer
from scenario_kit.lab.twin.process.process import Crash, Process, identify, list_injected
from scenario_kit.lab.twin.process.toda_volume import IoRule, parse_rules
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import Ledger
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.store import Access, DiskModel, Snapshots, Upkeep

_DISK, _STEP = 0x5A, 0x2000
_UNTOUCHED: Final[Mapping[str, Any]] = {"volume": "", "actions": ()}


class _DiskImpact(NamedTuple):
    """The effect on one access of each request: seconds, error number or 0, and whether data is wrong."""

    seconds: Floats
    errors: Ints
    wrong: Flags


class Disks:
    """The volumes of all processes of a world."""

    def __init__(self, parameters: TwinDefinition, streams: Streams) -> None:
        self._parameters = parameters
        self._streams = streams

    def volumes(self, spec: Object) -> tuple[str, ...]:
        """Return the volumes declared by a container's image."""
        model = identify(self._parameters, spec).model
        return model.disk.volumes if model is not None else ()

    @staticmethod
    def begin(processes: Iterable[Process], ledger: Ledger, start: float) -> None:
        """Start a tick with the effects on processes from ``start`` on."""
        for process in processes:
            if process.model is None or (not process.model.disk.directory and not process.volume.rules):
                continue
            reported = next((effect.arguments for effect in list_injected(process, ledger, "IO")), _UNTOUCHED)
            process.volume.meet(reported["volume"], parse_rules(reported["actions"]))
            if process.volume.saved_at is None:
                process.volume.saved_at = max(start, process.ready_at)

    def end(self, processes: Iterable[Process], end: float, dt: float, logs: LogBuffer) -> None:
        """End the tick: remaining file work, and background snapshots."""
        for process in processes:
            volume, model = process.volume, process.model
            for file in {*volume.waits, *volume.demand}:
                volume.waits[file] = compute_wait(volume.waits.get(file, 0.0), volume.demand.pop(file, 0.0) / dt, dt)
            volume.rounds = {file: (now / dt, 0) for file, (_, now) in volume.rounds.items()}
            if model is None or not process.serves(end):
                continue
            if model.disk.snapshots is not None:
                self._snapshot(process, model.disk, model.disk.snapshots, end - dt, end, logs)
            for number, upkeep in enumerate(model.disk.maintenance):
                self._keep(process, number, upkeep, end, logs)

    def _keep(self, process: Process, number: int, upkeep: Upkeep, end: float, logs: LogBuffer) -> None:
        calls = _calls(process, upkeep.operations)
        last, before, lately = process.volume.kept.get(number, (process.ready_at, 0.0, 0.0))
        due = end - last >= upkeep.every_seconds
        # It was due at some time in the tick, so calls of the tick may be later and count for the next time.
        process.volume.kept[number] = (end, lately, calls) if due else (last, before, calls)
        if not due:
            return
        for place, access in enumerate(upkeep.files if calls > before else ()):
            key = mix(hash_text(f"upkeep {process.component}"), number * 64 + place)
            met = _meet(process, access, key, 1, self._streams)
            if met is not None and met.errors[0]:
                _end(process, access, int(met.errors[0]), np.array([end]), logs)
                return

    def _snapshot(
        self, process: Process, disk: DiskModel, model: Snapshots, start: float, end: float, logs: LogBuffer
    ) -> None:
        volume = process.volume
        changes = _calls(process, model.operations) - volume.counted
        since = volume.saved_at if volume.saved_at is not None else end
        due = min((since + seconds for seconds, least in model.save_after if changes >= least), default=float("inf"))
        at = max(due, start, volume.tried_at + model.retry_seconds if volume.failing else start)
        number = 0
        while at <= end:
            error = self._once(process, disk, model, number)
            volume.tried_at = at
            if not error:
                if volume.failing:
                    _print(process, logs, at, model.success_log)
                volume.saved_at, volume.counted, volume.failing = at, volume.counted + changes, False
                volume.answers = {}
                return
            volume.failing = True
            volume.answers.update(dict.fromkeys(model.operations, model.error_response))
            _print(process, logs, at, model.log.replace("{error}", error))
            at += model.retry_seconds
            number += 1

    def _once(self, process: Process, disk: DiskModel, model: Snapshots, number: int) -> str:
        """Return the error of a snapshot; empty if it succeeds."""
        access = Access(file=model.file, methods=model.methods)
        met = _meet(process, access, mix(hash_text(f"snapshot {process.component}"), number), 1, self._streams)
        return _describe_errno(disk, int(met.errors[0])) if met is not None and met.errors[0] else ""


def apply_io_chaos(process: Process, node: OperationNode, batch: Batch, streams: Streams, logs: LogBuffer) -> None:
    """Apply the effects on an operation's file accesses."""
    volume, model = process.volume, process.model
    if model is None or not (volume.rules or volume.failing):
        return
    snapshots = model.disk.snapshots
    if volume.failing and snapshots is not None and node.name in snapshots.operations:
        batch.failed[:] = True
        return
    for number, access in enumerate(node.model.files):
        who = batch.under_way()
        key = mix(node.key, batch.salt + _DISK + number * _STEP)
        met = _meet(process, access, key, who.size, streams) if who.size else None
        if met is None:
            continue
        if access.blocking:
            batch.took[who] += met.seconds + _wait(process, access, met.seconds, key, streams)
        _fail(process, node, access, met, batch, who, logs)


def _fail(
    process: Process, node: OperationNode, access: Access, met: _DiskImpact, batch: Batch, who: Ints, logs: LogBuffer
) -> None:
    """Draw errors and wrong data of one access, made by ``who`` of the batch."""
    hit, when = met.errors > 0, batch.now[who]
    if hit.any():
        first = int(np.flatnonzero(hit)[np.argmin(when[hit])])
        words = _end(process, access, int(met.errors[first]), when[[first]] if access.code else when[hit], logs)
        if access.blocking:
            batch.failed[who[hit]] = True
            process.volume.answers[node.name] = access.error_response.replace("{error}", words)
    lies = met.wrong & ~hit
    if access.corrupt_response and access.blocking and lies.any():
        batch.failed[who[lies]] = True
        process.volume.answers[node.name] = access.corrupt_response
        logs.error(process, access.corrupt_log, when[lies], access.corrupt_log)


def _end(process: Process, access: Access, error: int, times: Floats, logs: LogBuffer) -> str:
    """Process failed accesses at these times: log, and exit if the program cannot handle them; return the error."""
    words = _describe_errno(process.model.disk if process.model is not None else DiskModel(), error)
    for line in access.log.replace("{error}", words).splitlines():
        logs.error(process, line, times, line)
    ends = float(times[0]) + access.exit_delay_seconds
    if access.code and ends < process.crash_at:
        process.crash = Crash(ends, -1, access.code)
    return words


def _wait(process: Process, access: Access, seconds: Floats, key: int, streams: Streams) -> Floats:
    """Return the waiting times for earlier accesses of the same file."""
    volume, none = process.volume, np.zeros(seconds.size)
    if access.queue == "File":
        volume.demand[access.file] = volume.demand.get(access.file, 0.0) + float(seconds.sum())
        return none + volume.waits.get(access.file, 0.0)
    if access.queue == "Group":
        rate, now = volume.rounds.get(access.file, (0.0, 0))
        volume.rounds[access.file] = (rate, now + seconds.size)
        # Arrivals during a round wait for its end. Rounds take the same share of time as in the last tick, at most all
        # of it, since only one runs at a time.
        busy = np.minimum(rate * seconds, 1.0)
        return np.asarray(streams.uniform(mix(key, 1), seconds.size, process.ordinal) * seconds * busy)
    return none


def _meet(process: Process, access: Access, key: int, n: int, streams: Streams) -> _DiskImpact | None:
    """Return the effect on the methods of an access; None if no rule applies."""
    disk = process.model.disk if process.model is not None else DiskModel()
    path = f"{disk.directory}/{access.file}"
    concerned = [process.volume.over(path, method) for method in access.methods]
    if not any(concerned):
        return None
    met = _DiskImpact(np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool))
    for step, found in enumerate(concerned):
        for number, rule in enumerate(found):
            _apply(rule, met, mix(key, step * 64 + number + 2), process.ordinal, streams)
    return met


def _apply(rule: IoRule, met: _DiskImpact, key: int, ordinal: int, streams: Streams) -> None:
    """Apply one rule to one method, except where an earlier method failed."""
    going = met.errors == 0
    hit = going & (streams.uniform(key, going.size, ordinal) < rule.share)
    met.seconds[hit] += rule.delay_seconds
    if rule.errors:
        pick = streams.uniform(mix(key, 1), going.size, ordinal)
        bounds = np.cumsum([share for _, share in rule.errors])
        index = np.minimum(np.searchsorted(bounds, pick, side="right"), len(rule.errors) - 1)
        met.errors[hit] = np.array([number for number, _ in rule.errors], dtype=np.int64)[index][hit]
    if rule.falsifies:
        met.wrong[hit] = True


def _calls(process: Process, operations: Iterable[str]) -> float:
    """Return the number of calls of these operations since the process started."""
    return sum(process.operations.get(name, [0.0])[0] for name in operations)


def _describe_errno(disk: DiskModel, number: int) -> str:
    return disk.errors.get(str(number)) or os.strerror(number)


def _print(process: Process, logs: LogBuffer, at: float, text: str) -> None:
    for line in text.splitlines():
        logs.line(process, at, line)
