"""A fake metrics engine with results from the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from scenario_kit.errors import MetricsError
from scenario_kit.ports import Series

Sample = tuple[Mapping[str, str], float]
#: Returns the result of an expression at an instant; it may raise ``MetricsError``.
Respond = Callable[[str, float], Iterable[Sample]]


class FakeMetrics:
    """Implements ``ports.Metrics``: a range is one call per step, and fails if one of them fails.

    Args:
        respond: returns the result of an expression at an instant.
    """

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        #: While true, every query fails like with an unreachable server.
        self.down = False
        #: Every queried expression, in order.
        self.queries: list[str] = []

    @classmethod
    def matching(cls, answers: Mapping[str, Callable[[float], Iterable[Sample]]]) -> FakeMetrics:
        """Create a fake whose result is that of the first key contained in the expression, otherwise empty."""

        def respond(expr: str, at: float) -> Iterable[Sample]:
            generator = next((g for key, g in answers.items() if key in expr), None)
            return generator(at) if generator else ()

        return cls(respond)

    def range(self, expr: str, start: float, end: float, step: float) -> Sequence[Series]:
        """Evaluate at start, start + step … up to and including end."""
        self._ask(expr)
        points: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
        for index in range(int((end - start) // step) + 1):
            at = start + index * step
            for labels, value in self._respond(expr, at):
                points.setdefault(tuple(sorted(labels.items())), []).append((at, value))
        return [Series(dict(labels), values) for labels, values in points.items()]

    def instant(self, expr: str, at: float) -> Sequence[Series]:
        """Evaluate once; each series has one point."""
        self._ask(expr)
        return [Series(dict(labels), [(at, value)]) for labels, value in self._respond(expr, at)]

    def _ask(self, expr: str) -> None:
        self.queries.append(expr)
        if self.down:
            raise MetricsError("connection refused", fix="set FakeMetrics.down to False")
