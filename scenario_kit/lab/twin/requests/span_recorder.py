"""Recording of requests: spans of callers and callees, and error logs of callers."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.call_tree.spans import SpanMetrics, SpanName
from scenario_kit.lab.twin.call_tree.tree import CallNode, LoopNode, OperationNode
from scenario_kit.lab.twin.client_errors.by_language import (
    describe_answer,
    describe_cause,
    describe_failure,
    describe_request,
)
from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats
from scenario_kit.lab.twin.numeric.batches import Batch, Result
from scenario_kit.lab.twin.outcome import UNCONNECTED, ConnectionOutcome
from scenario_kit.lab.twin.process.logs import LogBuffer
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.traces.hung_calls import HungCallTracker
from scenario_kit.lab.twin.traces.span_buffer import SpanBatch, SpanBuffer
from scenario_kit.model.twin.edge import Edge

#: The error of a gRPC channel whose peer is gone.
_BROKEN = "rpc error: code = Unavailable desc = error reading from server: EOF"


#: The tolerance for sums of times in different orders, in seconds.
_CLOSE = 1e-6


class SpanRecorder:
    """Record spans and logs of a world."""

    def __init__(
        self,
        spans: SpanMetrics,
        hangs: HungCallTracker,
        logs: LogBuffer,
        span_buffer: SpanBuffer,
        edges: tuple[Edge, ...],
    ) -> None:
        self._spans = spans
        self._hangs = hangs
        self._logs = logs
        self._span_buffer = span_buffer
        self._edges = edges
        self._said: dict[ProcessKey, str] = {}

    def span(self, process: Process, name: SpanName, spans: SpanBatch, hanging: LinkKey | None) -> None:
        """Record spans of one name; hanging ones wait for the link ``hanging``. Without a collector, spans are lost."""
        if not process.reports(name.service):
            return
        if hanging is not None:
            known = np.isfinite(spans.took)
            if not known.all():
                self._hangs.hold(hanging, process.key, name, spans.at[~known])
                spans = spans.part(known)
        self._spans.record(name, spans.at + spans.took, spans.took, spans.failed, spans.requests)

    def called(self, calls: CallBatch, result: Result, hanging: LinkKey | None, mark: int) -> None:
        """Record the caller's spans of its calls, except abandoned ones, which never end. ``mark`` is the buffer's."""
        caller, node, link, _, at, draws = calls
        took, failed, noted, unconnected = result
        if noted is not None:
            failed = failed | noted
        if node.client is None:
            return
        name = node.client
        stays: Flags | None = None
        if node.step.deadline_seconds:
            stays = took < node.step.deadline_seconds
        if unconnected is not None:
            attempt = name._replace(span=self._edges[node.edge].connect_span or "")
            if attempt.span and unconnected.all():
                name = attempt
            else:
                if attempt.span:
                    self.span(caller, attempt, SpanBatch.of(draws, at, took, failed).part(unconnected), hanging)
                stays = ~unconnected if stays is None else stays & ~unconnected
        spans = SpanBatch.of(draws, at, took, failed)
        if stays is not None:
            spans = spans.part(stays)
        self.span(caller, name, spans, hanging)
        self._span_buffer.leave(mark, caller, (name,), node, link, spans)

    def round(self, process: Process, node: LoopNode, spans: SpanBatch, hanging: LinkKey | None, mark: int) -> None:
        """Record the spans of one round of a named loop. ``mark`` is from the buffer."""
        if node.span is not None:
            self.span(process, node.span, spans, hanging)
            self._span_buffer.leave(mark, process, (node.span,), node, None, spans)

    def served(
        self,
        process: Process,
        node: OperationNode,
        batch: Batch,
        cut: Floats | None,
        hanging: LinkKey | None,
        mark: int,
    ) -> None:
        """Record the callee's spans. If the caller gave up at ``cut``, they end there, without error.

        A program that cancels its calls answers with an error, which gRPC does not count as the server's. A crashing
        process loses its unfinished spans. ``mark`` is from the buffer.
        """
        if node.server is None:
            return
        _, at, took, failed, draws = batch
        done: Flags | None = None
        if process.crash is not None:
            done = at + took < process.crash_at
            at, took, failed = at[done], took[done], failed[done]
            cut = cut if cut is None else cut[done]
        if cut is not None:
            cancels = process.model is not None and process.model.cancel_calls
            over = at + took > cut - (_CLOSE if cancels else 0.0)
            if over.any():
                took = np.where(over, np.maximum(cut - at, 0.0), took)
                answers = cancels and any(port.protocol == "http" for port in process.listeners)
                failed = failed | over if answers else failed & ~over
        names = (node.server, *node.internal)
        spans = SpanBatch.of(draws, at, took, failed, done)
        for name in names:
            self.span(process, name, spans, hanging)
        self._span_buffer.leave(mark, process, names, node, None, spans)

    def _describe_failure(self, node: CallNode, link: Link) -> str:
        """Return the error of a failed callee with the latest reason."""
        targets = [lane.target for lane in link.lanes if lane.target is not None]
        name = node.operation.name
        if answer := next(
            (x.answer or x.flag_answers.get(name, "") or x.volume.answers.get(name, "") for x in targets), ""
        ):
            return answer
        said = next((self._said[x.target.key] for x in link.lanes if x.target and x.target.key in self._said), "")
        return describe_failure(node.operation.model.failure, said)

    def complain(self, calls: CallBatch, ended: ConnectionOutcome | int, times: Floats) -> None:
        """Log the caller's errors at these times; a number is the status of a response."""
        if not times.size:
            return
        caller, node, link = calls.caller, calls.node, calls.link
        outcome = ConnectionOutcome.ERROR_RESPONSE if isinstance(ended, int) else ended
        answered = outcome is ConnectionOutcome.ERROR_RESPONSE
        address = link.address
        edge, ip, port = self._edges[node.edge], link.ip, address.port
        dialect = caller.dialect
        words = describe_answer(dialect, edge.protocol, self._describe_failure(node, link)) if answered else ""
        if edge.registry:  # the address is the registry's; the callee is registered there
            lane = next((lane for lane in link.lanes if lane.target is not None), None)
            ip, port = (lane.target.ip, lane.port) if lane and lane.target else ("", 0)
            if lane is None and outcome == ConnectionOutcome.CONNECTION_REFUSED:
                words = _BROKEN
        wrapped = edge.connection_error_text if outcome in UNCONNECTED and not words else ""
        text = words or describe_cause(
            dialect,
            outcome,
            edge.product or edge.protocol,
            host=address.host,
            port=port,
            ip=ip,
            user=address.user,
            database=address.desired,
            table=node.operation.model.table.rpartition(".")[2],
            command=node.operation.name,
            name=edge.name,
        )
        text = text.replace("500", str(ended)) if isinstance(ended, int) else text
        self._span_buffer.note(outcome.value, wrapped if wrapped and "{cause}" not in wrapped else text, times)
        url = f"http{'s' * address.tls}://{address.host}:{address.port}"
        text = describe_request((dialect, edge.protocol), outcome, url, node.operation.model.span, text)
        text = wrapped.replace("{cause}", text) or text
        if node.step.cause_text:
            self._said[caller.key] = node.step.cause_text.replace("{cause}", text)
        if not node.log:
            return
        line = node.log.replace("{cause}", text).replace("{host}", address.host).replace("{port}", str(address.port))
        for part in line.splitlines():
            self._logs.error(caller, part, times, part)
