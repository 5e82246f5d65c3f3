"""Calls that hang for an unknown time: their spans are exported when they end, not before (docs/fidelity.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.spans import SpanBook, SpanName
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
    """Hanging spans of one process and name, by their begin, that came to an end at ``now``."""

    owner: ProcessKey
    name: SpanName
    began: Floats
    now: float
    failed: bool


class HangBook:
    """Remembers hanging calls until the link that they wait for moves, or they die of old age.

    ``ended`` are those that the last ``release`` exported.
    """

    def __init__(self, longest_seconds: float) -> None:
        self._longest = longest_seconds
        self.ended: list[EndedSpans] = []
        self._held: list[_Held] = []

    def hold(self, link: LinkKey, owner: ProcessKey, name: SpanName, began: Floats) -> None:
        """Let these spans wait for ``link``."""
        if began.size:
            self._held.append(_Held(link, owner, name, began))

    def release(
        self, links: Mapping[LinkKey, Link], alive: Mapping[ProcessKey, object], start: float, spans: SpanBook
    ) -> None:
        """Export what has come to an end by ``start``: answered if the link works again, else as errors.

        Spans of processes that are gone went with them.
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

    def _export(self, held: _Held, now: float, failed: bool, spans: SpanBook) -> None:
        began = held.began
        if began.size:
            self.ended.append(EndedSpans(held.owner, held.name, began, now, failed))
        spans.record(held.name, np.full(began.size, now), now - began, np.full(began.size, failed))
