"""Steps *deploy* and *teardown*."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from scenario_kit.changes import is_settled, reach
from scenario_kit.errors import AlreadyExists, InfrastructureError, Rejected
from scenario_kit.judge import leftovers
from scenario_kit.judge.repair import invariants
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.authored.fault import FAULT_GROUPS
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.kubernetes.pod_template import POD_KINDS
from scenario_kit.model.kubernetes.reference import WORKLOADS, make_object_reference
from scenario_kit.model.kubernetes.status import is_stopping, is_terminating
from scenario_kit.model.shortening import shorten_list
from scenario_kit.render.apps.placement import list_shared
from scenario_kit.schema.writable import OWNED
from scenario_kit.trial import cluster_capacity
from scenario_kit.trial.clean_room import list_contents, snapshot
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.checks import await_checks
from scenario_kit.trial.engine.context import TICK, TrialContext
from scenario_kit.trial.unready_pods import explain_unready_pods, suggest_fix

#: Deadlines in seconds of trial time for an app to become ready, and for a teardown to complete.
READY_DEADLINE: Final = 900
CLEAN_DEADLINE: Final = 300
_GOING_SECONDS: Final = 60
#: Looks, and seconds of wall time between two, in which controllers may remove what waits for no stopping pod.
_LOOKS: Final = 50
_LOOK_SECONDS: Final = 0.1
#: Workloads that a message names at most.
_NAMED: Final = 6
_PARALLEL: Final = 8
#: Statuses of a request that is invalid; one that is refused by policy or quota has another.
_INVALID: Final = (400, 404, 422)
#: An address or a node's port that another object has.
_TAKEN: Final = "already allocated"
_SOLVER_ROLE: Final = "oncall"


def deploy(context: TrialContext) -> list[Finding]:
    """Create the namespaces and the app's objects, and wait until every workload is available.

    Nothing is created if the runbook's chaos would reach outside the app.
    """
    if strays := _find_strays(context):
        return strays
    if context.baseline() is None:
        _refuse_foreign(context)
        context.save_baseline(Baseline(snapshot=snapshot(context.cluster, context.everywhere)))
    for own in ([_build_namespace(name) for name in context.everywhere], _build_access(context)):
        for refusal in _create(context, own):
            raise refusal  # the app has no part in it
    if refusals := _create(context, context.runbook.objects):
        return [_report_refused(refusals)]
    deadline = context.clock.now() + READY_DEADLINE
    context.settle()
    while waiting := _list_unready(context):
        if context.clock.now() >= deadline:
            _refuse_full(context)
            return [_report_not_ready(waiting, explain_unready_pods(context.contents("Pod")))]
        context.wait(context.clock.now() + (TICK if context.virtual else 2))
    _record_baseline(context)
    return []


def _find_strays(context: TrialContext) -> list[Finding]:
    """Find targets outside the app of any change in the runbook, whether or not this trial makes it."""
    runbook = context.runbook
    changes = [c for f in runbook.faults for c in (*f.changes, *f.undo)]
    changes += [c for p in runbook.procedures for c in p.solution.changes]
    return list(reach.report_outside_targets(changes, runbook.reach, context.namespace))


def _refuse_foreign(context: TrialContext) -> None:
    """Wait for a terminating namespace, in wall time; refuse one that is not ours.

    Raises:
        InfrastructureError: a namespace of the app belongs to another owner, so the scenario is not at fault.
    """
    for _ in range(_GOING_SECONDS):
        existing = {name: home for name, home in context.homes().items() if home is not None}
        if not any(is_terminating(home) for home in existing.values()):
            break
        context.idle(1.0)
    for name in existing:
        raise InfrastructureError(
            f"the namespace '{name}' exists and was not created by scenario-kit",
            fix=f"kubectl delete namespace {name}, if nothing in it is needed",
        )
    for ref in _list_shared(context):
        if context.cluster.get(ref) is not None:
            raise InfrastructureError(
                f"{ref.kind}/{ref.name}, which the app brings for the whole cluster, exists and is not this trial's",
                fix=f"kubectl delete {ref.kind.lower()} {ref.name}, if nothing else needs it",
            )


def _list_shared(context: TrialContext) -> list[Reference]:
    """List the app's objects outside of its namespaces, such as ClusterRoles and volumes."""
    return [make_object_reference(o) for o in list_shared(context.runbook.objects)]


