"""Tries pairs in a lab, in virtual time: one fault, active long enough for every rule to fire."""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from scenario_kit.campaign import PlannedTrial
from scenario_kit.campaign.planning.concurrency import limit_concurrency
from scenario_kit.campaign.planning.plans import TRY
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.draft import Answers, draft
from scenario_kit.errors import InfrastructureError, LabError
from scenario_kit.judge.capabilities import find_unmet_needs
from scenario_kit.lab.capabilities import offers_capability
from scenario_kit.load import load_scenario
from scenario_kit.model import Scenario, Severity, TrialStep
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.model.results.matrix import MatrixRow
from tools.matrix.pairs import Pair
from tools.matrix.record import list_fired, list_still_firing
from tools.trials import TrialBench

#: Seconds that a fault is active: a stuck rollout is detected after 600 s, and its rule has `for: 300s`.
HELD_SECONDS: Final = 1200
_SEED: Final = 1


class Bench(TrialBench):
    """A lab, and the catalogue of the pairs."""

    def attempt(self, pair: Pair, *, alone: bool) -> MatrixRow | None:
        """Inject, observe and remove a fault; infrastructure failures are recorded, too.

        Args:
            pair: the pair to try.
            alone: whether no other trial runs; if not, returns None for a fault that reaches beyond its app.

        Raises:
            LabError: the lab is gone.
        """
        try:
            return self._run_attempt(pair, alone)
        except LabError:
            raise
        except InfrastructureError as error:
            return build_row(pair, "Infra", reported=f"{type(error).__name__}: {error}"[:600])

    def _run_attempt(self, pair: Pair, alone: bool) -> MatrixRow | None:
        started = time.monotonic()
        scenario = self._draft_scenario(pair)
        sample = self.resolve(scenario, "app", 100)
        lacks = find_unmet_needs(
            sample.faults, sample.app, list_capabilities(self._catalog), offers_capability, sample.requires
        )
        if lacks:
            return build_row(pair, "Lacking", reported="; ".join(sorted({f"{x.need}: {x.because}" for x in lacks})))
        if not alone and limit_concurrency(sample, 2) == 1:
            return None
        planned = PlannedTrial(
            purpose="matrix", describe="one fault, nothing else", steps=list_steps(sample.faults[0].name), seed=_SEED
        )
        (result,) = self.run([planned], TRY, scenario, sample.digest)
        return msgspec.structs.replace(
            build_judged_row(pair, result), wall_seconds=round(time.monotonic() - started, 1)
        )

    def _draft_scenario(self, pair: Pair) -> Scenario:
        """Draft the scenario as ``new`` does, but without expectations."""
        answers = Answers(pair.app, pair.version, pair.target, pair.fault, outcome="Incident")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scenario.yaml"
            path.write_text(draft(answers, self._catalog).text)
            scenario = load_scenario(path).scenario
        return msgspec.structs.replace(scenario, spec=msgspec.structs.replace(scenario.spec, expect=Expect()))


def list_steps(fault: str) -> tuple[TrialStep, ...]:
    """Return the steps of a pair's trial."""
    return (
        TrialStep(kind="deploy"),
        TrialStep(kind="expectQuiet"),
        TrialStep(kind="inject"),
        TrialStep(kind="hold", seconds=HELD_SECONDS),
        TrialStep(kind="change", use="RemoveFault", name=fault),
        TrialStep(kind="expectCleared", use="RemoveFault", name=fault),
        TrialStep(kind="teardown"),
        TrialStep(kind="expectClean"),
    )


def build_judged_row(pair: Pair, result: TrialResult) -> MatrixRow:
    """Convert the result of a pair's trial to a row."""
    by_kind = {str(s.step).split()[0]: s for s in result.steps}
    injection, hold, cleared = (by_kind.get(kind) for kind in ("inject", "hold", "expectCleared"))
    if result.outcome == "Infra" or injection is None or result.history is None or result.injected_at is None:
        if injection is not None and injection.outcome == "Broken":  # refused before anything was created
            return build_row(
                pair, "NoEffect", reported=_format_errors(result), clean=_is_held(by_kind.get("expectClean"))
            )
        return build_row(
            pair, "Infra", reported=result.message or _format_errors(result) or "the trial left no evidence"
        )
    proven = tuple(c.describe for c in injection.checks if c.answer == "True")
    facts: dict[str, Any] = {"proven": proven, "clean": _is_held(by_kind.get("expectClean"))}
    if hold is None or hold.outcome == "Skipped" or injection.outcome != "Held":
        return build_row(pair, "NoEffect", reported=_format_errors(result), **facts)
    injected = result.injected_at
    until = hold.finished_at or result.history.end
    # A fault without visible effect, or whose effect the app undoes, is a valid result as well.
    lasting = (
        list_still_firing(result.history, injected, cleared.finished_at) if cleared and cleared.finished_at else []
    )
    undone = _is_held(by_kind.get("teardown")) is not False
    return build_row(
        pair,
        "Ran",
        alerts=list_fired(result.history, injected, until),
        effective_seconds=None if injection.finished_at is None else injection.finished_at - injected,
        recovered=bool(_is_held(cleared)) and not lasting and undone,
        observed_seconds=round(until - injected),
        reported="; ".join(
            filter(None, [_format_errors(result), f"still firing: {', '.join(lasting)}" if lasting else ""])
        ),
        **facts,
    )


def build_row(pair: Pair, outcome: Any, **facts: Any) -> MatrixRow:
    """Build a row with today's date."""
    return MatrixRow(**pair._asdict(), outcome=outcome, date=datetime.now(UTC).date(), **facts)


def _is_held(step: Any) -> bool | None:
    return None if step is None or step.outcome in ("Skipped", "Running") else step.outcome == "Held"


def _format_errors(result: TrialResult) -> str:
    """Return the errors. Unexpected alerts are warnings, since the scenario declares none."""
    wrong = [f for f in result.findings if f.severity == Severity.ERROR]
    reported = [f"{f.message}: {f.observed}" if f.observed else f.message for f in wrong]
    return "; ".join(dict.fromkeys(reported))[:600]
