"""Plan the next action of a Scenario. Pure: object × its trials → action and status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from scenario_kit.campaign.trial_store import read_status
from scenario_kit.model import Finding, Object
from scenario_kit.model.authored.scenario import Outcome
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.trial import Condition, ConditionRow, TrialStatus, set_conditions

#: Conditions of a Scenario, all set by the first reconciliation.
CONDITIONS: Final = (
    "Accepted", "AppReady", "BaselineQuiet", "FaultsInjected", "SymptomsPresent", "Resolved", "Ready",
)  # fmt: skip
#: Conditions that a Scenario copies from its trial.
MIRRORED: Final = ("AppReady", "BaselineQuiet", "FaultsInjected", "SymptomsPresent", "Resolved")
#: Label of a trial with its attempt number at the same incident.
ATTEMPT_LABEL: Final = "scenariokit.io/attempt"
#: Initial and maximum back-off, in seconds, before a trial that infrastructure failed is restarted.
_INITIAL_BACKOFF: Final = 10.0
_MAX_BACKOFF: Final = 300.0
#: Codes of trials that this cluster or version can never run, so retrying is pointless.
_PERMANENT: Final = ("SK901", "SK911")
Truth = Literal["True", "False", "Unknown"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a Scenario is not accepted; ``findings`` lists the author's mistakes."""

    reason: str
    message: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class DesiredTrial:
    """The desired trial of an accepted Scenario; ``digest`` covers its causal parts."""

    digest: str
    suspended: bool
    outcome: Outcome = "Incident"


@dataclass(frozen=True, slots=True)
class CreateTrial:
    """Create the trial of this generation; ``attempt`` is 1 plus the number of infrastructure failures."""

    trial: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete an outdated trial; its successor is created once it is gone."""

    trial: str


@dataclass(frozen=True, slots=True)
class ShowTrial:
    """Only mirror the trial's status; ``again`` is the wall time of the next due action, if any."""

    again: float | None = None


Action = CreateTrial | Remove | ShowTrial


def plan(
    name: str,
    generation: int,
    desired: DesiredTrial | None,
    trials: Sequence[Object],
    *,
    ended: int = 0,
    now: float = 0,
) -> Action:
    """Choose the next action: one trial per digest, so edits to app, faults or load replace it, text edits do not.

    A trial that infrastructure failed is removed and restarted with exponential back-off of up to five minutes.

    Args:
        name: the Scenario's name.
        generation: the generation of its spec.
        desired: the desired trial; None if the Scenario is refused.
        trials: the existing trials of the Scenario.
        ended: the number of earlier attempts at the desired trial, from the Scenario's status.
        now: wall time, in seconds since the epoch.
    """
    current = [t for t in trials if desired and not desired.suspended and t["spec"]["digest"] == desired.digest]
    stale = [t for t in trials if t not in current or is_terminating(t)]
    if stale:
        return Remove(stale[0]["metadata"]["name"])
    if current and (due := compute_restart(current[0])) is not None:
        return ShowTrial(due) if now < due else Remove(current[0]["metadata"]["name"])
    if desired is None or desired.suspended or current:
        return ShowTrial()
    attempt = ended + 1
    return CreateTrial(f"{name}-g{generation}" + (f"-{attempt}" if ended else ""), attempt)


def read_attempt(trial: Object) -> int:
    """Return the attempt number of a trial, from 1."""
    return int((trial["metadata"].get("labels") or {}).get(ATTEMPT_LABEL, 1))


def compute_restart(trial: Object) -> float | None:
    """Compute the wall time at which a trial restarts; None if it does not.

    A trial restarts after an infrastructure failure, unless the cluster can never run it.
    """
    status = read_status(trial)
    if status.outcome != "Infra" or any(f.code in _PERMANENT for f in status.findings):
        return None
    over = next((c.last_transition_time for c in status.conditions if c.type == "Succeeded"), None)
    pause: float = min(_INITIAL_BACKOFF * 2.0 ** (read_attempt(trial) - 1), _MAX_BACKOFF)
    return (over.seconds if over else 0.0) + pause


