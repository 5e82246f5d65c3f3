"""Several causes, solutions and decoys, of which one is false and the others hide it."""

from __future__ import annotations

from collections.abc import Iterator

from tools.defects.edits.fault_type import with_own_fault
from tools.defects.edits.inert_fault import annotate
from tools.defects.edits.solutions import require_one_cause
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


@edit("SK411", stage="Trial", first=("solution",))
def further_solution_that_another_one_spares(subject: Subject, spec: Document) -> str:
    """A second solution of one of two causes restarts a bystander, and that of the other cause repairs both."""
    _require_two_causes(subject)
    partly = [s for s in spec.get("solutions", []) if len(s.get("fixes", [])) == 1]
    scaled = {u.name: u.target for u in subject.spec.faults if u.type == "deployment-scaled-to-zero"}
    seconds = [s for s in partly if s["fixes"][0] in scaled]
    second = needs(seconds, "no fault scales a workload to zero")[0]
    first = needs([s for s in partly if s["fixes"] != second["fixes"]], "no solution repairs the other cause")[0]
    bystander = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    # Two replicas, so that the solution of the second cause still changes something.
    first["changes"] = [*first["changes"], {"scale": {"target": scaled[second["fixes"][0]], "replicas": 2}}]
    idle = {"restart": {"target": bystander}}
    other = {"name": "other-way", "fixes": second["fixes"], "description": "Another way", "changes": [idle]}
    spec["solutions"].append(other)
    return f"another solution of {second['fixes'][0]} restarts {bystander}, {first['name']} repairs everything"


@edit("SK431", stage="Trial", first=("decoys-left",))
def decoy_that_repairs_one_and_touches_the_other(subject: Subject, spec: Document) -> str:
    """A decoy repairs one of two causes in its own way, and annotates the object of the other cause."""
    _require_two_causes(subject)
    scaled = [u for u in subject.spec.faults if u.type == "deployment-scaled-to-zero"]
    use = needs(scaled, "no fault scales a workload to zero")[0]
    others = [o for o in subject.causes if o != use.target and o in subject.objects]
    other = needs(others, "the other cause is no object of the app")[0]
    changes = [{"scale": {"target": use.target, "replicas": 2}}, annotate(other, "2024-03")]
    spec["decoys"] = [{"name": "another-try", "description": "Somebody tries it", "changes": changes}]
    return f"the decoy gives {use.target} two pods, and annotates {other}"


@edit("SK410", stage="Trial", first=("leave-out",))
def hop_from_the_wrong_cause(subject: Subject, spec: Document) -> str:
    """Of two causes, the propagation leads from the wrong one to an alert."""
    _require_two_causes(subject)
    truth = spec["groundTruth"]
    starts = {c.fault: {c.entity, f"Fault/{c.fault}"} for c in subject.spec.ground_truth.root_causes}
    reached = {name: _find_reached(truth["propagation"], from_) for name, from_ in starts.items()}
    for alert in spec["expect"]["alerts"]:
        name, end = alert.get("after"), alert.get("entity")
        if name not in starts or end in starts[name] or alert.get("class", "MustFire") != "MustFire":
            continue
        wrong = {n for other in reached for n in reached[other] if other != name}
        between = [n for n in wrong if n not in reached[name] and subject.calls(end, n)]
        if end in wrong or not between:
            continue
        edges = [e for e in truth["propagation"] if e["to"] != end]
        truth["propagation"] = [*edges, {"from": sorted(between)[0], "to": end, "because": "it is said to"}]
        del alert["after"]
        return f"{sorted(between)[0]} leads to {end}, where {name} raises {alert['name']}"
    needs(None, "no alert could follow from the other cause")
    return ""


@kind("SK414")
def fault_said_to_be_worked_around_only(subject: Subject) -> Iterator[Defect]:
    """The fault changes objects, and declares that an operator can only work around it."""
    name = require_one_cause(subject)
    fault = subject.case.faults[name]
    needs(fault.scope == "Namespace", "its objects are not the operator's")
    needs(fault.visibility != "Hidden", "an operator cannot see it, and may well only work around it")
    needs(fault.persistence in ("Object", "Workload"), "it ends with its pods")
    needs(not any(c.operation.runs_command for c in fault.changes), "a command cannot be taken back")
    document, files = with_own_fault(subject, lambda own: own.update(mitigation="Workaround"))
    yield Defect("mitigation: Workaround", document, files)


def _require_two_causes(subject: Subject) -> None:
    needs(subject.incident, "there is no incident")
    truth = subject.spec.ground_truth
    needs(len(truth.root_causes) > 1 and truth.causes_join == "Independent", "it has one cause")


def _find_reached(edges: list[Document], starts: set[str]) -> set[str]:
    reached = set(starts)
    while more := {e["to"] for e in edges if e["from"] in reached} - reached:
        reached |= more
    return reached
