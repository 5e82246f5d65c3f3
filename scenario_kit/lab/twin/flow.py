"""How requests flow through processes: a walk over the call tree with all requests of a tick side by side.

An operation takes its own time (log-normal), then its steps in sequence. A call takes a hop, what the wire adds to both
messages, and the callee's time. Durations are seconds; infinite ones are calls that hang until something changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin import ailments, caches, interception, traffic
from scenario_kit.lab.twin.answers import Turns
from scenario_kit.lab.twin.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.batches import Draws, Result, add, forked, in_turn, stream, subset, together, under_way
from scenario_kit.lab.twin.connections import Lane, Link, LinkKey, timeout
from scenario_kit.lab.twin.crossing import Crossing
from scenario_kit.lab.twin.flags import Active
from scenario_kit.lab.twin.hangs import HangBook
from scenario_kit.lab.twin.logs import LogBook
from scenario_kit.lab.twin.parameters import Edge, Parameters
from scenario_kit.lab.twin.process import Process, ProcessKey
from scenario_kit.lab.twin.publishing import Publishing
from scenario_kit.lab.twin.recorder import Recorder
from scenario_kit.lab.twin.spans import SpanBook
from scenario_kit.lab.twin.streams import Streams, mix
from scenario_kit.lab.twin.tape import Tape
from scenario_kit.lab.twin.tree import CallNode, LoopNode, OperationNode

_LANE, _SHARE = 0x52, 0x55
_MISS, _REJECT = 0x57, 0x58


class Moment(NamedTuple):
    """What holds during a tick: the links of every process, and the flags' effects in each of them."""

    start: float
    end: float
    links: Mapping[LinkKey, Link]
    effects: Mapping[ProcessKey, Sequence[Active]]