def build_conditions(
    before: Sequence[Condition],
    generation: int,
    refusal: Refusal | None,
    desired: DesiredTrial | None,
    trial: TrialStatus | None,
    restart: float | None = None,
) -> tuple[Condition, ...]:
    """Build the conditions of a Scenario from its trial's status and restart time (wall time)."""
    return set_conditions(before, _build_rows(refusal, desired, trial, restart), generation, CONDITIONS)


def _build_rows(
    refusal: Refusal | None, desired: DesiredTrial | None, trial: TrialStatus | None, restart: float | None
) -> Iterator[ConditionRow]:
    if refusal is not None:
        yield "Accepted", "False", refusal.reason, refusal.message
    else:
        yield "Accepted", "True", "Valid", ""
    mirrored = {c.type: c for c in trial.conditions} if trial else {}
    waiting = "NotAccepted" if refusal else "Suspended" if desired and desired.suspended else "Pending"
    nothing = desired is not None and desired.outcome == "NoIncident"
    for type in MIRRORED:
        found = mirrored.get(type)
        if found is not None:
            yield type, found.status, found.reason, found.message
        elif nothing and not refusal and type in _NOTHING:
            yield type, "False", *_NOTHING[type]
        else:
            yield type, "Unknown", waiting, ""
    answer, reason, message = _judge_readiness(refusal, desired, trial, mirrored)
    if restart is not None:
        message = f"{message or _find_failure(trial)}; restarts at {format_timestamp(restart)}"
    yield "Ready", answer, reason, message


def _find_failure(trial: TrialStatus | None) -> str:
    steps = trial.steps if trial is not None else ()
    return next((s.message for s in steps if s.outcome == "Infra"), "infrastructure failed")


def _judge_readiness(
    refusal: Refusal | None, desired: DesiredTrial | None, trial: TrialStatus | None, mirrored: dict[str, Condition]
) -> tuple[Truth, str, str]:
    """Return the Ready condition: True while the incident is active and once it is resolved."""
    if refusal is not None:
        return "False", refusal.reason, refusal.message
    if desired and desired.suspended:
        return "False", "Suspended", "stored only, because spec.suspend is true"
    if trial is None:
        return "Unknown", "Pending", "waiting for the trial"
    outcome = desired.outcome if desired else "Incident"
    for type in MIRRORED[:-1]:
        found = mirrored.get(type)
        if found is None and outcome == "NoIncident" and type in _NOTHING:
            continue
        if found is not None and found.status != "True":
            return found.status, found.reason, found.message
        if found is None:
            step = trial.step(trial.current)
            return "Unknown", _PROGRESS[type], f"step {step.step}" if step else ""
    resolved = mirrored.get("Resolved")
    return ("True", *_SUMMARY[outcome][resolved is not None and resolved.status == "True"])


#: Reasons and messages of a Scenario without an incident.
_NOTHING: Final = {
    "SymptomsPresent": ("NoIncident", "nothing is broken, so no alert is expected"),
    "Resolved": ("NoIncident", "nothing is broken, so there is nothing to resolve"),
}
#: Reason and message of Ready, by outcome: while the incident is active, and once it is over.
_SUMMARY: Final[dict[str, tuple[tuple[str, str], tuple[str, str]]]] = {
    "Incident": (
        ("IncidentActive", "the symptoms are present; waiting for the incident to be resolved"),
        ("IncidentResolved", "the alerts are clear and the app serves its load again"),
    ),
    "Benign": (
        ("BenignActive", "a benign event is active; it passes without intervention"),
        ("BenignPassed", "the benign event has passed: the alerts are clear and the app serves its load"),
    ),
    "NoIncident": (
        ("NoIncident", "nothing is broken; the app can be investigated"),
        ("NoIncident", "nothing is broken; the app can be investigated"),
    ),
}


_PROGRESS: Final = {
    "AppReady": "DeployingApp",
    "BaselineQuiet": "WaitingForQuiet",
    "FaultsInjected": "Injecting",
    "SymptomsPresent": "WaitingForSymptoms",
}