def _refuse_full(context: TrialContext) -> None:
    """Refuse a trial if other apps use the cluster's capacity; the scenario is not at fault."""
    pods, nodes = context.cluster.list("Pod"), context.cluster.list("Node")
    own = [p for p in pods if p["metadata"]["namespace"] in context.everywhere]
    others = [p for p in pods if p["metadata"]["namespace"] not in context.everywhere]
    if reason := cluster_capacity.explain_exhausted_capacity(own, others, nodes):
        raise InfrastructureError(
            f"the cluster is full: {reason}", fix="wait for the other trials to end, or run fewer at once"
        )


def _create(context: TrialContext, objects: Iterable[Object]) -> list[Rejected]:
    """Create objects in parallel; those created by an interrupted attempt are left alone.

    Bindings follow their roles, which the API server reads to check for privilege escalation; what makes pods follows
    what pods are admitted and started with, such as accounts, limits, quotas and Services.

    Returns:
        Why the API server refuses objects whatever its state: an unknown field, a value that is invalid.

    Raises:
        InfrastructureError: an object cannot be created for another reason.
    """
    stages: tuple[list[Object], ...] = ([], [], [])
    for obj in objects:
        kind = obj["kind"]
        stages[1 if kind.endswith("RoleBinding") else 2 if kind in POD_KINDS else 0].append(obj)

    def one(obj: Object) -> Rejected | None:
        try:
            context.cluster.create(obj)
        except AlreadyExists:
            return None
        except Rejected as refusal:
            if refusal.status not in _INVALID or _TAKEN in refusal.message:
                raise
            return refusal
        return None

    with ThreadPoolExecutor(_PARALLEL) as pool:
        answers = [answer for stage in stages for answer in pool.map(one, stage)]
    return [refusal for refusal in answers if refusal is not None]


