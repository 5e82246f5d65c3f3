"""What a walk of requests leaves behind: spans of callers and callees, and the callers' complaints in their logs."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.arrays import Flags, Floats
from scenario_kit.lab.twin.batches import Result
from scenario_kit.lab.twin.connections import Link, LinkKey
from scenario_kit.lab.twin.hangs import HangBook
from scenario_kit.lab.twin.logs import LogBook
from scenario_kit.lab.twin.parameters import Edge
from scenario_kit.lab.twin.phrases import cause
from scenario_kit.lab.twin.process import Process
from scenario_kit.lab.twin.spans import SpanBook, SpanName
from scenario_kit.lab.twin.tree import CallNode, LoopNode, OperationNode


class Recorder:
    """Writes into the books of a world."""

    def __init__(self, spans: SpanBook, hangs: HangBook, logs: LogBook, edges: tuple[Edge, ...]) -> None:
        self._spans = spans
        self._hangs = hangs
        self._logs = logs
        self._edges = edges

    def span(
        self, process: Process, name: SpanName, at: Floats, took: Floats, failed: Flags, hanging: LinkKey | None
    ) -> None:
        """Spans of one name; those that hang wait for the link ``hanging``. A process without collector loses them."""
        if not process.reports(name.service):
            return
        if hanging is not None:
            known = np.isfinite(took)
            if not known.all():
                self._hangs.hold(hanging, process.key, name, at[~known])
                at, took, failed = at[known], took[known], failed[known]
        self._spans.record(name, at + took, took, failed)

    def seen(self, caller: Process, node: CallNode, at: Floats, result: Result, hanging: LinkKey | None) -> None:
        """The caller's spans of its calls; of those that it left it never ended any."""
        took, failed = result
        if node.client is None:
            return
        if node.step.patience_seconds:
            stays = took < node.step.patience_seconds
            at, took, failed = at[stays], took[stays], failed[stays]
        self.span(caller, node.client, at, took, failed, hanging)

    def round(self, process: Process, node: LoopNode, at: Floats, result: Result, hanging: LinkKey | None) -> None:
        """The spans of one round of a loop that has a name."""
        if node.span is not None:
            self.span(process, node.span, at, result.took, result.failed, hanging)

    def served(
        self,
        process: Process,
        node: OperationNode,
        at: Floats,
        took: Floats,
        failed: Flags,
        cut: Floats | None,
        hanging: LinkKey | None,
    ) -> None:
        """The callee's spans. Where the caller gave up at ``cut`` they end there, without error (behaviour.md §1.4).

        A process that ends by itself takes those with it that it had not finished.
        """
        if process.crash is not None:
            done = at + took < process.crash_at
            at, took, failed = at[done], took[done], failed[done]
            cut = cut if cut is None else cut[done]
        if cut is not None:
            over = at + took > cut
            if over.any():
                took = np.where(over, np.maximum(cut - at, 0.0), took)
                failed = failed & ~over
        for name in (node.server, *node.internal):
            if name is not None:
                self.span(process, name, at, took, failed, hanging)

    def complain(self, caller: Process, node: CallNode, link: Link, outcome: str, times: Floats) -> None:
        """The caller prints why calls failed at these times; ``failure`` means that the callee itself said so."""
        if not node.log or not times.size:
            return
        address = link.address
        words = node.operation.model.failure if outcome == "failure" else ""
        text = words or cause(
            caller.model.dialect if caller.model else "",
            outcome,
            self._edges[node.edge].protocol,
            host=address.host,
            port=address.port,
            ip=link.ip,
            user=address.user,
            table=node.operation.model.table.rpartition(".")[2],
        )
        line = node.log.replace("{cause}", text).replace("{host}", address.host).replace("{port}", str(address.port))
        self._logs.error(caller, line, times, line)
