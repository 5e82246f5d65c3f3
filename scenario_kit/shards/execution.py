"""Run one shard: validate its scenarios one after another, and store each result at once.

Scenarios with a result for the same digest are skipped, so a shard can be interrupted at any time: by Ctrl-C, by the
preemption of its pod, or by SIGKILL. Scenarios that were started before come last, so that one that kills its pod, for
example by using all memory of a node, does not block the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from scenario_kit.campaign import Polling
from scenario_kit.campaign.results.verdict import LACKING
from scenario_kit.errors import InfrastructureError, ScenarioKitError, Unreachable, translate_exhaustion
from scenario_kit.model import Verdict
from scenario_kit.report import Report
from scenario_kit.report.document import format_timestamp
from scenario_kit.shards.assessment import AssessedResult, assess_result
from scenario_kit.shards.result_store import ResultStore, find_result
from scenario_kit.shards.results import RESULT_VERSION, ShardResult, StoredResult, pack_report
from scenario_kit.shards.work_list import WorkItem, WorkList

#: Seconds between attempts to store a result.
_RETRY_SECONDS: Final = 5.0
#: Validates a scenario to its verdict.
Validate = Callable[[WorkItem], Report]


class ShardTally(NamedTuple):
    """Numbers of scenarios with a result and with one of an earlier run, and the names of those without."""

    ended: int = 0
    kept: int = 0
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShardRun:
    """One run of one shard.

    ``say`` reports progress in lines; ``pod`` is the name of this machine.
    """

    work: WorkList
    store: ResultStore
    validate: Validate
    say: Callable[[str], None]
    pod: str = ""
    polling: Polling = field(default_factory=Polling)
    clock: Callable[[], float] = time.monotonic

    def run(self, shard: int) -> ShardTally:
        """Validate the scenarios of a shard that have no result yet.

        Raises:
            UsageError: there is no such shard.
            InfrastructureError: results cannot be stored.
            KeyboardInterrupt: the run was interrupted; stored results remain.
        """
        items = self.work.select(shard)
        pending = order_pending([self._assess(item) for item in items])
        kept = len(items) - len(pending)
        if kept:
            self.say(f"{kept} of {len(items)} scenarios have a result already")
        failed = []
        for number, earlier in enumerate(pending, start=1):
            item = earlier.item
            self.say(f"{number} of {len(pending)}: {item.scenario}, {item.trials} trials, about {item.seconds:.0f} s")
            result = self._validate_item(item, earlier.attempts)
            self.say(f"{item.scenario}: {result.verdict or 'no verdict'} after {result.seconds:.0f} s")
            if result.state == "Failed":
                failed.append(item.scenario)
        return ShardTally(len(items) - len(failed), kept, tuple(failed))

    def _assess(self, item: WorkItem) -> AssessedResult:
        """Assess the result of an earlier run."""
        assessed = assess_result(self.work, item, find_result(self.store, self.work.name, item.scenario))
        if assessed.standing in ("Stale", "Refused"):
            self.say(f"{item.scenario}: the stored result does not count: {assessed.reason}")
            return assessed._replace(attempts=0)
        return assessed

    def _validate_item(self, item: WorkItem, attempts: int) -> ShardResult:
        began = self.clock()
        opening = ShardResult(
            schema_version=RESULT_VERSION, work=self.work.name, catalogue=self.work.catalogue, scenario=item.scenario,
            digest=item.digest, shard=item.shard, state="Begun", attempts=attempts + 1, pod=self.pod,
            at=format_timestamp(),
        )  # fmt: skip
        self._write(StoredResult(opening))
        try:
            stored = describe_report(opening, self.validate(item))
        except KeyboardInterrupt:  # preempted: not the scenario's fault
            with suppress(InfrastructureError):  # only seconds are left, and ended scenarios are stored
                self.store.write(StoredResult(msgspec.structs.replace(opening, attempts=attempts)))
            raise
        except Exception as error:  # noqa: BLE001 - a bug must cost one result only
            stored = StoredResult(describe_error(opening, translate_exhaustion(error) or error))
        return self._finish(stored, began)

    def _finish(self, stored: StoredResult, began: float) -> ShardResult:
        took = round(self.clock() - began, 1)
        result = msgspec.structs.replace(stored.result, seconds=took, at=format_timestamp())
        self._write(stored._replace(result=result))
        return result

    def _write(self, stored: StoredResult) -> None:
        """Write a result; retry if the API server is unreachable, since a result may have taken an hour."""
        began = self.polling.clock()
        while True:
            try:
                self.store.write(stored)
            except Unreachable as error:
                if self.polling.clock() - began > self.polling.patience:
                    raise
                self.say(f"the result is not stored yet: {error}")
                self.polling.pause(_RETRY_SECONDS)
            else:
                return


def order_pending(assessed: Sequence[AssessedResult]) -> list[AssessedResult]:
    """Return the scenarios without a collected result, fewest attempts first."""
    pending = [each for each in assessed if each.standing != "Collected"]
    return sorted(pending, key=lambda each: each.attempts)


def describe_error(opening: ShardResult, problem: Exception) -> ShardResult:
    """Build the result for an error; the scenario is not at fault if infrastructure failed."""
    if isinstance(problem, InfrastructureError):
        return msgspec.structs.replace(opening, state="Failed", verdict=Verdict.NOT_EVALUATED, message=str(problem))
    known = isinstance(problem, ScenarioKitError)
    reported = str(problem) if known else f"{type(problem).__name__}: {problem}"
    verdict = Verdict.FAIL if getattr(problem, "exit_code", 3) == 1 else Verdict.KIT_ERROR
    return msgspec.structs.replace(opening, state="Ended", verdict=verdict, message=reported)


def describe_report(opening: ShardResult, report: Report) -> StoredResult:
    """Build the result for a report. If it was not evaluated, infrastructure failed, unless a capability is missing."""
    validation = report.validation
    lacks = any(finding.code == LACKING for finding in validation.findings)
    failed = validation.verdict == Verdict.NOT_EVALUATED and not lacks
    packed, digest = pack_report(report)
    result = msgspec.structs.replace(
        opening, state="Failed" if failed else "Ended", verdict=validation.verdict, message=validation.headline,
        report_digest=digest,
    )  # fmt: skip
    return StoredResult(result, packed)
