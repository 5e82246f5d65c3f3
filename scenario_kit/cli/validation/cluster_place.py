"""``verify --cluster``: campaigns that an operator runs in a cluster of a kubeconfig.

Cluster and expected duration are printed before anything is sent. The campaign is one Validation object: it continues
without this process, and the same command resumes it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import typer

from scenario_kit.campaign import PLANS, Plan, PlannedTrial, Polling, plan_trials
from scenario_kit.campaign.planning.concurrency import limit_concurrency
from scenario_kit.campaign.planning.duration import Duration, estimate_campaign, format_duration
from scenario_kit.campaign.planning.plans import count_users
from scenario_kit.campaign.remote_validation import (
    GRACE_SECONDS,
    RemoteValidation,
    ValidationListener,
    ValidationProgress,
    build_validation,
    read_progress,
)
from scenario_kit.campaign.results.location import locate_findings
from scenario_kit.cli.terminal.live import Timeline
from scenario_kit.cli.terminal.output import print_progress
from scenario_kit.errors import ClusterError, InfrastructureError, UsageError
from scenario_kit.model import Object, Runbook
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.render import resolve
from scenario_kit.render.scenarios.bundle import bundle_scenario
from scenario_kit.report import Report

if TYPE_CHECKING:
    from scenario_kit.cli.validation.validate import CampaignCase, ValidationOptions
    from scenario_kit.ports import Cluster
    from scenario_kit.trial import TrialStatus

#: Maximum budget of a Validation.
_LONGEST_MINUTES: Final = 1440
#: Margin of the default timeout beyond the sum of all deadlines.
_SPARE_MINUTES: Final = 10
_INSTALL: Final = "scenario-kit operator manifests --image IMAGE --prometheus-url URL | kubectl apply -f -"


class ClusterChoice(NamedTuple):
    """A kubeconfig context, or the name of a dedicated ``kind`` cluster with the operator's ``image``.

    ``timeout`` is the maximum duration of a campaign in minutes.
    """

    context: str = ""
    timeout: int | None = None
    kind: str = ""
    image: str = ""


class ChosenCluster(NamedTuple):
    """A cluster with its context and server address; ``options`` are kubectl's."""

    cluster: Cluster
    context: str
    server: str
    options: str


def open_cluster(choice: ClusterChoice, options: ValidationOptions) -> ClusterPlace:
    """Open the chosen cluster.

    Raises:
        UsageError: none is chosen, or it has no operator.
        ClusterError: it cannot be reached.
    """
    return ClusterPlace(_open_kind(choice) if choice.kind else open_context(choice.context, options.as_json), options)


def open_context(context: str, as_json: bool) -> ChosenCluster:
    """Open the cluster of a context, by default of the current one after confirmation.

    Raises:
        UsageError: it was neither named nor confirmed, or has no operator.
        ClusterError: it cannot be reached.
    """
    from scenario_kit.clients.kube import KubeCluster
    from scenario_kit.clients.kubernetes_client import read_current_context

    named = context or _ask_for_context(read_current_context(), as_json)
    cluster = KubeCluster(context=named)
    require_operator(cluster, named)
    return ChosenCluster(cluster, named, cluster.server_url, f"--context {named}")


def _open_kind(choice: ClusterChoice) -> ChosenCluster:
    from scenario_kit.cli.validation import kind_cluster
    from scenario_kit.clients.kube import KubeCluster

    file = kind_cluster.find_kubeconfig(choice.kind)
    machine, kind = (
        kind_cluster.LocalMachine(),
        kind_cluster.KindCluster(choice.kind, file, choice.image, print_progress),
    )
    kind_cluster.bring_up_kind(machine, kind)
    cluster = KubeCluster(kubeconfig=file)
    kind_cluster.install_chaos(machine, cluster, kind)
    kind_cluster.install(cluster, kind)
    return ChosenCluster(cluster, f"kind-{choice.kind}", cluster.server_url, f"--kubeconfig {file}")


def _ask_for_context(current: str, as_json: bool) -> str:
    """Return the current context after confirmation at the terminal.

    Raises:
        UsageError: there is no current context, or no terminal.
    """
    if not current:
        raise UsageError("the kubeconfig has no current context", fix="name one: --context NAME")
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            f"--cluster current needs the name of its context; the current one is '{current}'",
            fix=f"if faults may be injected there: --context {current}",
        )
    typer.confirm(f"Inject faults into the cluster of the context '{current}'?", abort=True, err=True)
    return current