def _build_namespace(name: str) -> Object:
    """Build a namespace with the label that allows the operator to write to it."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict([OWNED])}}


def _build_access(context: TrialContext) -> list[Object]:
    """Build the solver's roles in the app's namespaces, with chaos objects only if the scenario shows them."""
    return [o for name in context.everywhere for o in _build_access_to(context, name)]


def _build_access_to(context: TrialContext, namespace: str) -> list[Object]:
    subject = {"kind": "User", "name": _SOLVER_ROLE, "apiGroup": "rbac.authorization.k8s.io"}
    api = "rbac.authorization.k8s.io/v1"
    metadata = {"name": _SOLVER_ROLE, "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _SOLVER_ROLE}
    objects: list[Object] = [
        {"apiVersion": api, "kind": "RoleBinding", "metadata": metadata, "subjects": [subject], "roleRef": role}
    ]
    if kinds := _list_readable_chaos(context):
        extra = {"name": f"{_SOLVER_ROLE}-extra", "namespace": namespace}
        rule = {"apiGroups": [CHAOS_GROUP], "resources": kinds, "verbs": ["get", "list", "watch", "delete"]}
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": extra["name"]}
        objects += [
            {"apiVersion": api, "kind": "Role", "metadata": extra, "rules": [rule]},
            {"apiVersion": api, "kind": "RoleBinding", "metadata": extra, "subjects": [subject], "roleRef": ref},
        ]
    return objects


def _list_readable_chaos(context: TrialContext) -> list[str]:
    """List the Chaos Mesh resources that a solver may read. With a hidden fault, only the kinds that are shown, and no
    per-pod objects, which name every experiment that affects the pod.
    """
    faults = context.runbook.faults
    shown = {e["kind"] for f in faults if f.visibility == "Visible" for e in f.experiments}
    if not shown or not _hides(context):
        return ["*"] if shown else []
    return sorted(k.plural for k in context.cluster.kinds() if k.group == CHAOS_GROUP and k.kind in shown)


def _hides(context: TrialContext) -> bool:
    return any(f.visibility == "Hidden" for f in context.runbook.faults)


def _list_unready(context: TrialContext) -> list[str]:
    return sorted(f"{o['kind']}/{o['metadata']['name']}" for o in context.contents(*WORKLOADS) if not is_settled(o))


def _report_not_ready(waiting: list[str], why: str) -> Finding:
    names = f"not available after {READY_DEADLINE} s: {shorten_list(waiting, _NAMED)}"
    return build_finding(
        "SK301",
        message="the app did not become ready",
        observed=f"{names}. {why}" if why else names,
        expected="every workload available",
        fix=suggest_fix(why) or "try the same app without options: scenario-kit try --plan control",
        why="",
    )


def _report_refused(refusals: list[Rejected]) -> Finding:
    return build_finding(
        "SK301",
        message="the API server refuses objects of the app",
        observed="; ".join(refusal.message for refusal in refusals[:_NAMED]),
        expected="objects that the API server accepts",
        fix=refusals[0].fix or "correct the app's manifests: `scenario-kit lint` finds most of this",
        why="",
    )


def _record_baseline(context: TrialContext) -> None:
    baseline = context.baseline() or Baseline()
    guarded = invariants.take_baseline(context.guarded(), context.runbook.app, context.runbook.usual)
    ready = context.clock.now() if baseline.ready_at is None else baseline.ready_at
    context.save_baseline(
        msgspec.structs.replace(baseline, namespace_uid=context.identity(), guards=guarded, ready_at=ready)
    )


def tear_down(context: TrialContext) -> list[Finding]:
    """Undo every change, verify it, then remove the app and its namespaces.

    Raises:
        InfrastructureError: an undo is still blocked at the deadline; the receipts stay for another attempt.
    """
    deadline = context.clock.now() + CLEAN_DEADLINE
    if (known := context.baseline()) is not None and known.ready_at is not None:
        context.save_baseline(msgspec.structs.replace(known, ready_at=None))  # no noise from here on
    while blocked := context.engine.undo_all():
        if context.clock.now() >= deadline:
            raise InfrastructureError(
                "; ".join(f"undo of {b.group} on {b.target} is blocked: {b.reason}" for b in blocked)
            )
        context.clock.wait(context.clock.now() + (TICK if context.virtual else 1))
    baseline = context.baseline() or Baseline()
    if baseline.undone is None:  # checked once: on a retry, parts of the app may be gone
        baseline = msgspec.structs.replace(baseline, undone=tuple(_undo_all(context)))
        context.save_baseline(baseline)
    remove(context, deadline)
    return list(baseline.undone or ())


def _undo_all(context: TrialContext) -> list[Finding]:
    findings = []
    injected = {r.group for r in context.engine.list_receipts(FAULT_GROUPS)}
    for fault in context.runbook.faults:
        if fault.undone and fault.group in injected:
            results = await_checks(context, fault.undone)
            findings += [
                build_finding(
                    "SK306",
                    message=f"the fault '{fault.name}' was undone, but its effect is still there",
                    observed=r.observed,
                    expected=r.expected,
                    fix="give the fault an `undo` for state that receipts do not cover,"
                    " or let `undone` check what holds before the fault",
                    why="",
                )
                for r in results
                if r.answer == "False"
            ]
    return findings


def remove(context: TrialContext, deadline: float) -> None:
    """Delete the app's namespaces, contents first: a non-empty namespace terminates with a back-off.

    The app's objects of the whole cluster follow, as some are in use until then.
    """
    if not any(context.homes().values()):
        return
    looks = 0
    while rest := _list_rest(context):
        staying = _list_unowned(rest)
        with ThreadPoolExecutor(_PARALLEL) as pool:
            list(pool.map(lambda o: context.cluster.delete(make_object_reference(o, context.namespace)), staying))
        if context.clock.now() >= deadline:
            where = " and ".join(context.everywhere)
            raise InfrastructureError(f"{len(rest)} objects of {where} are still there: {_format_names(rest)}")
        now = context.clock.now()
        context.clock.wait(now if context.virtual else now + 1)
        if context.virtual and (rest := _list_rest(context)):
            # Only pods need time of the trial; how far controllers are depends on the machine's load.
            if any(o["kind"] == "Pod" and is_stopping(o) for o in rest) or looks >= _LOOKS:
                context.clock.wait(now + TICK)
            else:
                looks += 1
                context.idle(_LOOK_SECONDS)
    for ref in _list_shared(context):
        context.cluster.delete(ref)
    for name in context.everywhere:
        context.cluster.delete(Reference("Namespace", name))


def _list_unowned(rest: list[Object]) -> list[Object]:
    """List objects to delete explicitly: not terminating, without an owner, and not maintained by a controller.

    Endpoints have no owner reference, but are deleted with their Service and would be recreated before.
    """
    services = {o["metadata"]["name"] for o in rest if o["kind"] == "Service"}
    return [
        o
        for o in rest
        if not is_terminating(o)
        and not o["metadata"].get("ownerReferences")
        and not (o["kind"] == "Endpoints" and o["metadata"]["name"] in services)
    ]


def _list_rest(context: TrialContext) -> list[Object]:
    return [o for name in context.everywhere for o in list_contents(context.cluster, name) if _is_ours(o)]


def _is_ours(obj: Object) -> bool:
    return bool(leftovers.list_leftovers([obj]))


def _format_names(objects: list[Object]) -> str:
    return ", ".join(f"{o['kind']}/{o['metadata']['name']}" for o in objects[:5])
