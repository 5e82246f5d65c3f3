"""SK220, SK226, SK235 to SK239: what no change may reach or write, whatever a fault declares."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.admission.amounts import MOST_DISK, MOST_PODS
from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import Judged
from scenario_kit.lint.framework.rule import Problem, register_rule
from scenario_kit.lint.rules.security.admission_findings import list_needed, report_problems
from scenario_kit.load.yaml.edit import Drop, Put


@register_rule(
    "SK220",
    why=(
        "such a change harms more than the app, cannot be undone, or judges the trial in its own favour; "
        "a stranger's scenario must be safe to run"
    ),
    bad="changes: [{delete: {target: Namespace/default}}]",
    good="changes of objects of the app, and of what the fault itself creates",
    fix="change an object of the app instead",
    about=("Scenario", "Fault", "App"),
)
def check_reserved(case: Judged) -> Iterator[Problem]:
    """A change reaches what no scenario may touch."""
    yield from report_problems(case, "SK220")


@register_rule(
    "SK226",
    why="pods and disks of a cluster are everybody's: an experiment of one app must leave room for the others",
    bad="patch: {target: Deployment/cart, type: Merge, patch: {spec: {replicas: 100000}}}",
    good="patch: {target: Deployment/cart, type: Merge, patch: {spec: {replicas: 6}}}",
    fix="write a number that shows the same",
    repair=f"writes {MOST_PODS}, or {MOST_DISK} of disk",
    about=("Scenario", "Fault"),
)
def check_amounts(case: LintContext | FaultCase) -> Iterator[Problem]:
    """A change asks for more pods or disk than one app may take."""
    known = {**case.positions.raw, **case.positions.texts}
    for problem in report_problems(case, "SK226"):
        most: int | str = MOST_PODS if problem.observed.isdigit() else MOST_DISK
        written = known.get(problem.place) == problem.observed
        yield problem._replace(edits=(Put(problem.place, most),) if written else ())


@register_rule(
    "SK235",
    why=(
        "what a change may create and write is a closed list (docs/security.md): the operator has no rights for other "
        "kinds, and nobody has thought about what they can do"
    ),
    bad="chaos: {kind: PhysicalMachineChaos, …}   # or AWSChaos, KernelChaos, APIService …",
    good="an object of a kind on the list: workloads, Services, ConfigMaps, NetworkPolicies, experiments on pods",
    fix="break the app by an object of another kind",
    about=("Scenario", "Fault", "App"),
)
def check_kinds(case: Judged) -> Iterator[Problem]:
    """A change writes an object of a kind that is not on the list."""
    yield from report_problems(case, "SK235")


@register_rule(
    "SK236",
    why="objects outside of the app's namespaces belong to somebody who has not agreed to the experiment",
    bad="patch: {target: monitoring/Deployment/prometheus, …}",
    good="patch: {target: Deployment/cart, …}",
    fix="change an object in a namespace of the app",
    about=("Scenario", "Fault"),
)
def check_outside(case: LintContext | FaultCase) -> Iterator[Problem]:
    """A change writes an object of somebody else."""
    yield from report_problems(case, "SK236")


@register_rule(
    "SK237",
    why="traffic that a Service or a name leads to a foreign machine reaches it with the cluster's own address",
    bad="endpoints: [{addresses: [169.254.169.254]}]",
    good="endpoints: [{addresses: [192.0.2.1]}]   # an address for documentation, where nobody is",
    fix="use a selector of the app's pods, or an address for documentation",
    about=("Scenario", "Fault", "App"),
)
def check_foreign(case: Judged) -> Iterator[Problem]:
    """A change writes an address that is not the app's."""
    yield from report_problems(case, "SK237")


@register_rule(
    "SK238",
    why=(
        "components of a cluster act on labels and annotations: they make static pods, give accounts the rights of a "
        "cloud, open load balancers"
    ),
    bad='annotations: {kubernetes.io/config.mirror: "…"}',
    good="labels: {app.kubernetes.io/name: batch}",
    fix="use a key without a domain, or one that the app itself uses",
    about=("Scenario", "Fault", "App"),
)
def check_reserved_keys(case: Judged) -> Iterator[Problem]:
    """A label or annotation has a key on which a component of the cluster may act."""
    yield from report_problems(case, "SK238")


@register_rule(
    "SK239",
    why="whoever decides about a scenario reads what it is allowed; an exception that nothing needs is a licence",
    bad="exceptions: [{allow: ClusterRights, because: …}]   # and no ClusterRole in `changes`",
    good="the exceptions that the changes need, or none",
    fix="drop the exception",
    repair="drops the exception",
    about=("Fault",),
)
def check_needless(case: FaultCase) -> Iterator[Problem]:
    """A declared exception is not needed."""
    if not case.fault.exceptions or not any(rendering.fault for rendering in case.renderings):
        return
    used, all_ = list_needed(case), case.fault.exceptions
    for i, each in enumerate(all_):
        if each.allow not in used or each.allow in [other.allow for other in all_[:i]]:
            edit = Drop(("exceptions",) if len(all_) == 1 else ("exceptions", i))
            message = f"no change of the fault needs the exception '{each.allow}'"
            yield Problem(("exceptions", i, "allow"), message, each.allow, edits=(edit,))
