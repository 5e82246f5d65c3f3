"""The changes of one fault, and the restarts that carry them to processes that run already."""

from __future__ import annotations

from typing import Final

from scenario_kit.changes import Engine
from scenario_kit.errors import CapabilityMissing, InfrastructureError, Rejected
from scenario_kit.model import Change, Fault, Object, Reference
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.trial.engine.checks import await_until
from scenario_kit.trial.engine.context import TICK, TrialContext

#: Changes of one step get ordinals from step × STEP; those of one fault of it from × FAULT, its restarts from HELP on.
STEP: Final = 10_000
FAULT: Final = 500
_HELP: Final = 100
#: Seconds of trial time within which Chaos Mesh must claim that a fault is injected.
_CHAOS_DEADLINE: Final = 120


def break_(context: TrialContext, fault: Fault, index: int) -> None:
    """Make every change of a fault, as part of the step of that index; changes that were made already stay.

    Raises:
        NoEffect: a change leaves its object as it was.
        Rejected: the API server, or Chaos Mesh, calls a change invalid.
        CapabilityMissing: it is valid, but cannot happen in this environment.
        InfrastructureError: something below us is not well, or the injector does not come to an end.
    """
    group = fault.group
    ordinal = index * STEP + [f.name for f in context.runbook.faults].index(fault.name) * FAULT
    first_run = next((i for i, c in enumerate(fault.changes) if c.operation.runs_command), 0)
    for position, change in enumerate(fault.changes):
        if problems := context.health():
            raise InfrastructureError("; ".join(problems))
        # What a command did is taken back where the first command stands among the changes.
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
    """Restart what carries the change to running processes: old pods go, callers reconnect."""
    changes = []
    if fault.rollout.drop_old:
        written = {c.target for c in fault.changes if c.operation.patches}
        workloads = sorted(w for w in written if w and Reference.parse(w).kind in ("Deployment", "StatefulSet"))
        changes += [Change.from_json({"restart": {"target": w, "dropOld": True}}) for w in workloads]
    if fault.rollout.reconnect == "Callers":
        changes += [Change.from_json({"restart": {"target": w, "dropOld": True}}) for w in fault.callers]
    return changes


def _await_injector(context: TrialContext, fault: Fault, experiment: Object) -> None:
    """Wait until Chaos Mesh claims success: necessary, never sufficient (the effect checks decide).

    Whoever finds the request itself at fault, manager or daemon, says the same however often it is asked.
    """
    ref = make_object_reference(experiment, context.namespace)
    deadline = context.clock.now() + _CHAOS_DEADLINE
    while True:
        live = context.cluster.get(ref)
        claim, trouble = Engine.chaos_state(live)
        if claim:
            return
        if objection := Engine.chaos_objection(trouble):
            raise Rejected(objection, by="Chaos Mesh")
        code, words = Engine.chaos_answer(trouble)
        if code == "Unimplemented":
            raise CapabilityMissing(f"fault '{fault.name}' ({fault.type}) asks for what cannot happen here: {words}")
        if context.clock.now() >= deadline:
            raise InfrastructureError(
                f"Chaos Mesh did not inject {ref} within {_CHAOS_DEADLINE} s: {trouble or 'no record'}"
            )
        context.wait(context.clock.now() + (TICK if context.virtual else 1))
