"""Faults in a process: background errors, flags, and crashes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scenario_kit.lab.twin.call_tree.tree import CallNode, OperationNode
from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.numeric.arrays import Floats, Ints
from scenario_kit.lab.twin.numeric.batches import ORDER, Batch, Result, order_items
from scenario_kit.lab.twin.numeric.random_streams import Streams, mix
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.logs import LogBuffer
from scenario_kit.lab.twin.process.process import Crash, Process
from scenario_kit.lab.twin.runtime import io_chaos
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.lab.twin.traces.span_buffer import ANSWER, SpanBuffer
from scenario_kit.model.twin.component import Need
from scenario_kit.model.twin.operation import Operation

_FLAG, _ABSORB, _PART = 0x56, 0x59, 0x1000


def impair(
    process: Process,
    node: OperationNode,
    batch: Batch,
    effects: Sequence[Active],
    streams: Streams,
    logs: LogBuffer,
    span_buffer: SpanBuffer,
) -> None:
    """Apply background errors, unreachable flags, active effects, and IOChaos."""
    model = process.model
    salt, at, took, failed, _ = batch
    process.flag_answers.pop(node.name, None)
    if node.model.flag_timeout_seconds and at.size and not process.flags_awaited:
        process.flags_awaited = True
        first = int(np.argmin(at))
        took[first] += node.model.flag_timeout_seconds
        failed[first] = True
    if model is not None and model.background_error:
        failed[streams.uniform(mix(node.key, salt + _FLAG), at.size, process.ordinal) < model.background_error] = True
    for number, effect in enumerate(effects):
        if effect.handled_errors or effect.operation not in ("", node.name):
            continue
        part = np.ones(at.size, dtype=bool)
        if effect.share < 1.0:
            part = streams.uniform(mix(node.key, salt + _PART + number), at.size, process.ordinal) < effect.share
        took[part] += effect.delay_seconds
        if effect.still_until:
            took[part] += np.maximum(effect.still_until - at[part], 0.0)
        process.leak = effect.compute_leak(process.leak, int(np.count_nonzero(part)))
        if effect.error_share:
            draws = (
                order_items(batch.draws, effect.error_share)
                if effect.per_item and ORDER in batch.draws
                else streams.uniform(mix(node.key, salt + _FLAG + number + 1), at.size, process.ordinal)
            )
            hit = part & (draws < effect.error_share)
            failed[hit] = True
            if not hit.any():
                continue
            ends = (at + took)[hit]
            if effect.thrown:
                span_buffer.note("failure", effect.answer or node.model.failure, ends, effect.thrown)
            elif effect.answer:
                process.flag_answers[node.name] = effect.answer
                span_buffer.note(ANSWER, effect.answer, ends)
            for line in effect.log.splitlines():
                logs.error(process, line, ends, line)
    io_chaos.apply_io_chaos(process, node, batch, streams, logs)


def apply_flags(node: OperationNode, effects: Sequence[Active]) -> OperationNode:
    """Return the operation that flags substitute; usually the same."""
    desired = [effect.becomes for effect in effects if effect.becomes and effect.operation == node.name]
    return next((other for other in node.others if other.name in desired), node) if desired else node


def crash(process: Process, node: CallNode, batch: Batch, chosen: Ints | None) -> None:
    """Crash the process at the first failed call; before, none of the chosen requests had failed."""
    who = np.arange(batch.at.size) if chosen is None else chosen
    ends = batch.now[who][batch.failed[who] & np.isfinite(batch.took[who])]
    if ends.size and ends.min() < process.crash_at:
        process.crash = Crash(float(ends.min()), node.edge, node.step.code)


def miss(process: Process, need: Need, at: Floats, logs: LogBuffer) -> Result:
    """Crash the process at the first call of a dependency that was missing at its start."""
    process.crash = Crash(min(process.crash_at, float(at.min())), -1, need.code)
    for line in need.text.splitlines():
        logs.error(process, line, at[:1], line)
    return Result(np.zeros(at.size), np.ones(at.size, dtype=bool))


def find_refusal(store: Process, operation: Operation, user: str) -> ConnectionOutcome | None:
    """Return why a statement fails on a table: missing privileges or a lock; None if it succeeds."""
    if operation.table and store.store_state.refuses(user, operation.table, operation.privilege):
        return ConnectionOutcome.PERMISSION_DENIED
    return ConnectionOutcome.LOCK_TIMEOUT if store.store_state.locks(operation.table) else None


def absorb_errors(calls: CallBatch, result: Result, effects: Sequence[Active], streams: Streams) -> Result:
    """Return the results in the caller's spans: errors that it handles appear there only."""
    share = sum(effect.error_share for effect in effects if effect.handled_errors == calls.node.step.call)
    if not share:
        return result
    draws = streams.uniform(mix(calls.node.key, calls.salt + _ABSORB), result.failed.size, calls.caller.ordinal)
    return result._replace(failed=result.failed | (draws < share))


def wait_in_vain(node: OperationNode, batch: Batch) -> None:
    """Delay a caller by the timeout of an optional call, after which it continues."""
    if node.model.ignore_failure_after_seconds:
        batch.took[batch.failed] = np.maximum(batch.took[batch.failed], node.model.ignore_failure_after_seconds)
        batch.failed[:] = False


def cut_short(process: Process, batch: Batch) -> None:
    """Fail active requests when the process ends."""
    over = batch.now > process.crash_at
    batch.took[over] = np.maximum(process.crash_at - batch.at[over], 0.0)
    batch.failed[over] = True
