"""Defects in what people read: leaks, duplicates and missing texts."""

from __future__ import annotations

from collections.abc import Iterator

from tools.defects.edits.fault_type import require_spelled_causes, with_own_fault
from tools.defects.edits.second_fault import second_fault
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


def _object(name: str, **metadata: object) -> Document:
    return {
        "create": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {"a": "b"}}
    }


@kind("SK210")
def telling_name(subject: Subject) -> Iterator[Defect]:
    """The fault creates an object whose name states what is wrong."""
    target = needs(subject.spec.faults, "nothing is broken")[0].target.rpartition("/")[2]
    name = f"{target[:40]}-fault-injector"
    document, files = with_own_fault(subject, lambda fault: fault["changes"].append(_object(name)))
    yield Defect(f"the fault creates ConfigMap/{name}", document, files)


@kind("SK212")
def telling_annotation(subject: Subject) -> Iterator[Defect]:
    """The fault creates an object that contains the fault's name."""
    needs(subject.spec.faults, "nothing is broken")
    made = _object("{{ neutral('settings') }}", annotations={"for": "{{ fault }}"})
    document, files = with_own_fault(subject, lambda fault: fault["changes"].append(made))
    yield Defect("an annotation with the fault's name", document, files)


@kind("SK212")
def scenario_in_an_annotation(subject: Subject) -> Iterator[Defect]:
    """The fault creates an object that contains the scenario's name."""
    needs(subject.spec.faults, "nothing is broken")
    made = _object("{{ neutral('settings') }}", annotations={"for": subject.name})
    document, files = with_own_fault(subject, lambda fault: fault["changes"].append(made))
    yield Defect("an annotation with the scenario's name", document, files)


@kind("SK216")
def exact_duplicate(subject: Subject) -> Iterator[Defect]:
    """A copy under another name and title."""
    document, spec = subject.copy()
    needs(spec.get("faults"), "nothing is broken")
    document["metadata"]["name"] = "another-incident"
    spec["title"], spec["description"] = "Another incident", "Something else that happened."
    yield Defect("name, title and description are new", document, folder="another-incident")


@kind("SK216")
def duplicate_with_a_fault_of_its_own(subject: Subject) -> Iterator[Defect]:
    """A copy under another name and title, with a renamed copy of its fault type."""
    needs(subject.spec.faults, "nothing is broken")
    needs(all(fault.visibility != "Hidden" for fault in subject.spec.faults), "its own fault type cannot be hidden")
    require_spelled_causes(subject)
    reported = {"title": "Something new", "description": "Something that nobody broke before."}
    document, files = with_own_fault(subject, lambda fault: fault.update(reported))
    document["metadata"]["name"] = "another-incident"
    document["spec"]["title"], document["spec"]["description"] = "Another incident", "Something else that happened."
    yield Defect("name, title, description and fault type are new", document, files, folder="another-incident")


@kind("SK216")
def duplicate_that_writes_the_same_itself(subject: Subject) -> Iterator[Defect]:
    """A copy under another name, whose own fault type contains the rendered changes."""
    use = needs(subject.spec.faults, "nothing is broken")[0]
    fault = subject.case.faults[use.name]
    needs(len(subject.spec.faults) == 1 and fault.visibility != "Hidden", "it is not one visible fault")
    changes = [change.to_json() for change in fault.changes]
    needs(all(c.keys() & {"patch", "scale", "delete"} for c in changes), "it creates objects with generated names")

    def write_out(own: Document) -> None:
        own["changes"] = changes
        for name, schema in own.get("parameters", {}).get("properties", {}).items():
            if name in use.parameters:
                schema["default"] = use.parameters[name]

    document, files = with_own_fault(subject, write_out)
    document["metadata"]["name"] = "another-incident"
    document["spec"]["faults"][0].pop("parameters", None)
    document["spec"] |= {"title": "Another incident", "description": "Something else that happened."}
    yield Defect("its own fault type has the changes literally", document, files, folder="another-incident")


