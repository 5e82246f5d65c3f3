"""CPU and memory of processes: demand, throttling, growth, and OOM kills (docs/fidelity.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.lab.twin.numeric.cpu_windows import CpuWindows, open_windows
from scenario_kit.lab.twin.numeric.random_streams import Streams, hash_text
from scenario_kit.lab.twin.numeric.serial_queue import compute_wait
from scenario_kit.lab.twin.process.process import Process, ProcessKey, list_injected
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.model.chaos.effects import ContainerEffect, Ledger
from scenario_kit.model.runtime.process import Exit, Usage
from scenario_kit.model.twin.definition import TwinConstants

_MIB = 2.0**20
_IDLE_MILLICORES = 2.0
_IDLE_MIB = 15.0
_WORST = 50.0
#: The share of CPU that a program gets beside any number of busy threads, as measured (docs/fidelity.md).
_SHARE_OF_SLEEPERS: Final = 0.5
#: A size of the memory stressor: a number, a prefix of the SI, and an ``i`` for binary ones.
_SIZE: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgtpe])(i?))?b?")
#: The memory of a simulated node.
NODE_MEMORY_BYTES: Final = 32.0 * 2.0**30


class Stress:
    """The usage of stressors in a container: their load in cores, and their memory.

    Workers of a memory stressor share its size; they touch all of it at once.
    """

    def __init__(self, effects: Iterable[ContainerEffect]) -> None:
        self.cores = 0.0
        self.bytes = 0.0
        for effect in effects:
            flags = effect.arguments
            if flags.get("resource") == "memory":
                self.bytes += parse_stress_size(str(flags.get("size") or ""))
            else:
                load = flags.get("cpu-load")
                self.cores += float(flags.get("cpu") or 0) * (100.0 if load is None else float(load)) / 100.0


def stress(ledger: Ledger, process: Process) -> Stress:
    """Return the stressors in a process's container."""
    return Stress(list_injected(process, ledger, "Stress"))


def compute_slowdown(load: float) -> float:
    """Return the slowdown of own time at CPU utilisation ``load``: 1/(1-ρ) above ρ = 0.7, at most 50."""
    if load <= 0.7:
        return 1.0
    return _WORST if load >= 1.0 - 1.0 / _WORST else 1.0 / (1.0 - load)


class Contention(NamedTuple):
    """What a program and busy threads beside it may use, in cores.

    ``limit`` is the container's, at most the node's ``cores``; ``threads`` is how many of the program's threads can run
    at a time, ``others`` what stressors and endlessly busy threads would take.
    """

    limit: float
    cores: float
    threads: float
    others: float

    @property
    def share(self) -> float:
        """The cores that the program gets at least.

        What the others leave is the program's. Beyond that, it runs in turn with them, however many they are: a thread
        that wakes up runs before those that never sleep, and one of those runs before it has its next turn.
        """
        return min(max(self.limit - self.others, self.limit * _SHARE_OF_SLEEPERS), self.threads)

    def open_windows(self, required: float, phase: float) -> CpuWindows | None:
        """Return the windows in which the container runs; None while the others leave what the program needs."""
        busy = required + self.others
        if not self.others or busy <= self.limit:
            return None
        return open_windows(self.limit, self.cores, busy, phase)


class Resources:
    """Account for resource usage of processes."""

    def __init__(self, constants: TwinConstants, streams: Streams) -> None:
        self._constants = constants
        self._streams = streams

    def account(
        self,
        processes: Sequence[Process],
        effects: Mapping[ProcessKey, Sequence[Active]],
        connections: Mapping[ProcessKey, int],
        ledger: Ledger,
        now: float,
        dt: float,
    ) -> tuple[dict[tuple[str, str], Usage], list[Exit]]:
        """Return the usage of each container in the ``dt`` seconds up to ``now``, and OOM-killed processes.

        Updates the slowdown, queue and CPU windows of each process.
        """
        usage: dict[tuple[str, str], Usage] = {}
        exits: list[Exit] = []
        for process in processes:
            taken = stress(ledger, process)
            busy = sum(effect.busy_cores for effect in effects.get(process.key, ())) + _compute_startup_cores(
                process, now - dt
            )
            cpu, throttled = self._cpu(process, busy, taken, dt)
            memory = self.memory(process, connections.get(process.key, 0)) + taken.bytes
            memory += sum(effect.held_bytes for effect in effects.get(process.key, ()))
            limit = process.limit("memory")
            if limit is not None and memory > limit and not process.ended:
                process.ended = True
                memory = limit
                exits.append(Exit(process.key.pod_uid, process.key.container, 137, "OOMKilled"))
            usage[process.key.pod_uid, process.key.container] = Usage(cpu, memory, throttled)
            process.cpu_seconds = 0.0
        return usage, exits

    def _cpu(self, process: Process, busy: float, taken: Stress, dt: float) -> tuple[float, float]:
        model = process.model
        idle = (model.idle_millicores if model else _IDLE_MILLICORES) / 1000.0 if not process.idle else 0.0
        wobble = 1.0 + 0.05 * (2.0 * self._noise(process, "cpu") - 1.0)
        required = (idle + process.cpu_seconds / dt) * wobble
        cores = self._constants.node_cores
        limit = process.cores
        contention = Contention(
            limit=min(limit or cores, cores),
            cores=cores,
            threads=min(process.threads or cores, cores),
            others=taken.cores + busy,
        )
        load = required / contention.share
        process.slow = compute_slowdown(load)
        process.queued = compute_wait(process.queued, load, dt)
        process.windows = contention.open_windows(required, self._noise(process, "cpu window"))
        process.bursts = 1.0 + process.called / process.served if process.served else 1.0
        process.called = process.served = 0
        demand = required + contention.others
        throttled = min(max(demand / contention.limit - 0.6, 0.0) / 0.4, 1.0) if limit is not None else 0.0
        return min(demand, contention.limit), throttled

    def memory(self, process: Process, connections: int) -> float:
        """Return the memory of a process in bytes."""
        model = process.model
        if process.idle:
            return 0.5 * _MIB
        base = model.memory_mib if model else _IDLE_MIB
        extra = model.connection_mib * connections if model else 0.0
        wobble = 1.0 + 0.02 * (2.0 * self._noise(process, "memory") - 1.0)
        return (base * wobble + extra) * _MIB + process.leak + process.crowd_bytes

    def _noise(self, process: Process, what: str) -> float:
        name = process.component or process.key.container
        return self._streams.single(hash_text(f"{what} {name}"), process.ordinal)


def _compute_startup_cores(process: Process, start: float) -> float:
    """Return the cores used for start-up in a tick that starts at ``start``."""
    took = process.start_seconds
    if process.ended or not took or not start < process.ready_at < float("inf"):
        return 0.0
    return process.start_cpu / took


def parse_stress_size(text: str) -> float:
    """Return the bytes of a memory stressor's size: ``256MB`` is decimal, ``256MiB`` binary, as the stressor reads it.

    It allocates nothing if it cannot read a size; a percentage is of the node's memory.
    """
    word = text.replace(",", "").strip().lower()
    match = _SIZE.fullmatch(word.removesuffix("%"))
    if match is None:
        return 0.0
    if word.endswith("%"):
        return NODE_MEMORY_BYTES * float(match[1]) / 100.0
    power = " kmgtpe".index(match[2]) if match[2] else 0
    return float(match[1]) * (1024.0 if match[3] else 1000.0) ** power
