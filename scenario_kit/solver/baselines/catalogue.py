"""The baselines by name: what each one reads, and its ranking."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.solver.baselines.cluster_state import ClusterState
from scenario_kit.solver.baselines.observation import (
    WORKLOAD_KINDS,
    Observation,
    read_alerts,
    read_calls,
    read_json,
    read_objects,
    read_spans,
    read_state,
)
from scenario_kit.solver.baselines.rankings import (
    rank_by_change,
    rank_by_loudness,
    rank_by_onset,
    rank_by_random_walk,
    rank_by_spectrum,
)
from scenario_kit.solver.baselines.runbook import consult_runbook
from scenario_kit.solver.protocol.messages import (
    EndMessage,
    KitMessage,
    SolverMessage,
    StartMessage,
    StopMessage,
    SubmitMessage,
    build_answer,
)

#: Kinds that recent-change considers.
CHANGING_KINDS: Final = (*WORKLOAD_KINDS, "Service", "ConfigMap", "NetworkPolicy", "HorizontalPodAutoscaler")


class Reads(NamedTuple):
    """The data that a baseline reads besides alerts."""

    kinds: tuple[str, ...] = WORKLOAD_KINDS
    calls: bool = False
    spans: bool = False
    state: bool = False


class BaselineSolver(NamedTuple):
    """A solver without a model. It diagnoses only, and repairs nothing."""

    title: str
    reads: Reads
    rank: Callable[[Observation], Sequence[str]]

    def script(self, start: StartMessage) -> Generator[SolverMessage, KitMessage, None]:
        """Read, blame the object ranked first, and stop."""
        seen = yield from observe(self.reads)
        ranked = self.rank(seen)
        answer = build_answer([f"{start.namespaces[0]}/{name}" for name in ranked[:1]], self.title)
        ended = yield SubmitMessage(answer=answer)
        if not isinstance(ended, EndMessage):
            yield StopMessage(reason="a baseline of diagnosis repairs nothing")


def observe(reads: Reads) -> Generator[SolverMessage, KitMessage, Observation]:
    """Read the observation of a baseline."""
    alerts = yield from read_alerts()
    objects = yield from read_objects(reads.kinds)
    calls = (yield from read_calls()) if reads.calls else ()
    services = ((yield from read_json("get_services")) or {"items": []})["items"] if reads.spans else []
    spans = (yield from read_spans(services)) if reads.spans else ()
    state = (yield from read_state()) if reads.state else ClusterState()
    return Observation(alerts=alerts, objects=objects, calls=calls, spans=spans, state=state)


#: All baselines.
BASELINES: Final[Mapping[str, BaselineSolver]] = {
    "loudest-alert": BaselineSolver("most alerts fire on it", Reads(), rank_by_loudness),
    "earliest-alert": BaselineSolver("its alert was active first", Reads(), rank_by_onset),
    "random-walk": BaselineSolver(
        "a walk from the alerts along failing calls ends here", Reads(calls=True, spans=True), rank_by_random_walk
    ),
    "recent-change": BaselineSolver("it was changed last", Reads(kinds=CHANGING_KINDS), rank_by_change),
    "runbook": BaselineSolver(
        "the first check of a runbook that finds something points here",
        Reads(kinds=CHANGING_KINDS, calls=True, spans=True, state=True),
        consult_runbook,
    ),
    "spectrum": BaselineSolver("failing traces go through it, others do not", Reads(spans=True), rank_by_spectrum),
}
