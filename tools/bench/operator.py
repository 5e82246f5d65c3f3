"""Start, work and idle load of the operator."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import Rejected
from scenario_kit.lab.host import supervisor
from scenario_kit.lab.lifecycle import bring_up
from scenario_kit.lab.process_specs import OPERATOR, list_specs
from scenario_kit.load.yaml.document import parse
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from tools.bench.commands import await_condition, time_command
from tools.bench.drafts import generate_drafts
from tools.bench.processes import read_cpu_seconds, read_resident_mb

#: The lab of the measurement, and the seconds over which the idle load is averaged.
_LAB: Final = "bench-idle"
_IDLE_SECONDS: Final = 60.0

Rows = list[tuple[str, str]]


def measure_idle(count: int) -> Rows:
    """Measure the operator: start, first reconciliation of that many suspended Scenarios, and idle load."""
    try:
        bench = OperatorBench(_LAB, generate_drafts(2 * count))
        rows = [*bench.measure_start(), *bench.measure_reconciliation(count), *bench.measure_idle_load()]
        return [*rows, *bench.measure_deletion()]
    finally:
        time_command("lab", "down", "--name", _LAB)


class OperatorBench:
    """The operator of a lab, which is restarted with one Scenario; ``drafts`` yields names and texts of others."""

    def __init__(self, lab: str, drafts: Iterator[tuple[str, str]]) -> None:
        self._state = bring_up(lab)
        self._admin = KubeCluster(kubeconfig=Path(self._state.kubeconfig))
        self._drafts = drafts
        self._pid = 0

    def measure_start(self) -> Rows:
        """Restart the operator with one Scenario in the cluster."""
        before = self._state.part(OPERATOR)
        assert before is not None, f"lab {self._state.name} has no operator"
        supervisor.end(before)
        self._create("first", next(self._drafts)[1])
        began = time.perf_counter()
        part = supervisor.start(list_specs()[OPERATOR](self._state, {}), before, self._state.folder)
        self._state.with_part(part).save()
        self._pid = part.pid
        await_condition(lambda: self._count_reconciled() == 1)
        return [
            ("from start to first reconciliation", f"{time.perf_counter() - began:.1f} s"),
            ("memory then", self._format_memory()),
        ]

    def measure_reconciliation(self, count: int) -> Rows:
        """Create Scenarios until there are so many, and wait until all are reconciled."""
        spent, began = read_cpu_seconds(self._pid), time.perf_counter()
        made = 1
        while made < count:
            made += self._create(*next(self._drafts))
        await_condition(lambda: self._count_reconciled() == count)
        return [
            (f"until {count} are reconciled", f"{time.perf_counter() - began:.1f} s"),
            ("CPU for that", f"{read_cpu_seconds(self._pid) - spent:.1f} s"),
        ]

    def measure_idle_load(self) -> Rows:
        """Measure memory and CPU while nothing changes."""
        time.sleep(_IDLE_SECONDS / 6)  # let follow-up work finish
        spent = read_cpu_seconds(self._pid)
        time.sleep(_IDLE_SECONDS)
        memory = self._format_memory()
        share = 100 * (read_cpu_seconds(self._pid) - spent) / _IDLE_SECONDS
        return [("idle: memory", memory), ("idle: share of a core", f"{share:.1f} %")]

    def measure_deletion(self) -> Rows:
        """Delete all Scenarios, and wait until they are gone."""
        began = time.perf_counter()
        for each in self._list_scenarios():
            self._admin.delete(Reference("Scenario", each["metadata"]["name"], MANAGEMENT_NAMESPACE, GROUP))
        await_condition(lambda: not self._list_scenarios())
        return [
            ("until all are deleted", f"{time.perf_counter() - began:.1f} s"),
            ("memory afterwards", self._format_memory()),
        ]

    def _create(self, scenario: str, text: str) -> bool:
        """Create a suspended Scenario; return False if the webhook refuses it because a fault has cluster scope."""
        document = parse(text, scenario).data
        document["metadata"] |= {"name": scenario, "namespace": MANAGEMENT_NAMESPACE}
        document["spec"]["suspend"] = True
        try:
            self._admin.create(document)
        except Rejected:
            return False
        return True

    def _list_scenarios(self) -> list[Object]:
        return list(self._admin.list("Scenario", MANAGEMENT_NAMESPACE, group=GROUP))

    def _count_reconciled(self) -> int:
        return sum(bool((each.get("status") or {}).get("conditions")) for each in self._list_scenarios())

    def _format_memory(self) -> str:
        return f"{read_resident_mb(self._pid):.0f} MB"