class Flow:
    """Walks requests."""

    def __init__(
        self, parameters: Parameters, streams: Streams, spans: SpanBook, hangs: HangBook, logs: LogBook, tape: Tape
    ) -> None:
        self._edges = parameters.edges
        self._physics = parameters.physics
        self._streams = streams
        self._crossing = Crossing(parameters.physics, streams)
        self._recorder = Recorder(spans, hangs, logs, tape, parameters.edges)
        self.tape = tape
        self.logs = logs
        self.moment = Moment(0.0, 0.0, {}, {})
        self.hanging: LinkKey | None = None
        self.publishing = Publishing(tape, parameters.physics)

    def at(self, moment: Moment) -> None:
        """Requests from here on happen in this tick."""
        self.moment = moment
        self.hanging = None
        self.publishing.records = {}

    def call(self, caller: Process, node: CallNode, salt: int, at: Floats, draws: Draws) -> Result:
        """``caller`` calls at the times ``at``; records the CLIENT spans of every attempt."""
        link = self.moment.links.get(LinkKey(caller.key, node.edge))
        if link is None:  # the caller ended in this very tick
            return Result(np.zeros(at.size), np.ones(at.size, dtype=bool))
        if self._edges[node.edge].optional and not link.address.host:
            return Result(np.zeros(at.size), np.zeros(at.size, dtype=bool))
        if node.operation.component in caller.lacks:
            return ailments.miss(caller, caller.lacks[node.operation.component], at, self.logs)
        salt = mix(salt, caller.ordinal) if caller.ordinal else salt
        took, failed = self._attempt(caller, node, link, salt, at, draws)
        retries = self._edges[node.edge].retries
        if retries:  # the recorded spans keep their arrays
            took, failed = took.copy(), failed.copy()
        for attempt in range(retries):
            again = np.flatnonzero(failed & np.isfinite(took))
            if not again.size:
                break
            more = self._attempt(caller, node, link, mix(salt, attempt + 77), (at + took)[again], subset(draws, again))
            took[again] += more.took
            failed[again] = more.failed
        return Result(took, failed)

    def serve(
        self, process: Process, node: OperationNode, salt: int, at: Floats, draws: Draws, cut: Floats | None = None
    ) -> Result:
        """``process`` runs an operation from ``at`` on; after ``cut`` nobody waits for the answer any more."""
        n, physics = at.size, self._physics
        mark = self.tape.enter(node.server)
        z = self._streams.normal(stream(node.key, salt), 1, n, process.ordinal)[0]
        took: Floats = np.exp(physics.sigma * z) * (node.own_seconds * process.slow) + process.queued
        failed: Flags = np.zeros(n, dtype=bool)
        effects = self.moment.effects.get(process.key, ())
        ailments.impair(process, node, salt, at, took, failed, effects, self._streams, self.logs, self.tape)
        if node.steps:
            self._steps(process, node.steps, salt, at, took, failed, draws)
        ailments.shrug(node, took, failed)
        if process.crash is not None:
            ailments.cut_short(process, at, took, failed)
        errors = int(np.count_nonzero(failed))
        process.tally(node.name, n, errors)
        process.cpu_seconds += n * node.cpu_seconds
        self._recorder.served(process, node, at, took, failed, cut, self.hanging, draws, mark)
        if errors and node.model.error_log:
            self.logs.error(
                process, node.name, (at + np.where(np.isfinite(took), took, 0.0))[failed], node.model.error_log
            )
        if node.log and errors < n:
            self.logs.chatter(process, node.name, at[~failed] if errors else at, node.log)
        return Result(took, failed)

    def _steps(
        self,
        process: Process,
        steps: Sequence[CallNode | LoopNode],
        salt: int,
        at: Floats,
        took: Floats,
        failed: Flags,
        draws: Draws,
    ) -> None:
        """Run steps in sequence for the requests that are still under way; changes ``took`` and ``failed``."""
        for node in steps:
            chosen = self._going(node, process, salt, took, failed)
            if chosen is not None and not chosen.size:
                continue
            if isinstance(node, LoopNode):
                self._loop(process, node, salt, at, took, failed, draws, chosen)
            else:
                self._repeat(process, node, salt, at, took, failed, draws, chosen)

    def _going(
        self, node: CallNode | LoopNode, process: Process, salt: int, took: Floats, failed: Flags
    ) -> Ints | None:
        """The requests that reach a step; None for all of them."""
        chosen: Ints | None = None
        if self.hanging is not None or failed.any():
            chosen = np.flatnonzero(~failed & np.isfinite(took))
            chosen = None if chosen.size == failed.size else chosen
        if node.step.share < 1.0:
            hit = self._streams.uniform(mix(node.key, salt + _SHARE), failed.size, process.ordinal) < node.step.share
            chosen = np.flatnonzero(hit) if chosen is None else chosen[hit[chosen]]
        return chosen

    def _repeat(
        self,
        process: Process,
        node: CallNode,
        salt: int,
        at: Floats,
        took: Floats,
        failed: Flags,
        draws: Draws,
        chosen: Ints | None,
    ) -> None:
        times = node.step.times
        counts = draws[times] if isinstance(times, str) else None
        many = int(float(times)) if node.step.at_once else 1
        most = int(counts.max(initial=0)) if counts is not None else int(times) // many
        slowest: Floats | None = np.zeros(took.size) if node.step.parallel else None
        for number in range(most):
            who = chosen
            if counts is not None and counts.min(initial=number + 1) <= number:
                who = np.flatnonzero(counts > number) if who is None else who[counts[who] > number]
            if number and not node.step.parallel and (failed.any() or self.hanging is not None):
                who = (
                    np.flatnonzero(~failed & np.isfinite(took))
                    if who is None
                    else who[~failed[who] & np.isfinite(took[who])]
                )
            if who is not None and not who.size:
                break
            deeper = mix(salt, number) if number else salt
            some = slice(None) if who is None else who
            result = together(partial(self.call, process, node, deeper), many, (at + took)[some], subset(draws, some))
            add(
                result,
                who,
                took if slowest is None else None,
                slowest,
                failed if node.step.on_error != "Ignore" else None,
            )
        if slowest is not None:
            took += slowest
        if node.step.on_error == "Crash":
            ailments.crash(process, node, at, took, failed, chosen)
        if node.missing:
            self._fill(process, node, salt, at, took, failed, draws, chosen)
        if node.step.rejects:
            self._reject(process, node, salt, at, took, failed, draws, chosen)

    def _fill(
        self,
        process: Process,
        node: CallNode,
        salt: int,
        at: Floats,
        took: Floats,
        failed: Flags,
        draws: Draws,
        chosen: Ints | None,
    ) -> None:
        """The steps that follow where the callee, a cache, misses something; unless they fail they fill it."""
        link = self.moment.links.get(LinkKey(process.key, node.edge))
        cache = next((lane.target for lane in link.lanes if lane.outcome == "ok"), None) if link else None
        who = under_way(chosen, took, failed)
        if cache is None or not who.size:
            return
        chance = self._streams.uniform(mix(node.key, salt + _MISS), who.size, process.ordinal)
        held = cache.held.get(node.operation.name, 0.0)
        wanted = caches.asked(node.step, draws, who)
        missed, full = caches.misses(held, node.step.keys, wanted, (at + took)[who], chance)
        who = who[missed]
        if who.size:
            inner_took, inner_failed = took[who], failed[who]
            self._steps(process, node.missing, mix(salt, 0x200), at[who], inner_took, inner_failed, subset(draws, who))
            caches.fill(cache, node, full - held, float(inner_failed.mean()))
            took[who] = inner_took
            failed[who] = inner_failed & (not node.step.spoils)
        caches.taste(process, cache, node)

    def _reject(
        self, process: Process, node: CallNode, salt: int,
        at: Floats, took: Floats, failed: Flags, draws: Draws, chosen: Ints | None,
    ) -> None:  # fmt: skip
        """The caller fails where the answer holds something spoilt."""
        link = self.moment.links.get(LinkKey(process.key, node.edge))
        targets = [lane.target for lane in link.lanes if lane.target is not None] if link else []
        share = max((target.spoilt.get(node.step.rejects, 0.0) for target in targets), default=0.0)
        who = under_way(chosen, took, failed)
        if share <= 0.0 or not who.size:
            return
        chance = self._streams.uniform(mix(node.key, salt + _REJECT), who.size, process.ordinal)
        hit = who[chance < 1.0 - (1.0 - min(share, 1.0)) ** caches.asked(node.step, draws, who)]
        failed[hit] = True
        self.logs.error(process, node.step.reject_log, (at + took)[hit], node.step.reject_log)

    def _loop(
        self,
        process: Process,
        node: LoopNode,
        salt: int,
        at: Floats,
        took: Floats,
        failed: Flags,
        draws: Draws,
        chosen: Ints | None,
    ) -> None:
        times = node.step.times
        counts = draws[times] if isinstance(times, str) else np.full(took.size, float(times))
        who = np.arange(took.size) if chosen is None else chosen
        for number in range(int(counts[who].max(initial=0))):
            who = who[(counts[who] > number) & ~failed[who] & np.isfinite(took[who])]
            if not who.size:
                return
            mark, some = self.tape.enter(node.span), subset(draws, who)
            inner = Result(took[who], failed[who])
            run = partial(self._steps, process, salt=mix(salt, number + 0x100), at=at[who], draws=some)
            (forked if node.step.fork else in_turn)(run, node.steps, inner)
            result = Result(inner.took - took[who], inner.failed)
            self._recorder.round(process, node, (at + took)[who], result, self.hanging, some, mark)
            took[who] = inner.took
            failed[who] = inner.failed & (node.step.on_error != "Ignore")

    def _attempt(self, caller: Process, node: CallNode, link: Link, salt: int, at: Floats, draws: Draws) -> Result:
        mark = self.tape.enter(node.client)
        if len(link.lanes) == 1 and not link.old:
            result = self._lane(caller, node, link, link.lanes[0], salt, at, draws)
        else:
            result = self._spread(caller, node, link, salt, at, draws)
        if self._edges[node.edge].shared_answers:
            turns = caller.turns.setdefault(node.edge, Turns())
            result = turns.hand_out(at, result, self.moment.start, self.moment.end)
        seen = ailments.absorbed(caller, node, salt, result, self.moment.effects.get(caller.key, ()), self._streams)
        self._recorder.called(caller, node, link, at, seen, self.hanging, draws, mark)
        return result

    def _spread(self, caller: Process, node: CallNode, link: Link, salt: int, at: Floats, draws: Draws) -> Result:
        """Spread calls over the backends of a pool, and over connections that the pool still has."""
        lanes = (*link.lanes, *link.old)
        pick = self._streams.open(mix(node.key, salt + _LANE), caller.ordinal).random((2, at.size))
        choice = (pick[0] * len(link.lanes)).astype(np.int64)
        if link.old:
            share = np.clip((link.old_until - at) / max(link.old_until - link.old_from, 1e-9), 0.0, 1.0)
            old = len(link.lanes) + (pick[0] * len(link.old)).astype(np.int64)
            choice = np.where(pick[1] < share, old, choice)
        took, failed = np.zeros(at.size), np.zeros(at.size, dtype=bool)
        for number, lane in enumerate(lanes):
            who = np.flatnonzero(choice == number)
            if who.size:
                result = self._lane(caller, node, link, lane, salt, at[who], subset(draws, who))
                took[who], failed[who] = result.took, result.failed
        return Result(took, failed)

    def _lane(
        self, caller: Process, node: CallNode, link: Link, lane: Lane, salt: int, at: Floats, draws: Draws
    ) -> Result:
        edge = self._edges[node.edge]
        if lane.outcome != "ok" or lane.target is None:
            return self._broken(caller, node, link, lane, salt, at)
        if lane.ready_at > self.moment.start:
            early = at < lane.ready_at
            if early.any():
                return self._split(caller, node, link, lane, salt, at, draws, early)
        if lane.target.crash is not None:
            gone = at >= lane.target.crash_at
            if gone.any():
                return self._split(caller, node, link, lane, salt, at, draws, gone)
        met = lane.wire.rules if lane.wire is not None and edge.protocol == "http" else ()
        barred = ailments.barred(lane.target, node.operation.model, link.address.user)
        if outcome := barred or interception.broken_off(met, node):
            return self._broken(caller, node, link, lane._replace(outcome=outcome), salt, at)
        if caller.unsent:
            self.publishing.release(caller, lane.target, node, float(at.min()))
        took, back = self._crossing.cross(caller, node, lane, edge, salt, at.size)
        took += interception.held_back(met, node, answers=False)
        limit = node.step.patience_seconds or timeout(edge, caller)
        cut = at + limit if limit else None
        answer = self.serve(lane.target, node.operation, salt, at + took, draws, cut)
        traffic.exchange(caller, lane.target, lane.wire, answer.took, self._physics.message_bytes)
        took, failed = took + answer.took + (0.0 if back is None else back), answer.failed
        took, failed, falsified = interception.answered(met, node, took, failed, unchecked=edge.unchecked)
        if node.operation.model.topic:
            effects = self.moment.effects.get(caller.key, ())
            self.publishing.publish(effects, lane.target, node, (at + took)[~failed], draws, ~failed)
        if not edge.acknowledged:
            return self._written(at)
        if (node.log or node.step.words or falsified) and failed.any():
            self._recorder.complain(caller, node, link, falsified or "failure", (at + took)[failed])
        return self._give_up(caller, node, link, edge, at, took, failed)

    def _split(
        self, caller: Process, node: CallNode, link: Link, lane: Lane, salt: int, at: Floats, draws: Draws, early: Flags
    ) -> Result:
        """Some calls come before the callee listens, or after it ended; who is patient waits for one that comes up."""
        took, failed = np.zeros(at.size), np.zeros(at.size, dtype=bool)
        patient = (at < lane.ready_at) & (at + self._edges[node.edge].unreachable_seconds >= lane.ready_at)
        wait = np.where(patient, lane.ready_at - at, 0.0)
        refused = early & ~patient
        for mask, one in ((refused, lane._replace(outcome="refused")), (~refused, lane._replace(ready_at=0.0))):
            who = np.flatnonzero(mask)
            if who.size:
                result = self._lane(caller, node, link, one, salt, (at + wait)[who], subset(draws, who))
                took[who], failed[who] = result.took + wait[who], result.failed
        return Result(took, failed)

    def _broken(self, caller: Process, node: CallNode, link: Link, lane: Lane, salt: int, at: Floats) -> Result:
        """The callee is not there, not who it should be, or packets vanish."""
        edge = self._edges[node.edge]
        n = at.size
        failed: Flags = np.ones(n, dtype=bool)
        if lane.outcome == "dropped" and lane.target is not None and not edge.acknowledged:
            self.publishing.hold(caller, lane.target, node, at)
            return self._written(at)
        if lane.outcome == "locked" or (
            lane.outcome == "dropped" and (edge.dial_seconds or not edge.unreachable_seconds)
        ):
            self.hanging = link.key
            took = np.full(n, np.inf) if lane.fails_at == np.inf else np.maximum(lane.fails_at - at, 0.001)
            dials = edge.dial_seconds if lane.target is None else 0.0
            if dials > 0.0:
                took = np.minimum(took, dials)
                self._recorder.complain(caller, node, link, "dropped", at + took)
            failed = np.isfinite(took)
            return Result(took, failed) if dials else self._give_up(caller, node, link, edge, at, took, failed)
        took = self._crossing.noise(caller, node, salt, n) * (edge.refused_ms / 1000.0) + edge.unreachable_seconds
        self._recorder.complain(caller, node, link, lane.outcome, at + took)
        return Result(took, failed)

    def _give_up(
        self, caller: Process, node: CallNode, link: Link, edge: Edge, at: Floats, took: Floats, failed: Flags
    ) -> Result:
        limit = node.step.patience_seconds or timeout(edge, caller)
        if limit:
            late = took > limit
            if late.any():
                took = np.where(late, limit, took)
                failed = failed | late
                self._recorder.complain(caller, node, link, "late", (at + took)[late])
        return Result(took, failed)

    def _written(self, at: Floats) -> Result:
        """Calls that are over once the system has taken them."""
        return Result(np.full(at.size, self._physics.hop_ms / 1000.0), np.zeros(at.size, dtype=bool))
