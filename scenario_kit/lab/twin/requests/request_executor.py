"""Execution of requests: a walk over the call tree with all requests of a tick concurrently.

An operation takes its own time (log-normal), then its steps in sequence. A call takes a hop, the path's effects on both
messages, and the callee's time. Durations are in seconds; infinite ones are calls that hang until the state changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.spans import SpanMetrics
from scenario_kit.lab.twin.call_tree.tree import CallNode, LoopNode, OperationNode
from scenario_kit.lab.twin.network import http_chaos, network_io
from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.network_latency import NetworkLatency
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.numeric.batches import (
    Batch,
    Draws,
    Result,
    add,
    call_together,
    limit_patience,
    number_items,
    run_forked,
    run_in_turn,
    select_draws,
    stream,
)
from scenario_kit.lab.twin.numeric.random_streams import Streams, mix
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.logs import LogBuffer
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.process.response_mixup import Turns
from scenario_kit.lab.twin.requests import caches
from scenario_kit.lab.twin.requests.call_failures import CallFailures
from scenario_kit.lab.twin.requests.name_lookups import resolve_each
from scenario_kit.lab.twin.requests.producer import Publishing
from scenario_kit.lab.twin.requests.span_recorder import SpanRecorder
from scenario_kit.lab.twin.runtime import process_faults
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.lab.twin.traces.hung_calls import HungCallTracker
from scenario_kit.lab.twin.traces.span_buffer import SpanBatch, SpanBuffer
from scenario_kit.model.twin.definition import TwinDefinition

_LANE, _SHARE = 0x52, 0x55
_MISS, _REJECT = 0x57, 0x58


class Moment(NamedTuple):
    """The state during a tick: the links of every process, and the effects of flags in each."""

    start: float
    end: float
    links: Mapping[LinkKey, Link]
    effects: Mapping[ProcessKey, Sequence[Active]]


class Flow:
    """Walks requests."""

    def __init__(
        self,
        parameters: TwinDefinition,
        streams: Streams,
        spans: SpanMetrics,
        hangs: HungCallTracker,
        logs: LogBuffer,
        span_buffer: SpanBuffer,
    ) -> None:
        self._edges = parameters.edges
        self._constants = parameters.constants
        self._streams = streams
        self._latency = NetworkLatency(parameters.constants, streams)
        self._recorder = SpanRecorder(spans, hangs, logs, span_buffer, parameters.edges)
        self.span_buffer = span_buffer
        self.logs = logs
        self.moment = Moment(0.0, 0.0, {}, {})
        self.publishing = Publishing(span_buffer, parameters.constants)
        self._failures = CallFailures(parameters, self._latency, self._recorder, self.publishing)

    @property
    def hanging(self) -> LinkKey | None:
        """The link of the last call that hangs in this tick."""
        return self._failures.hanging

    def at(self, moment: Moment) -> None:
        """Select the state for subsequent requests."""
        self.moment = moment
        self._latency.begin(moment.start, moment.end)
        self._failures.begin(moment.start, moment.end, {key.process.pod_uid for key in moment.links})
        self.publishing.begin(moment.start, moment.end, moment.effects)

    def replan(self, processes: Mapping[ProcessKey, Process], moment: Moment) -> ScheduleChange | None:
        """Let lost messages be sent again on the paths as they are at ``moment``; None if no path has changed."""
        change = self._latency.retransmissions.replan(moment.links, processes, moment.start)
        if change is not None:
            self.span_buffer.reschedule(change)
        return change

    def call(self, caller: Process, node: CallNode, salt: int, at: Floats, draws: Draws) -> Result:
        """Call from ``caller`` at the times ``at``; record the CLIENT spans of every attempt."""
        link = self.moment.links.get(LinkKey(caller.key, node.edge))
        if link is None:  # the caller ended in this tick
            return Result(np.zeros(at.size), np.ones(at.size, dtype=bool))
        if self._edges[node.edge].optional and not link.address.host:
            return Result(np.zeros(at.size), np.zeros(at.size, dtype=bool))
        if node.operation.component in caller.lacks:
            return process_faults.miss(caller, caller.lacks[node.operation.component], at, self.logs)
        calls = CallBatch(caller, node, link, mix(salt, caller.ordinal) if caller.ordinal else salt, at, draws)
        took, failed, *_ = self._attempt(calls)
        retries = self._edges[node.edge].retries
        if retries:  # recorded spans keep references to the arrays
            took, failed = took.copy(), failed.copy()
        for attempt in range(retries):
            again = np.flatnonzero(failed & np.isfinite(took))
            if not again.size:
                break
            more = self._attempt(calls.part(again, (at + took)[again])._replace(salt=mix(calls.salt, attempt + 77)))
            took[again] += more.took
            failed[again] = more.failed
        return Result(took, failed)

    def serve(
        self, process: Process, node: OperationNode, salt: int, at: Floats, draws: Draws, cut: Floats | None = None
    ) -> Result:
        """Run an operation of ``process`` from ``at`` on; after ``cut``, the caller no longer waits."""
        n, constants = at.size, self._constants
        effects = self.moment.effects.get(process.key, ())
        node = process_faults.apply_flags(node, effects)
        mark = self.span_buffer.enter(node.server)
        draws = limit_patience(draws, cut if process.model is not None and process.model.cancel_calls else None)
        z = self._streams.normal(stream(node.key, salt), 1, n, process.ordinal)[0]
        took: Floats = np.exp(constants.sigma * z) * (node.own_seconds * process.slow) + process.queued
        if process.windows is not None:
            took = process.windows.run(at, took)
        failed: Flags = np.zeros(n, dtype=bool)
        batch = Batch(salt, at, took, failed, draws)
        process_faults.impair(process, node, batch, effects, self._streams, self.logs, self.span_buffer)
        if node.steps:
            self._steps(process, node.steps, batch)
        if node.model.always_fail:
            failed[np.isfinite(took)] = True
        process_faults.wait_in_vain(node, batch)
        if process.crash is not None:
            process_faults.cut_short(process, batch)
        errors = int(np.count_nonzero(failed))
        process.tally(node.name, n, errors)
        process.cpu_seconds += n * node.cpu_seconds
        process.served += n
        self._recorder.served(process, node, batch, cut, self.hanging, mark)
        if errors and node.model.error_log:
            self.logs.error(
                process, node.name, (at + np.where(np.isfinite(took), took, 0.0))[failed], node.model.error_log
            )
        if node.log and errors < n:
            self.logs.chatter(process, node.name, at[~failed] if errors else at, node.log)
        return Result(took, failed)

    def _steps(self, process: Process, steps: Sequence[CallNode | LoopNode], batch: Batch) -> None:
        """Run steps in sequence for the active requests."""
        for node in steps:
            chosen = self._going(process, node, batch)
            if chosen is not None and not chosen.size:
                continue
            if isinstance(node, LoopNode):
                self._loop(process, node, batch, chosen)
            else:
                self._repeat(process, node, batch, chosen)

    def _going(self, process: Process, node: CallNode | LoopNode, batch: Batch) -> Ints | None:
        """Return the requests that reach a step; None for all."""
        chosen: Ints | None = None
        size = batch.failed.size
        if self.hanging is not None or batch.failed.any():
            chosen = batch.under_way()
            chosen = None if chosen.size == size else chosen
        if node.step.share < 1.0:
            hit = self._streams.uniform(mix(node.key, batch.salt + _SHARE), size, process.ordinal) < node.step.share
            chosen = np.flatnonzero(hit) if chosen is None else chosen[hit[chosen]]
        return chosen

    def _repeat(self, process: Process, node: CallNode, batch: Batch, chosen: Ints | None) -> None:
        """Repeat a call as often as its step says; then process its responses."""
        if node.step.for_each and self._brought_nothing(process, node.step.for_each):
            return
        times = node.step.times
        counts = batch.draws[times] if isinstance(times, str) else None
        many = int(float(times)) if node.step.batch else 1
        most = int(counts.max(initial=0)) if counts is not None else int(times) // many
        slowest: Floats | None = np.zeros(batch.took.size) if node.step.parallel else None
        for number in range(most):
            who = chosen
            if counts is not None and counts.min(initial=number + 1) <= number:
                who = np.flatnonzero(counts > number) if who is None else who[counts[who] > number]
            if number and not node.step.parallel and (batch.failed.any() or self.hanging is not None):
                who = batch.under_way(who)
            if who is not None and not who.size:
                break
            call = partial(self.call, process, node, mix(batch.salt, number) if number else batch.salt)
            some = slice(None) if who is None else who
            draws = select_draws(batch.draws, some)
            result = call_together(call, many, batch.now[some], number_items(draws, number) if most > 1 else draws)
            took = batch.took if slowest is None else None
            add(result, who, took, slowest, batch.failed if node.step.on_error != "Ignore" else None)
        if slowest is not None:
            np.add(batch.took, slowest, out=batch.took)
        if node.step.on_error == "Crash":
            process_faults.crash(process, node, batch, chosen)
        if node.missing:
            self._fill(process, node, batch, chosen)
        if node.step.invalid_entries_of:
            self._reject(process, node, batch, chosen)

    def _brought_nothing(self, process: Process, call: str) -> bool:
        """Return whether flags empty the responses of a call in all its callees."""
        callee, _, operation = call.partition("/")
        number = next(n for n, e in enumerate(self._edges) if (e.caller, e.callee) == (process.component, callee))
        link = self.moment.links.get(LinkKey(process.key, number))
        targets = [lane.target.key for lane in link.lanes if lane.target is not None] if link else []
        reported = [self.moment.effects.get(key, ()) for key in targets]
        return bool(reported) and all(any(e.empties and e.operation == operation for e in each) for each in reported)

    def _fill(self, process: Process, node: CallNode, batch: Batch, chosen: Ints | None) -> None:
        """Run the steps after misses of a cache; unless they fail, they fill it."""
        link = self.moment.links.get(LinkKey(process.key, node.edge))
        cache = (
            next((lane.target for lane in link.lanes if lane.outcome == ConnectionOutcome.OK), None) if link else None
        )
        who = batch.under_way(chosen)
        if cache is None or not who.size:
            return
        chance = self._streams.uniform(mix(node.key, batch.salt + _MISS), who.size, process.ordinal)
        held = cache.held.get(node.operation.name, 0.0)
        desired = caches.count_asked(node.step, batch.draws, who)
        missed, full = caches.misses(held, node.step.keys, desired, batch.now[who], chance)
        who = who[missed]
        if who.size:
            inner = batch.part(who, mix(batch.salt, 0x200))
            self._steps(process, node.missing, inner)
            caches.fill(cache, node, full - held, float(inner.failed.mean()))
            batch.took[who] = inner.took
            batch.failed[who] = inner.failed & (not node.step.cache_failures)
        caches.update_spoilt_share(process, cache, node)

    def _reject(self, process: Process, node: CallNode, batch: Batch, chosen: Ints | None) -> None:
        """Fail the caller where a response is corrupt."""
        link = self.moment.links.get(LinkKey(process.key, node.edge))
        targets = [lane.target for lane in link.lanes if lane.target is not None] if link else []
        share = max((target.spoilt.get(node.step.invalid_entries_of, 0.0) for target in targets), default=0.0)
        who = batch.under_way(chosen)
        if share <= 0.0 or not who.size:
            return
        chance = self._streams.uniform(mix(node.key, batch.salt + _REJECT), who.size, process.ordinal)
        hit = who[chance < 1.0 - (1.0 - min(share, 1.0)) ** caches.count_asked(node.step, batch.draws, who)]
        batch.failed[hit] = True
        self.logs.error(process, node.step.invalid_entry_log, batch.now[hit], node.step.invalid_entry_log)

    def _loop(self, process: Process, node: LoopNode, batch: Batch, chosen: Ints | None) -> None:
        """Run rounds of steps, as many per request as drawn; a failure ends the request's loop."""
        times = node.step.times
        counts = batch.draws[times] if isinstance(times, str) else np.full(batch.took.size, float(times))
        who = np.arange(batch.took.size) if chosen is None else chosen
        for number in range(int(counts[who].max(initial=0))):
            who = batch.under_way(who[counts[who] > number])
            if not who.size:
                return
            mark, inner = self.span_buffer.enter(node.span), batch.part(who, mix(batch.salt, number + 0x100))
            inner = inner._replace(draws=number_items(inner.draws, number))
            (run_forked if node.step.fork else run_in_turn)(partial(self._steps, process), node.steps, inner)
            result = Result(inner.took - batch.took[who], inner.failed)
            spans = SpanBatch.of(inner.draws, batch.now[who], result.took, result.failed)
            self._recorder.round(process, node, spans, self.hanging, mark)
            batch.took[who] = inner.took
            batch.failed[who] = inner.failed & (node.step.on_error != "Ignore")

    def _attempt(self, calls: CallBatch) -> Result:
        """Make each call once, and record the caller's spans."""
        calls = self._trace_calls(calls)
        caller, node, link = calls.caller, calls.node, calls.link
        mark = self.span_buffer.enter(node.client)
        one = len(link.lanes) == 1 and not link.old
        result = self._lane(calls, link.lanes[0]) if one else self._spread(calls)
        if self._edges[node.edge].match_responses_by_order:
            turns = caller.turns.setdefault(node.edge, Turns())
            result = turns.hand_out(calls.at, result, self.moment.start, self.moment.end)
        caller.called += calls.at.size
        if caller.windows is not None:
            bursts = 1 + self._edges[node.edge].connects_per_call
            result = result._replace(took=caller.windows.resume(calls.at, result.took, bursts))
        seen = process_faults.absorb_errors(calls, result, self.moment.effects.get(caller.key, ()), self._streams)
        self._recorder.called(calls, seen, self.hanging, mark)
        return result

    def _trace_calls(self, calls: CallBatch) -> CallBatch:
        """Trace the calls, except if the caller's instrumentation is attached to an earlier connection."""
        number, lane = calls.node.edge, calls.link.lanes[0]
        if not self._edges[number].trace_first_connection_only:
            return calls
        stands = lane.target is not None and lane.outcome in (
            ConnectionOutcome.OK,
            ConnectionOutcome.CONNECTION_TIMEOUT,
        )
        peer = lane.target.key if lane.target is not None and stands else None
        if peer is None or calls.caller.watched.setdefault(number, peer) != peer:
            calls.caller.watched[number] = None
            return calls._replace(node=calls.node._replace(client=None))
        return calls

    def _spread(self, calls: CallBatch) -> Result:
        """Spread calls over the backends of a pool, and its remaining old connections."""
        link, at = calls.link, calls.at
        lanes = (*link.lanes, *link.old)
        pick = self._streams.open(mix(calls.node.key, calls.salt + _LANE), calls.caller.ordinal).random((2, at.size))
        choice = (pick[0] * len(link.lanes)).astype(np.int64)
        if link.old:
            share = np.clip((link.old_until - at) / max(link.old_until - link.old_from, 1e-9), 0.0, 1.0)
            old = len(link.lanes) + (pick[0] * len(link.old)).astype(np.int64)
            choice = np.where(pick[1] < share, old, choice)
        whole = Result(np.zeros(at.size), np.zeros(at.size, dtype=bool))
        for number, lane in enumerate(lanes):
            who = np.flatnonzero(choice == number)
            if who.size:
                whole = whole.with_part(who, self._lane(calls.part(who), lane))
        return whole

    def _lane(self, calls: CallBatch, lane: ConnectionLane) -> Result:
        """Make calls along one lane."""
        caller, node, link, salt, at, draws = calls
        edge = self._edges[node.edge]
        if lane.outcome != ConnectionOutcome.OK or lane.target is None:
            return self._failures.fail_connection(calls, lane)
        if lane.resolutions and not edge.reuse_connection:
            return resolve_each(calls, lane, edge, self._latency.draw_resolutions(calls), self._lane)
        if lane.ready_at > self.moment.start:
            early = at < lane.ready_at
            if early.any():
                return self._split(calls, lane, early)
        if lane.target.crash is not None:
            gone = at >= lane.target.crash_at
            if gone.any():
                return self._split(calls, lane, gone)
        met = lane.wire.rules if lane.wire is not None and edge.protocol == "http" else ()
        barred = process_faults.find_refusal(lane.target, node.operation.model, link.address.user)
        if outcome := barred or http_chaos.find_abort(met, node):
            return self._failures.fail_dial(calls, lane._replace(outcome=outcome))
        if caller.unsent:
            self.publishing.release(calls, lane.target)
        cut = self._failures.find_end(calls)
        took, back = self._latency.cross(calls, lane, edge, cut)
        took += http_chaos.compute_delay(met, node, answers=False)
        answer = self.serve(lane.target, node.operation, salt, at + took, draws, cut)
        network_io.exchange_messages(caller, lane.target, lane.wire, answer.took, self._constants.message_bytes)
        if back is not None:
            self._latency.note_losses(calls, lane, 1, at + took + answer.took, cut)
        took, failed = took + answer.took + (0.0 if back is None else back), answer.failed
        took, failed, falsified, noted = http_chaos.replace_answers(
            met, node, took, failed, unchecked=edge.ignore_status
        )
        if node.operation.model.topic:
            self.publishing.publish(caller, lane.target, node, (at + took)[~failed], draws, ~failed)
        if not edge.wait_for_ack:
            return self._failures.complete_writes(at)
        if (node.log or node.step.cause_text or falsified) and failed.any():
            self._recorder.complain(calls, falsified or ConnectionOutcome.ERROR_RESPONSE, (at + took)[failed])
        return self._failures.give_up(calls, took, failed)._replace(noted=noted)

    def _split(self, calls: CallBatch, lane: ConnectionLane, early: Flags) -> Result:
        """Split calls before the callee listens or after it ended; patient callers wait for a starting one."""
        at, patience = calls.at, self._edges[calls.node.edge].unreachable_seconds
        whole = Result(np.zeros(at.size), np.zeros(at.size, dtype=bool))
        patient = (at < lane.ready_at) & (at + patience >= lane.ready_at)
        wait = np.where(patient, lane.ready_at - at, 0.0)
        refused = early & ~patient
        for mask, one in (
            (refused, lane._replace(outcome=ConnectionOutcome.CONNECTION_REFUSED)),
            (~refused, lane._replace(ready_at=0.0)),
        ):
            who = np.flatnonzero(mask)
            if who.size:
                result = self._lane(calls.part(who, (at + wait)[who]), one)
                whole = whole.with_part(who, result._replace(took=result.took + wait[who]))
        return whole
