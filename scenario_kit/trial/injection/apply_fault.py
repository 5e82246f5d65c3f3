"""Apply the changes of one fault, and the restarts that make running processes pick them up."""

from __future__ import annotations

from typing import Final

from scenario_kit.changes import Engine
from scenario_kit.errors import CapabilityMissing, InfrastructureError, Rejected
from scenario_kit.model import Change, Fault, Object
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.trial.engine.checks import await_until
from scenario_kit.trial.engine.context import TICK, TrialContext

#: Ordinals of changes: step × STEP + fault × FAULT + position; those of its restarts start at _HELP.
STEP: Final = 10_000
FAULT: Final = 500
_HELP: Final = 100
#: Seconds of trial time within which Chaos Mesh must report a fault as injected.
_CHAOS_DEADLINE: Final = 120


def apply_fault(context: TrialContext, fault: Fault, index: int) -> None:
    """Apply every change of a fault as part of the step with that index; changes already applied stay.

    Raises:
        NoEffect: a change leaves its object unchanged.
        Rejected: the API server or Chaos Mesh rejected a change as invalid.
        CapabilityMissing: a valid change is not supported by this environment.
        InfrastructureError: infrastructure is unhealthy, or the injection did not complete in time.
    """
    group = fault.group
    ordinal = index * STEP + [f.name for f in context.runbook.faults].index(fault.name) * FAULT
    first_run = next((i for i, c in enumerate(fault.changes) if c.operation.runs_command), 0)
    for position, change in enumerate(fault.changes):
        if problems := context.health():
            raise InfrastructureError("; ".join(problems))
        # Compensation is attached to the first command of the fault.
        undo = fault.undo if position == first_run else ()
        context.engine.do(change, ordinal=ordinal + position, group=group, undo=undo)
        context.settle()
        if (experiment := change.operation.experiment) is not None:
            _await_injector(context, fault, experiment)
        if change.until is not None:
            await_until(context, change.until)
    for position, change in enumerate(_reach(fault)):
        context.engine.do(change, ordinal=ordinal + _HELP + position, group=group, causal=False)
        context.settle()


def _reach(fault: Fault) -> list[Change]:
    """Return restarts that make running processes pick up the changes: replace old pods, reconnect callers."""
    changes = []
    if fault.rollout.drop_old:
        written = {c.operation.ref for c in fault.changes if c.operation.patches}
        workloads = sorted(w for w in written if w and w.kind in ("Deployment", "StatefulSet"))
        changes += [Change.from_json({"restart": {"target": w, "dropOld": True}}) for w in workloads]
    if fault.rollout.reconnect == "Callers":
        changes += [Change.from_json({"restart": {"target": w, "dropOld": True}}) for w in fault.callers]
    return changes


def _await_injector(context: TrialContext, fault: Fault, experiment: Object) -> None:
    """Wait until Chaos Mesh reports success: necessary, but not sufficient (the effect checks decide).

    An objection of manager or daemon to the request itself is permanent.
    """
    ref = make_object_reference(experiment, context.namespace)
    deadline = context.clock.now() + _CHAOS_DEADLINE
    while True:
        live = context.cluster.get(ref)
        claim, trouble = Engine.read_chaos_state(live)
        if claim:
            return
        if objection := Engine.parse_content_error(trouble):
            raise Rejected(objection, by="Chaos Mesh")
        code, words = Engine.parse_chaos_response(trouble)
        if code == "Unimplemented":
            raise CapabilityMissing(
                f"fault '{fault.name}' ({fault.type}) needs what this environment does not support: {words}"
            )
        if context.clock.now() >= deadline:
            raise InfrastructureError(
                f"Chaos Mesh did not inject {ref} within {_CHAOS_DEADLINE} s: {trouble or 'no record'}"
            )
        context.wait(context.clock.now() + (TICK if context.virtual else 1))