def _renamed(subject: Subject) -> tuple[Document, Document]:
    """Return a copy under another name, with rewritten texts."""
    document, spec = subject.copy()
    needs(spec["groundTruth"].get("rootCauses"), "nothing is broken")
    document["metadata"]["name"] = "another-incident"
    spec["title"], spec["description"] = "Another incident", "Something else that happened."
    return document, spec


@kind("SK217")
def duplicate_with_a_distractor(subject: Subject) -> Iterator[Defect]:
    """A copy under another name, with an additional harmless change."""
    document, spec = _renamed(subject)
    name = second_fault(subject, spec, labelled=False, role="Distractor")
    yield Defect(f"{name} is a Distractor", document, folder="another-incident")


@kind("SK217")
def duplicate_with_noise(subject: Subject) -> Iterator[Defect]:
    """A copy under another name, with additional noise."""
    document, spec = _renamed(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    spec.setdefault("noise", []).append({"name": "new", "restart": {"target": other}, "everySeconds": 930})
    yield Defect(f"noise restarts {other}", document, folder="another-incident")


@kind("SK217")
def near_duplicate(subject: Subject) -> Iterator[Defect]:
    """A copy that starts half a minute later."""
    document, spec = subject.copy()
    needs(spec.get("faults"), "nothing is broken")
    document["metadata"]["name"] = "another-incident"
    start = spec["faults"][0].setdefault("start", {})
    needs(start.keys() <= {"afterSeconds"}, "its first fault waits for something")
    start["afterSeconds"] = start.get("afterSeconds", 0) + 30
    yield Defect("only the name is new, and a delay", document, folder="another-incident")


@edit("SK602")
def placeholder(subject: Subject, spec: Document) -> str:
    """A text is a placeholder."""
    spec["description"] = "TODO"
    return "description: TODO"


@edit("SK605")
def no_brief(subject: Subject, spec: Document) -> str:
    """The scenario has no brief."""
    spec.pop("brief")
    return "no brief"


@edit("SK601")
def no_licence(subject: Subject, spec: Document) -> str:
    """The scenario has no licence."""
    spec.pop("license")
    return "no licence"


@edit("SK603")
def no_owner(subject: Subject, spec: Document) -> str:
    """The scenario has no author."""
    spec["authors"] = []
    return "no authors"


@edit("SK604")
def domain_without_checks(subject: Subject, spec: Document) -> str:
    """The domain has no check of its own."""
    spec["domain"] = "finops"
    return "domain finops"


@kind("SK218")
def no_canary(subject: Subject) -> Iterator[Defect]:
    """The canary string is missing."""
    document, _ = subject.copy()
    document["metadata"].pop("annotations")
    yield Defect("no canary", document)


@edit("SK606")
def expired_suppression(subject: Subject, spec: Document) -> str:
    """A suppression has expired."""
    spec["suppress"] = [{"code": "SK432", "reason": "decoys follow", "until": "2024-01"}]
    return "a suppression until 2024-01"


@edit("SK609")
def suppressed_cheat(subject: Subject, spec: Document) -> str:
    """A finding of trials is suppressed that no scenario may suppress."""
    spec["suppress"] = [{"code": "SK424", "reason": "it is only a lab", "until": "2099-01"}]
    return "a suppression of SK424"


@edit("SK206")
def secret(subject: Subject, spec: Document) -> str:
    """The description contains an access token."""
    token = "".join(("gh", "p_", "a1B2c3D4" * 5))
    spec["description"] = f"{spec['description']} Use {token} to see it."
    return "a token of GitHub"


@edit("SK603")
def author_with_an_impossible_account(subject: Subject, spec: Document) -> str:
    """The account of an author is a path."""
    spec["authors"][0]["github"] = "../../pulls"
    return "an account that GitHub does not have"
