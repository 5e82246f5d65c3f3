"""Solutions and decoys that are not executable, have no effect, or are swapped."""

from __future__ import annotations

from collections.abc import Iterator

from tools.defects.edits.second_fault import second_fault
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject, misspell


def _listed(spec: Document, part: str) -> list[Document]:
    found: list[Document] = needs(spec.get(part), f"the file has no {part}")
    return found


@edit("SK416")
def missing_solution(subject: Subject, spec: Document) -> str:
    """No solution repairs a second cause."""
    needs(subject.incident, "there is no incident")
    name = second_fault(subject, spec)
    spec["solutions"].pop()
    return f"no solution for {name}"


@edit("SK122")
def solution_in_prose(subject: Subject, spec: Document) -> str:
    """A solution has a description but no changes."""
    _listed(spec, "solutions")[0]["changes"] = []
    return "no changes in the first solution"


@edit("SK121")
def solution_of_nothing(subject: Subject, spec: Document) -> str:
    """A solution changes an object that does not exist."""
    operation, body = next(iter(_listed(spec, "solutions")[0]["changes"][0].items()))
    needs("target" in body, f"its solution starts with {operation}")
    body["target"] = misspell(body["target"])
    return f"{operation} {body['target']}"


@edit("SK121")
def solution_in_another_namespace(subject: Subject, spec: Document) -> str:
    """A solution changes the right object in a wrong namespace."""
    operation, body = next(iter(_listed(spec, "solutions")[0]["changes"][0].items()))
    needs("target" in body, f"its solution starts with {operation}")
    body["target"] = f"kube-system/{body['target']}"
    return f"{operation} {body['target']}"


@kind("SK120", "SK121")
def solution_for_another_container(subject: Subject) -> Iterator[Defect]:
    """A solution patches a container that the workload does not have."""
    document, spec = subject.copy()
    for change in _listed(spec, "solutions")[0]["changes"]:
        patch = change.get("patch", {}).get("patch")
        pods = patch.get("spec", {}).get("template", {}).get("spec", {}) if isinstance(patch, dict) else {}
        for container in pods.get("containers", []):
            container["name"] = "app"
            yield Defect("the patch names the container app", document)
            return


@edit("SK133")
def idle_solution(subject: Subject, spec: Document) -> str:
    """A solution sets a value that is already set."""
    other = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    replicas = subject.objects[other]["spec"].get("replicas", 1)
    _listed(spec, "solutions")[0]["changes"] = [{"scale": {"target": other, "replicas": replicas}}]
    return f"the first solution scales {other} to {replicas}, which it has"


@edit("SK133")
def idle_decoy(subject: Subject, spec: Document) -> str:
    """A decoy sets a value that is already set."""
    needs(subject.incident, "there is no incident")
    other = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    replicas = subject.objects[other]["spec"].get("replicas", 1)
    change = {"scale": {"target": other, "replicas": replicas}}
    spec["decoys"] = [*spec.get("decoys", []), {"name": "scale-another", "changes": [change]}]
    return f"a decoy scales {other} to {replicas}, which it has"


@edit("SK433")
def solution_as_decoy(subject: Subject, spec: Document) -> str:
    """A decoy is the solution."""
    changes = _listed(spec, "solutions")[0]["changes"]
    spec["decoys"] = [*spec.get("decoys", []), {"name": "another-try", "changes": changes}]
    return "the first solution is also a decoy"


@edit("SK433")
def decoy_that_takes_the_fault_back(subject: Subject, spec: Document) -> str:
    """A decoy removes what the labelled faults injected."""
    needs(subject.incident, "there is no incident")
    labels = needs(subject.spec.ground_truth.root_causes, "nothing is labelled")
    changes = [{"removeFault": {"fault": name}} for name in dict.fromkeys(cause.fault for cause in labels)]
    spec["decoys"] = [*_listed(spec, "decoys"), {"name": "another-try", "changes": changes}]
    return "a decoy removes the faults"


@edit("SK133")
def decoy_that_writes_a_status(subject: Subject, spec: Document) -> str:
    """A decoy patches the status of an object, which the API server ignores."""
    needs(subject.incident, "there is no incident")
    other = needs([name for name in subject.objects if name.startswith("Deployment/")], "it has no Deployment")[0]
    change = {"patch": {"target": other, "type": "Merge", "patch": {"status": {"readyReplicas": 1}}}}
    spec["decoys"] = [*_listed(spec, "decoys"), {"name": "another-try", "changes": [change]}]
    return f"a decoy patches the status of {other}"


@edit("SK133")
def decoy_that_cancels_itself(subject: Subject, spec: Document) -> str:
    """A decoy writes a field of a Service, and then its former value."""
    needs(subject.incident, "there is no incident")
    services = [n for n in subject.bystanders("Service") if "sessionAffinity" not in subject.objects[n]["spec"]]
    other = needs(services, "every Service is involved")[0]
    values = ("ClientIP", None)
    changes = [
        {"patch": {"target": other, "type": "Merge", "patch": {"spec": {"sessionAffinity": value}}}} for value in values
    ]
    spec["decoys"] = [*_listed(spec, "decoys"), {"name": "another-try", "changes": changes}]
    return f"a decoy changes {other} and changes it back"


@edit("SK417")
def decoy_twice(subject: Subject, spec: Document) -> str:
    """Two decoys are the same."""
    decoy = _listed(spec, "decoys")[0]
    spec["decoys"].append({**decoy, "name": "once-more"})
    return f"{decoy['name']} twice"


@edit("SK432")
def no_decoy(subject: Subject, spec: Document) -> str:
    """The scenario has no decoy."""
    needs(subject.incident, "there is no incident")
    _listed(spec, "decoys")
    spec["decoys"] = []
    return "no decoy"


@edit("SK413")
def solution_by_receipt(subject: Subject, spec: Document) -> str:
    """A solution only removes the injection, although an operator could repair the fault."""
    solution = _listed(spec, "solutions")[0]
    fault = needs(solution.get("fixes"), "its solution does not say what it fixes")[0]
    solution["changes"] = [{"removeFault": {"fault": fault}}]
    return f"removeFault {fault} as solution"


@edit("SK131")
def solution_of_another_fault(subject: Subject, spec: Document) -> str:
    """A solution fixes a fault that the scenario does not have."""
    solution = _listed(spec, "solutions")[0]
    name = misspell(needs(solution.get("fixes"), "its solution does not say what it fixes")[0])
    solution["fixes"] = [name]
    return f"the first solution fixes {name}"
