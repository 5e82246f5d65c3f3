"""SK225: scope and capabilities that are declared but not needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.security.admission_findings import list_needed, list_needed_by_use
from scenario_kit.lint.rules.security.capabilities import needs_of_object
from scenario_kit.lint.rules.security.privileges import find_outside
from scenario_kit.load.yaml.edit import Drop, Put
from scenario_kit.model import Fault, FaultType
from scenario_kit.model.authored.scenario import LABELLED, FaultUse
from scenario_kit.render.faults.preconditions import mentions_parameters
from scenario_kit.schema.writable import CLUSTER

#: Capabilities that can be derived from the written objects.
_REPORTED: Final = frozenset(
    {"node-access", "kernel", "cni-network-policy", "ingress-controller", "calico", "jvm", "dns-chaos-server"}
)


@register_check("SK225", "Fault")
def check_unneeded(case: FaultCase) -> Iterator[Problem]:
    faults = [rendering.fault for rendering in case.renderings if rendering.fault]
    if not faults:
        return
    stages = [stage for stage in case.stages if stage.place == ("changes",)]
    needed = list_needed(case)
    for one in case.written:
        if one.stage.place == ("changes",):
            needed |= set(needs_of_object(one.object, one.was))
    beyond = any(find_outside(change, stage.app)[1] for stage in stages for change in stage.changes)
    if case.fault.scope == CLUSTER and CLUSTER not in needed and not beyond:
        message = "the scope is Cluster, but all changes are within the app"
        yield Problem(("scope",), message, "Cluster", "Namespace", edits=(Put(("scope",), "Namespace"),))
    for i, capability in enumerate(case.fault.requires):
        if capability in _REPORTED and capability not in needed:
            message = f"it requires '{capability}', but no change needs that"
            edits = (Drop(("requires", i)),)
            yield Problem(("requires", i), message, capability, "only needed capabilities", edits=edits)
    if case.fault.causes_join == "Conjunctive" and not _has_several_causes(case.fault, faults):
        message = "the causes are declared as Conjunctive, but there is only one"
        yield Problem(("causesJoin",), message, "Conjunctive", "Independent, or two causes")


def _has_several_causes(fault_type: FaultType, faults: Iterable[Fault]) -> bool:
    """Return whether the fault has two causes with some parameters; a rendered fault with one drops the join."""
    if any(len(fault.causes) > 1 for fault in faults):
        return True
    causes = [e for e in fault_type.entities if isinstance(e, dict) and e.get("role", "Cause") == "Cause"]
    conditions = [str(e.get("when", "")) for e in causes]
    return len(causes) > 1 and any(mentions_parameters(text, fault_type.variables) for text in conditions)


@register_check("SK225", "Scenario")
def check_unneeded_by_use(case: LintContext) -> Iterator[Problem]:
    """Report an unneeded scope or join of causes."""
    truth = case.scenario.spec.ground_truth
    labelled = [use for use in case.scenario.spec.faults if use.role in LABELLED]
    if truth.causes_join == "Conjunctive" and len(labelled) < 2:
        place = ("spec", "groundTruth", "causesJoin")
        message = "the causes are declared as Conjunctive, but fewer than two faults are causes"
        yield Problem(place, message, "Conjunctive", "Independent, or two faults")
    for i, use in enumerate(case.scenario.spec.faults):
        if _reaches_too_far(case, i, use):
            message = f"the scope of fault type '{use.type}' is Cluster, but all changes are within the app"
            fix = f"write `scope: Namespace` in faults/{use.type}/fault.yaml"
            yield Problem(("spec", "faults", i, "type"), message, "Cluster", "Namespace", fix)


def _reaches_too_far(case: LintContext, index: int, use: FaultUse) -> bool:
    """Return whether the scenario's own fault type has the scope Cluster without needing it."""
    rendered = case.faults.get(use.name)
    if rendered is None or rendered.scope != CLUSTER or not case.has_own_fault_type(use.type):
        return False
    stages = [stage for stage in case.stages if stage.place == ("spec", "faults", index, "parameters")]
    if any(find_outside(change, stage.app)[1] for stage in stages for change in stage.changes):
        return False
    return CLUSTER not in list_needed_by_use(case, index)
