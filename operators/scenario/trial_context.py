"""Build the context of a trial's steps from the operator's environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from operators.scenario.environment import Environment
from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.judge.alerts.missing_alerts import UnusedRules
from scenario_kit.judge.platform import find_platform_needs
from scenario_kit.model import AlertHistory, AlertRule, Answer, Runbook, TrialSpec
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.observe import AlertEvaluator, AlertScope, Owners
from scenario_kit.ports import Clock
from scenario_kit.trial import TrialContext


@dataclass(frozen=True)
class TrialCallbacks:
    """Callbacks of a trial's runner.

    ``stopping`` returns whether to stop, ``pause`` waits for wall seconds, ``tell`` receives the time and the alert
    history, and ``show`` receives whether the incident is resolved and what is missing.
    """

    stopping: Callable[[], bool]
    pause: Callable[[float], None]
    tell: Callable[[float, AlertHistory], None]
    show: Callable[[Answer, Sequence[str]], None]


def build_context(
    environment: Environment, name: str, spec: TrialSpec, clock: Clock, callbacks: TrialCallbacks, started: float | None
) -> TrialContext:
    """Build the context of a trial; alerts count since ``started``, or from now if it has not started."""
    runbook = spec.runbook()
    management = environment.settings.management_namespace
    context = ChangeContext(
        cluster=environment.cluster,
        namespace=spec.namespace,
        app=runbook.app,
        now=clock.now,
        others=runbook.namespaces,
        declared=runbook.reach,
    )
    needs = find_platform_needs(runbook, spec.steps)
    since = started if started is not None else clock.now()
    return TrialContext(
        name=name,
        spec=spec,
        runbook=runbook,
        cluster=environment.cluster,
        solver=environment.solver,
        metrics=environment.metrics,
        clock=clock,
        engine=Engine(context, clock, ClusterStore(environment.cluster, management, name), name),
        evaluator=_build_evaluator(environment, spec, runbook, runbook.rules, since),
        management=management,
        health=lambda: environment.platform.health(needs),
        diagnose=lambda: environment.platform.diagnose(needs),
        stopping=callbacks.stopping,
        idle=callbacks.pause,
        tell=callbacks.tell,
        show=callbacks.show,
        lost=lambda: not environment.platform.has_clock(name),
        beside=lambda: _evaluate_unused(environment, spec, runbook, since, clock.now()),
    )


def _build_evaluator(
    environment: Environment, spec: TrialSpec, runbook: Runbook, rules: Sequence[AlertRule], since: float
) -> AlertEvaluator:
    """Build an evaluator of alert rules from ``since`` on."""
    return AlertEvaluator(
        environment.metrics,
        rules,
        AlertScope(runbook.app, spec.namespace, tuple(runbook.namespaces.values())),
        Owners(environment.cluster, *runbook.everywhere),
        start=since,
        lag=0.0 if spec.clock == "Virtual" else float(GRID_SECONDS),
    )


def _evaluate_unused(
    environment: Environment, spec: TrialSpec, runbook: Runbook, since: float, now: float
) -> dict[str, UnusedRules]:
    """Evaluate the rules of packs that the scenario does not use."""
    catalog, used = environment.catalog, tuple(dict.fromkeys(rule.pack for rule in runbook.rules))
    return {
        pack: UnusedRules(
            _build_evaluator(environment, spec, runbook, catalog.alert_pack(pack), since).advance(now),
            catalog.packs_with(used, pack),
        )
        for pack in catalog.alert_packs()
        if pack not in used
    }