def require_operator(cluster: Cluster, context: str) -> None:
    """Require that a cluster serves our kinds.

    Raises:
        UsageError: the operator is not installed.
    """
    served = {kind.kind for kind in cluster.kinds() if kind.group == GROUP}
    if missing := sorted({"Trial", "Validation"} - served):
        raise UsageError(
            f"the cluster of the context '{context}' does not serve {' and '.join(missing)} of {GROUP}",
            fix=f"install the operator: {_INSTALL}",
        )


@dataclass(frozen=True)
class ClusterPlan:
    """The plan for a cluster: the locally resolved sample, its trials, and their duration."""

    sample: Runbook
    planned: list[PlannedTrial]
    parallel: int
    duration: Duration
    minutes: int

    def describe(self) -> str:
        """Describe it in one line."""
        trials = f"{len(self.planned)} trial" + ("s" if len(self.planned) != 1 else "")
        beside = f"{self.parallel} at a time, " if self.parallel > 1 else "one after the other, "
        usual, longest = (format_duration(s) for s in self.duration)
        return f"{trials}, {beside}about {usual} if all goes well, {longest} by their deadlines; ended after " + (
            format_duration(60 * self.minutes)
        )


def plan_case(case: CampaignCase, seed: int, parallel: int | None, timeout: int | None) -> ClusterPlan:
    """Plan a case for a wall clock.

    Raises:
        AuthoringError: it cannot be resolved.
    """
    scenario = case.loaded.scenario
    users = count_users(scenario, 100)
    sample = resolve(scenario, case.catalog, "app", users=users, beside=case.file.parent)
    planned = plan_trials(case.plan, sample, seed)
    beside = limit_concurrency(sample, parallel or case.plan.parallel or 2)
    duration = estimate_campaign(case.plan, planned, sample, beside)
    longest = min(_LONGEST_MINUTES, int(duration.longest // 60) + _SPARE_MINUTES)
    return ClusterPlan(sample, planned, beside, duration, timeout or longest)


def build_spec(case: CampaignCase, plan: ClusterPlan, seed: int) -> Object:
    """Build the spec of the Validation, with the object that ``render --bundle`` prints inside."""
    bundle = bundle_scenario(case.file, case.catalog)
    return {
        "embedded": {"name": bundle["metadata"]["name"], "spec": bundle["spec"]},
        **_name_plan(case.plan),
        "seed": seed,
        "maxMinutes": plan.minutes,
        "parallelism": plan.parallel,
    }


def _name_plan(plan: Plan) -> Object:
    """Return the fields of a plan in the spec: the name of a built-in one, or a custom one itself."""
    return {"plan": plan.name.capitalize()} if PLANS.get(plan.name) == plan else {"custom": plan.to_json()}


class ClusterPlace:
    """A cluster whose operator runs campaigns."""

    def __init__(self, chosen: ChosenCluster, options: ValidationOptions, polling: Polling | None = None) -> None:
        self._chosen = chosen
        self._options = options
        self._polling = polling or Polling()
        self._done: RemoteValidation | None = None

    def run(self, case: CampaignCase) -> Report:
        """Run a campaign to its verdict, or resume a running one.

        Raises:
            UsageError: the operator does not accept it.
            InfrastructureError: no operator executes it.
            typer.Abort: the user stopped waiting; the campaign continues.
        """
        options, choice = self._options, self._options.cluster
        plan = plan_case(case, options.seed, options.parallel, choice.timeout if choice else None)
        desired = build_validation(case.loaded.scenario.name, build_spec(case, plan, options.seed), keep=options.keep)
        remote = RemoteValidation(self._chosen.cluster, desired, self._polling)
        print_progress(f"context {self._chosen.context}, {self._chosen.server}")
        print_progress(f"Validation {remote.name} in {MANAGEMENT_NAMESPACE}: {plan.describe()}")
        if plan.duration.expected > 60 * plan.minutes:
            print_progress(f"beware: {plan.minutes} min are less than it takes; what has not ended is not evaluated")
        try:
            progress = self._follow(case, plan, remote)
        except KeyboardInterrupt:
            raise typer.Abort(explain_interruption(remote, self._chosen)) from None
        report = read_remote_report(remote.read_report(progress))
        self._done = remote
        return complete_report(report, case)

    def _follow(self, case: CampaignCase, plan: ClusterPlan, remote: RemoteValidation) -> ValidationProgress:
        title = f"{case.loaded.scenario.name}: plan {case.plan.name}, {len(plan.planned)} trials in the cluster"
        with Timeline(title, plan.planned) as timeline:
            listener = _ProgressView(timeline, plan.sample.digest)
            stored = remote.begin(listener)
            listener.show_beginning(stored, plan.minutes)
            limit = 60 * int(stored["spec"].get("maxMinutes", plan.minutes)) + GRACE_SECONDS
            return remote.follow(plan.planned, limit, listener)

    def release(self) -> None:
        """Delete the Validation, whose report is saved, unless it is to be kept."""
        remote, self._done = self._done, None
        if remote is None or self._options.keep:
            return
        try:
            remote.remove()
        except ClusterError as error:  # the report is saved, so only name the leftover
            print_progress(f"the Validation {remote.name} stays: {error}")


class _ProgressView(ValidationListener):
    """Shows the trials of a Validation in the timeline, everything else in lines."""

    def __init__(self, timeline: Timeline, digest: str) -> None:
        self._timeline = timeline
        self._digest = digest
        self._differs = False

    def show_beginning(self, stored: Object, minutes: int) -> None:
        """Show the state of a resumed Validation."""
        if not (progress := read_progress(stored)).seen:
            return
        ended = f"{progress.ended} of {progress.planned} trials have ended"
        self._timeline.show_line(f"resumed: started {progress.started_at or 'just now'}, {ended}")
        if (given := stored["spec"].get("maxMinutes", minutes)) != minutes:
            self._timeline.show_line(f"its budget stays {given} min, as it was created with")

    def show_waiting(self, reason: str) -> None:
        """See ``ValidationListener``."""
        if reason:
            self._timeline.show_line(f"waiting: {reason}")

    def show_progress(self, progress: ValidationProgress) -> None:
        """See ``ValidationListener``."""
        if progress.digest and progress.digest != self._digest and not self._differs:
            self._differs = True
            self._timeline.show_line(
                "beware: the operator resolves the scenario to another incident than this checkout does: its app or "
                "alert packs differ. The verdict is about the operator's; `report --record` will refuse it here"
            )

    def show_trial(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """See ``ValidationListener``."""
        self._timeline(planned, name, status)


def read_remote_report(text: str) -> Report:
    """Read the report that an operator wrote.

    Raises:
        InfrastructureError: another version of the kit wrote it.
    """
    try:
        return Report.from_json(json.loads(text))
    except (ValueError, msgspec.ValidationError) as error:
        raise InfrastructureError(
            f"the operator's report is not one of this version: {error}",
            fix="use the version of scenario-kit that the operator has",
        ) from error


def complete_report(report: Report, case: CampaignCase) -> Report:
    """Add the scenario's file and positions in it to the operator's report."""
    validation = report.validation
    local = {(f.code, f.message): f for f in case.static}  # with lines instead of fields of an object
    findings = tuple(local.pop((f.code, f.message), f) for f in validation.findings)
    validation = msgspec.structs.replace(
        validation, path=str(case.file), findings=(*findings, *local.values()), next=""
    )
    located = locate_findings(validation, case.loaded.scenario.spec, case.loaded.positions)
    return msgspec.structs.replace(report, validation=located)


def explain_interruption(remote: RemoteValidation, chosen: ChosenCluster) -> str:
    """Explain that the campaign continues in the cluster, and how to resume or cancel it."""
    lines = [
        f"interrupted; the Validation {remote.name} continues in the cluster of '{chosen.context}'",
        *_describe_trials(remote),
        "  to continue: run the same command again, here or anywhere else",
        f"  to cancel:   kubectl {chosen.options} -n {MANAGEMENT_NAMESPACE} delete validation {remote.name}",
    ]
    return "\n".join(lines)


def _describe_trials(remote: RemoteValidation) -> list[str]:
    try:
        trials = [t for t in remote.list_trials() if not is_terminating(t) and not _has_ended(t)]
    except ClusterError as error:
        return [f"  its trials are not known: {error}"]
    return [f"  running: {t['metadata']['name']} in the namespace {t['spec']['namespace']}" for t in trials]


def _has_ended(trial: Mapping[str, Any]) -> bool:
    return bool((trial.get("status") or {}).get("outcome"))
