"""Calls that hang indefinitely: their spans are exported when they end (docs/fidelity.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.spans import SpanMetrics, SpanName
from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.process.process import ProcessKey


class _Held(NamedTuple):
    """Spans of one process that wait for one link."""

    link: LinkKey
    owner: ProcessKey
    name: SpanName
    began: Floats


class EndedSpans(NamedTuple):
    """Hanging spans of one process and name, by start time, that ended at ``now``."""

    owner: ProcessKey
    name: SpanName
    began: Floats
    now: float
    failed: bool


class HungCallTracker:
    """Track hanging calls until their link changes, or they time out.

    ``ended`` are those exported by the last ``release``.
    """

    def __init__(self, longest_seconds: float) -> None:
        self._longest = longest_seconds
        self.ended: list[EndedSpans] = []
        self._held: list[_Held] = []

    def hold(self, link: LinkKey, owner: ProcessKey, name: SpanName, began: Floats) -> None:
        """Add spans that wait for ``link``."""
        if began.size:
            self._held.append(_Held(link, owner, name, began))

    def release(
        self, links: Mapping[LinkKey, Link], alive: Mapping[ProcessKey, object], start: float, spans: SpanMetrics
    ) -> None:
        """Export spans that ended by ``start``: successful if the link works again, otherwise errors.

        Spans of ended processes are dropped.
        """
        remaining: list[_Held] = []
        self.ended = []
        for held in self._held:
            link = links.get(held.link)
            if held.owner not in alive:
                continue
            if link is not None and link.hangs:
                old = held.began < start - self._longest
                self._export(held._replace(began=held.began[old]), start, True, spans)
                remaining.append(held._replace(began=held.began[~old]))
            else:
                self._export(held, start, link is None or not link.works, spans)
        self._held = [held for held in remaining if held.began.size]

    def _export(self, held: _Held, now: float, failed: bool, spans: SpanMetrics) -> None:
        began = held.began
        if began.size:
            self.ended.append(EndedSpans(held.owner, held.name, began, now, failed))
        spans.record(held.name, np.full(began.size, now), now - began, np.full(began.size, failed))
