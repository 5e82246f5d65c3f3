"""Many trials, several at a time, while the operator of the lab is killed again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from scenario_kit.catalog import Catalog
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host.procfs import read_anonymous_bytes
from scenario_kit.lab.host.state import LabState
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from tools.crash.operator_process import OperatorProcess
from tools.crash.play import await_namespace_end, await_trial_end, await_true, play_operation, play_scenario
from tools.resilience.soak_plan import KILLED_SHARE, MemorySample, SoakResult, SoakTrial, draw_pauses, draw_trials

_SAMPLE_SECONDS: Final = 5.0
_CLEAN_SECONDS: Final = 120.0


class Soak:
    """A soak of a lab whose operator is ``operator``. Results and samples so far may be read at any time."""

    def __init__(self, lab: str, operator: OperatorProcess, catalog: Catalog) -> None:
        self.results: list[SoakResult] = []
        self.samples: list[MemorySample] = []
        self.kills = 0
        self._lab = lab
        self._operator = operator
        self._catalog = catalog
        self._cluster = KubeCluster(kubeconfig=Path(LabState.load(lab).kubeconfig))
        self._over = threading.Event()

    def run(self, number: int, seed: int, *, parallel: int, minutes: float, say: Callable[[SoakResult], None]) -> None:
        """Play so many trials, or as many as begin in that time, and wait until all of them are gone."""
        end = time.monotonic() + 60 * minutes

        def play(trial: SoakTrial) -> None:
            if time.monotonic() < end and not self._over.is_set():
                result = self._play(trial)
                self.results.append(result)
                say(result)

        def has_enough_kills() -> bool:
            spent = 1 - (end - time.monotonic()) / (60 * minutes)
            return max(len(self.results) / number, spent) >= KILLED_SHARE

        with self._observe(), self._kill(seed, has_enough_kills), ThreadPoolExecutor(parallel) as pool:
            try:
                for done in [pool.submit(play, trial) for trial in draw_trials(number, seed)]:
                    done.result()
            finally:
                self._over.set()

    def list_left(self) -> list[str]:
        """List leftovers of all trials, after waiting for their removal."""
        left: list[str] = []

        def is_clean() -> bool:
            left[:] = self._list_left()
            return not left

        await_true(is_clean, _CLEAN_SECONDS)
        return left

    def _list_left(self) -> list[str]:
        cluster = self._cluster
        trials = cluster.list("Trial", MANAGEMENT_NAMESPACE, group=GROUP)
        records = [
            each
            for kind in ("ConfigMap", "Secret")
            for each in cluster.list(kind, MANAGEMENT_NAMESPACE)
            if TRIAL_LABEL in (each["metadata"].get("labels") or {})
        ]
        homes = [n for n in cluster.list("Namespace") if n["metadata"]["name"].startswith(("otel-demo", "hotel"))]
        found = [f"{each.get('kind', 'Record')}/{each['metadata']['name']}" for each in (*trials, *records, *homes)]
        return found + [f"World/{world['trial']}" for world in lifecycle.list_worlds(LabState.load(self._lab))]

    def _play(self, trial: SoakTrial) -> SoakResult:
        began = time.monotonic()
        if trial.operation:
            played = play_operation(self._cluster, trial.operation, self._catalog, trial.number)
        else:
            played = play_scenario(self._cluster, trial.scenario, self._catalog, trial.number)
        took = time.monotonic() - began
        left = await_trial_end(self._lab, self._cluster, played) + await_namespace_end(self._cluster, played)
        return SoakResult(
            trial=trial, outcome=played.outcome, message=played.message[:300], seconds=round(took, 1), left=tuple(left)
        )

    @contextmanager
    def _kill(self, seed: int, has_enough: Callable[[], bool]) -> Iterator[None]:
        def kill() -> None:
            for pause in draw_pauses(seed):
                if self._over.wait(pause) or has_enough():
                    return
                self._operator.kill()
                self.kills += 1

        yield from _run_beside(kill)

    @contextmanager
    def _observe(self) -> Iterator[None]:
        def observe() -> None:
            while not self._over.wait(_SAMPLE_SECONDS):
                parts = {p.name: read_anonymous_bytes(p.pid) for p in LabState.load(self._lab).parts if p.pid}
                sample = MemorySample(trials=len(self.results), operator=self._operator.starts, parts=parts)
                if all(parts.values()):  # an operator that was just killed has none
                    self.samples.append(sample)

        yield from _run_beside(observe)


def _run_beside(work: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def describe_ends(results: Sequence[SoakResult]) -> str:
    """Describe how many trials ended how, and how long one took."""
    ends = [
        f"{sum(r.outcome == end for r in results)} {end or 'no end'}" for end in sorted({r.outcome for r in results})
    ]
    longest = max((r.seconds for r in results), default=0.0)
    return f"{len(results)} trials ({', '.join(ends)}), at most {longest} s"
