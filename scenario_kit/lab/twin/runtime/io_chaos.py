"""Chaos in files: what becomes of the operations of a process that read or write where it was put.

The effects are those of files, not of faults: who waits for none notices nothing. Delays add up method by method; an
error ends an access, and with it the operation or the whole program, as the app's definition says.
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
from scenario_kit.lab.twin.process.logs import LogBook
from scenario_kit.lab.twin.process.process import Crash, Process, identify, list_injected
from scenario_kit.lab.twin.process.toda_volume import IoRule, parse_rules
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import Ledger
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.store import Access, DiskModel, Snapshots, Upkeep

_DISK, _STEP = 0x5A, 0x2000
_UNTOUCHED: Final[Mapping[str, Any]] = {"volume": "", "actions": ()}


class _DiskImpact(NamedTuple):
    """What one access brings to each of its requests: seconds, the number of its error or 0, and whether it lies."""

    seconds: Floats
    errors: Ints
    wrong: Flags


class Disks:
    """The files of all processes of a world."""

    def __init__(self, parameters: TwinDefinition, streams: Streams) -> None:
        self._parameters = parameters
        self._streams = streams

    def volumes(self, spec: Object) -> tuple[str, ...]:
        """Return the volumes that the image of a container declares, so that something is mounted there."""
        model = identify(self._parameters, spec).model
        return model.disk.volumes if model is not None else ()

    @staticmethod
    def begin(processes: Iterable[Process], ledger: Ledger, start: float) -> None:
        """Begin a tick with what the processes meet from ``start`` on."""
        for process in processes:
            if process.model is None or (not process.model.disk.directory and not process.volume.rules):
                continue
            reported = next((effect.arguments for effect in list_injected(process, ledger, "IO")), _UNTOUCHED)
            process.volume.meet(reported["volume"], parse_rules(reported["actions"]))
            if process.volume.saved_at is None:
                process.volume.saved_at = max(start, process.ready_at)

    def end(self, processes: Iterable[Process], end: float, dt: float, logs: LogBook) -> None:
        """Close the tick: what is left to do in files, and what was saved in the background, or was not."""
        for process in processes:
            volume, model = process.volume, process.model
            for file in {*volume.waits, *volume.demand}:
                volume.waits[file] = compute_wait(volume.waits.get(file, 0.0), volume.demand.pop(file, 0.0) / dt, dt)
            volume.rounds = {file: (now / dt, 0) for file, (_, now) in volume.rounds.items()}
            if model is None or process.ended or process.ready_at > end:
                continue
            if model.disk.snapshots is not None:
                self._snapshot(process, model.disk, model.disk.snapshots, end - dt, end, logs)
            for number, upkeep in enumerate(model.disk.maintenance):
                self._keep(process, number, upkeep, end, logs)

    def _keep(self, process: Process, number: int, upkeep: Upkeep, end: float, logs: LogBook) -> None:
        calls = _calls(process, upkeep.operations)
        last, before, lately = process.volume.kept.get(number, (process.ready_at, 0.0, 0.0))
        due = end - last >= upkeep.every_seconds
        # It was due some time in the tick, so that calls of the tick may come after it and are left for the next time.
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
        self, process: Process, disk: DiskModel, model: Snapshots, start: float, end: float, logs: LogBook
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
        """Return the words of the error that a snapshot meets; empty where it succeeds."""
        access = Access(file=model.file, methods=model.methods)
        met = _meet(process, access, mix(hash_text(f"snapshot {process.component}"), number), 1, self._streams)
        return _describe_errno(disk, int(met.errors[0])) if met is not None and met.errors[0] else ""


def apply_io_chaos(process: Process, node: OperationNode, batch: Batch, streams: Streams, logs: LogBook) -> None:
    """Apply what an operation meets in files."""
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
    process: Process, node: OperationNode, access: Access, met: _DiskImpact, batch: Batch, who: Ints, logs: LogBook
) -> None:
    """Draw errors and lies of one access, which ``who`` of the batch meet now."""
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


def _end(process: Process, access: Access, error: int, times: Floats, logs: LogBook) -> str:
    """Return an access failed at these times: what is printed, and the end of a program that cannot bear it;
    the words.
    """
    words = _describe_errno(process.model.disk if process.model is not None else DiskModel(), error)
    for line in access.log.replace("{error}", words).splitlines():
        logs.error(process, line, times, line)
    ends = float(times[0]) + access.exit_delay_seconds
    if access.code and ends < process.crash_at:
        process.crash = Crash(ends, -1, access.code)
    return words


def _wait(process: Process, access: Access, seconds: Floats, key: int, streams: Streams) -> Floats:
    """Return how long each waits for those before it in the same file."""
    volume, none = process.volume, np.zeros(seconds.size)
    if access.queue == "File":
        volume.demand[access.file] = volume.demand.get(access.file, 0.0) + float(seconds.sum())
        return none + volume.waits.get(access.file, 0.0)
    if access.queue == "Group":
        rate, now = volume.rounds.get(access.file, (0.0, 0))
        volume.rounds[access.file] = (rate, now + seconds.size)
        # Who comes during a round waits for its end. Rounds fill as much of the time as they did in the last tick, or
        # all of it, since no two are under way at once.
        busy = np.minimum(rate * seconds, 1.0)
        return np.asarray(streams.uniform(mix(key, 1), seconds.size, process.ordinal) * seconds * busy)
    return none


def _meet(process: Process, access: Access, key: int, n: int, streams: Streams) -> _DiskImpact | None:
    """Return what the methods of an access meet; None where no rule concerns any."""
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
    """Apply one rule to one method: those that have failed already do not come to it."""
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
    """Return how often these were called since the process began."""
    return sum(process.operations.get(name, [0.0])[0] for name in operations)


def _describe_errno(disk: DiskModel, number: int) -> str:
    return disk.errors.get(str(number)) or os.strerror(number)


def _print(process: Process, logs: LogBook, at: float, text: str) -> None:
    for line in text.splitlines():
        logs.line(process, at, line)
