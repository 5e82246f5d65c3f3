"""Steps *expectCleared* and *expectUnresolved*: is the incident resolved, and does it stay resolved."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import structs

from scenario_kit.changes import Receipt
from scenario_kit.errors import KitError
from scenario_kit.judge.alerts.expectations import list_distractor_alerts
from scenario_kit.judge.repair import invariants, resolution
from scenario_kit.judge.repair.cheating import get_code
from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.judge.repair.resolution import Resolution
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertHistory, Finding, TrialStep
from scenario_kit.model.authored.fault import FAULT_GROUPS
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.model.results.trial import APART
from scenario_kit.observe import symptoms
from scenario_kit.observe.symptoms import list_unready
from scenario_kit.trial.alerts.alert_steps import await_interval, choose_next_look, measure_served, pass_time
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.checks import answer_signs
from scenario_kit.trial.engine.context import TRAFFIC_WINDOW, TrialContext
from scenario_kit.trial.investigation.symptoms import list_pods
from scenario_kit.trial.resolution import durability
from scenario_kit.trial.resolution.app_integrity import check_integrity
from scenario_kit.trial.resolution.degradation import check_degradation

#: Maximum traffic window in seconds; windows are extended if requests are few.
_LONGEST_TRAFFIC: Final = 900
#: Kinds whose objects may complete and disappear.
_ENDING: Final = ("Job", "Pod")
#: Kinds that are compared by their keys.
_HOLDING: Final = ("ConfigMap", "Secret")
_CODES: Final = {"Solution": "SK411", "Fix": "SK401", "Cheat": "SK435", "Wait": "SK435"}


def judge_resolution(context: TrialContext, since: float, *, thorough: bool = False) -> Resolution:
    """Judge whether the incident is resolved now (docs/validator.md); ``since`` is the time of the repair.

    The first unmet condition decides; ``thorough`` evaluates all of them, to report everything that is missing.
    """
    history = context.history()
    expect = context.runbook.expect
    benign = context.runbook.outcome == "Benign"
    own = list_distractor_alerts(expect, context.runbook.faults)
    known = resolution.list_known(history, expect, context.injected_at() or since, since, benign=benign, own=own)
    parts = [
        resolution.judge_alerts(history, expect, known, context.runbook.windows.clear),
        judge_guards(context),
        resolution.judge_signs(answer_signs(context)),
    ]
    if thorough or all(p.answer == "True" for p in parts):
        parts += [_judge_completeness(context), check_integrity(context), _judge_traffic(context, history, since)]
    return resolution.combine(parts)


def judge_guards(context: TrialContext) -> Resolution:
    """Judge whether everything that an honest repair leaves in place is there."""
    baseline = _read_baseline(context)
    if context.identity() != baseline.namespace_uid:
        return Resolution(answer="False", reasons=("the app's namespace is not the one that was deployed",))
    made = {e.ref for r in context.engine.list_active() for e in r.entries if e.prior is None}
    made -= {e.ref for r in context.engine.list_receipts(FAULT_GROUPS) for e in r.entries}
    scalers = [  # those that a repair made do not excuse fewer replicas
        o
        for namespace in context.everywhere
        for o in context.cluster.list("HorizontalPodAutoscaler", namespace, group="autoscaling")
        if make_object_reference(o, context.namespace) not in made
    ]
    problems = invariants.find_violations(
        noise.adjust_guards(context, _list_owed(context, baseline.guards)),
        context.guarded(),
        context.runbook.app,
        scalers,
    )
    return Resolution(answer="False" if problems else "True", reasons=tuple(problems))


def _list_spared(context: TrialContext) -> list[Receipt]:
    """List the changes of triggers and distractors, which a repair need not undo."""
    groups = {f.group for f in context.runbook.faults if f.role not in LABELLED}
    return [r for r in context.engine.list_active(FAULT_GROUPS) if r.group in groups]


def _list_owed(context: TrialContext, known: tuple[Guarded, ...]) -> tuple[Guarded, ...]:
    """Return the guards less what triggers and distractors removed: replicas except the last one, probes, limits."""
    entries = [e for r in _list_spared(context) for e in r.entries if e.prior and e.after]
    changed = {
        (g.kind, g.name): g for e in entries for g in invariants.take_baseline([e.after or {}], context.runbook.app)
    }
    owed = (_remove_from_guard(g, changed.get((g.kind, g.name), g)) for g in known)
    spared = list_distractor_alerts(context.runbook.expect, context.runbook.faults)
    ill = {(ref.kind, ref.name) for e in spared if (ref := e.entity)}
    return tuple(_relax_guard(g) if (g.kind, g.name) in ill else g for g in owed)


def _relax_guard(guard: Guarded) -> Guarded:
    """Return a guard that requires no ready pods."""
    return structs.replace(guard, replicas=0)


def _remove_from_guard(guard: Guarded, now: Guarded) -> Guarded:
    left = {name: [p for p in probes if p in now.probes.get(name, probes)] for name, probes in guard.probes.items()}
    kept = {
        name: {key: value for key, value in known.items() if key in now.resources.get(name, known)}
        for name, known in guard.resources.items()
    }
    return structs.replace(guard, replicas=min(guard.replicas, max(now.replicas, 1)), probes=left, resources=kept)


def _judge_completeness(context: TrialContext) -> Resolution:
    """Check that unguarded objects of the app exist and hold the same keys.

    Running pods do not notice a missing ConfigMap, ServiceAccount or autoscaler, so no alert would show it. What a
    trigger or a distractor removed need not be restored.
    """
    guarded = {(g.kind, g.name) for g in _read_baseline(context).guards}
    spared = {e.ref: e.after for r in _list_spared(context) for e in r.entries}
    owed = [o for o in context.runbook.objects if (o["kind"], o["metadata"]["name"]) not in guarded]
    desired = {make_object_reference(o, context.namespace): o for o in owed if o["kind"] not in _ENDING}
    # List by kind, as an app has many more objects than kinds.
    live = {
        (kind, namespace, obj["metadata"]["name"]): obj
        for kind, group, namespace in sorted({(r.kind, r.group, r.namespace) for r in desired})
        for obj in context.cluster.list(kind, namespace, group=group)
    }
    problems = []
    for ref, obj in desired.items():
        now = live.get((ref.kind, ref.namespace, ref.name))
        left = spared.get(ref, obj)  # what a trigger or distractor removed need not be restored
        if now is None:
            problems += [f"{ref.kind}/{ref.name} is gone"] if left is not None else []
        elif ref.kind in _HOLDING:
            lost = (invariants.list_data_keys(obj) & invariants.list_data_keys(left or {})) - invariants.list_data_keys(
                now
            )
            problems += [f"{ref.kind}/{ref.name} no longer has {key}" for key in sorted(lost)]
    return Resolution(answer="False" if problems else "True", reasons=tuple(problems))


def _judge_traffic(context: TrialContext, history: AlertHistory, since: float) -> Resolution:
    """Judge traffic over the last 300 s, or longer if there are too few requests, but never from before the alerts
    cleared.
    """
    baseline = _read_baseline(context).served
    if baseline is None:
        return Resolution(answer="Unknown", reasons=("no traffic was measured before the fault",))
    clear = resolution.find_clear_time(history, context.runbook.expect) or since
    end = history.end
    window = float(TRAFFIC_WINDOW)
    while True:
        answer = resolution.judge_traffic(baseline, measure_served(context, end - window, end))
        if answer.answer != "Unknown" or window >= min(_LONGEST_TRAFFIC, end - clear):
            return answer
        window = min(2 * window, float(_LONGEST_TRAFFIC), end - clear)


def _read_baseline(context: TrialContext) -> Baseline:
    baseline = context.baseline()
    if baseline is None:
        raise KitError("a trial reached its solution without a baseline")
    return baseline


def expect_cleared(context: TrialContext, step: TrialStep, index: int, start: float) -> list[Finding]:
    """Check that the incident resolves within the resolve window (a live scenario has no deadline) and, after a
    solution or a repair of the labels, that none of its alerts is left.

    A resolution is saved before its durability is checked: a restarted run would otherwise judge the app again while
    the restarts of that check disturb it.
    """
    solution = step.use == "Solution"
    if solution and (at := context.progress().resolved.get(str(index))) is not None:
        return durability.lasts(context, step, index, repaired=start, cleared=at)
    windows = context.runbook.windows
    deadline = start + (step.seconds or windows.resolve)
    if context.virtual and not step.forever:
        context.wait(min(start + windows.clear, deadline))
    while True:
        answer = judge_resolution(context, start, thorough=step.forever)
        if step.forever:
            context.show(answer.answer, [*answer.reasons, *_list_pods_in_trouble(context, answer)])
        if answer.answer == "True":
            if not solution:
                if step.use != "Fix":
                    return []
                return durability.check_lingering(context, step, start) or check_degradation(context, step)
            at = _save_resolution(context, index)
            return durability.lasts(context, step, index, repaired=start, cleared=at)
        if not step.forever and context.clock.now() >= deadline:
            return [_report_unresolved(context, step, answer, start, deadline)]
        if step.forever:
            pass_time(context, start)
        else:
            context.wait(choose_next_look(context, start))


def _save_resolution(context: TrialContext, index: int) -> float:
    """Save that step ``index`` found the incident resolved; return the time."""
    progress, now = context.progress(), context.clock.now()
    context.save_progress(structs.replace(progress, resolved={**progress.resolved, str(index): now}))
    return now


def _list_pods_in_trouble(context: TrialContext, answer: Resolution) -> list[str]:
    """List pods of the app that are not ready, and why, as long as the incident is not over."""
    return [] if answer.answer == "True" else list_unready(context.contents("Pod"))


class _Report(NamedTuple):
    """What a finding about an incident that is not resolved says; ``{name}`` in the message is that of the step."""

    message: str
    why: str = ""
    fix: str = ""


_BY_ITSELF: Final = "cheats and checks that the declaration rules out are not tried"
_HOW_LONG: Final = "declare in the fault type how long it lasts (`persistence: Object` or `Workload`)"
#: By what was to resolve it.
_REPORTS: Final = {
    "Solution": _Report(
        "solution '{name}' does not resolve the incident",
        "a documented solution must resolve the incident",
        "correct the solution's changes; `scenario-kit try` shows what still fires",
    ),
    "Fix": _Report(
        "repairing only the labelled causes ({name}) does not resolve the incident",
        "the labels do not name the cause, or not all of it",
        "label the object whose repair clears the alerts",
    ),
    "Cheat": _Report(
        "the fault is declared to end with its pods, but outlasts a restart of every workload", _BY_ITSELF, _HOW_LONG
    ),
    "Wait": _Report("fault '{name}' is declared to end by itself, but does not", _BY_ITSELF, _HOW_LONG),
    "RemoveFault": _Report("the incident outlives the fault: removing {name} does not resolve it"),
}
_BENIGN: Final = _Report(
    "the scenario is Benign, but does not end by itself",
    "a fault that needs intervention is an incident",
    "choose the outcome Incident, or a fault that heals or expires",
)
_APART: Final = _Report(
    "what the fault type does to repair {name} only ends the incident by also changing objects without a label",
    "an object that must be repaired as well is a second cause",
    "label that object too, or let the `fix` of each cause change nothing else",
)


def _choose_report(context: TrialContext, step: TrialStep) -> _Report:
    """Choose what to say about a step after which the incident is not resolved."""
    if context.runbook.outcome == "Benign":
        return _BENIGN
    if step.use == "Fix" and step.name.endswith(APART):
        return _APART
    report = _REPORTS.get(step.use, _Report("the incident is not resolved"))
    if step.use == "Fix" and _is_conjunctive(context):
        return report._replace(fix=f"{report.fix}, or let the causes be Independent (causesJoin)")
    return report


def _report_unresolved(
    context: TrialContext, step: TrialStep, answer: Resolution, start: float, deadline: float
) -> Finding:
    report, new_alerts = _choose_report(context, step), _list_new_alerts(context, start)
    own_repair = "; restarted workloads may need a repair of their own" if new_alerts else ""
    return build_finding(
        _CODES.get(step.use, "SK329"),
        message=report.message.format(name=step.name.removesuffix(APART)),
        observed="; ".join([f"{'; '.join(answer.reasons)} after {deadline - start:.0f} s", *new_alerts]),
        expected="alerts clear and stay clear, traffic is served, the app is complete",
        why=report.why,
        fix=report.fix + own_repair,
    )


def _list_new_alerts(context: TrialContext, repaired: float) -> list[str]:
    """Describe unrelated workloads that restarted between the fault and the repair; empty if none.

    A workload that was evicted or crashed may need a repair of its own, as it lost its memory.
    """
    own = {r.groupless for f in context.runbook.faults for r in (f.target, *(e.ref for e in f.entities))}
    since = context.injected_at() or repaired
    begun = symptoms.list_started(list_pods(context), context.runbook.app, since, repaired)
    others = [w for w in begun if w not in own and not w.startswith("Pod/")]
    return [f"also restarted since the fault: {', '.join(others)}"] if others else []


def expect_unresolved(context: TrialContext, step: TrialStep, start: float) -> list[Finding]:
    """Check that a cheat does not count as resolved, not even once every window has passed."""
    windows = context.runbook.windows
    await_interval(context, start, step.seconds or windows.still_firing + windows.clear)
    answer = judge_resolution(context, start)
    if answer.answer != "True":
        return []
    return [
        build_finding(
            get_code(step.name),
            message=f"the cheat '{step.name}' counts as resolved",
            observed="alerts clear, traffic served, guards unchanged",
            expected="not resolved",
            why="a cheat would score like a found cause",
            fix="use a fault that outlives the cheat, or expect a symptom that the cheat does not hide",
        )
    ]


def _is_conjunctive(context: TrialContext) -> bool:
    joins = {context.runbook.ground_truth.causes_join, *(f.causes_join for f in context.runbook.faults)}
    return "Conjunctive" in joins
