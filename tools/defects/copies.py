"""A scenario that is in the catalogue already, in other words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tools.defects.kind import Defect, kind, needs
from tools.defects.own import require_spelled_causes, with_own
from tools.defects.subject import Document, Subject


@kind("SK216", "SK217")
def copy_with_another_value(subject: Subject) -> Iterator[Defect]:
    """A number of a fault is another, and the texts are other ones"""
    document, spec = subject.copy()
    labelled = [use for use in spec.get("faults", []) if use.get("role", "Cause") == "Cause"]
    numbers = [
        (use, name)
        for use in labelled
        for name, value in use.get("parameters", {}).items()
        if isinstance(value, int) and not isinstance(value, bool) and value > 2
    ]
    use, name = needs(numbers, "no number is chosen")[0]
    use["parameters"][name] -= 1
    yield _retold(f"{name} of {use['name']} is one less", document)


@kind("SK216", "SK217")
def copy_with_the_fault_under_another_name(subject: Subject) -> Iterator[Defect]:
    """A fault type of the catalogue has another name, and the texts are other ones"""
    needs(not (subject.path.parent / "faults").is_dir(), "it has fault types of its own already")
    require_spelled_causes(subject)
    document, files = with_own(subject, lambda fault: fault.update(title="Something else altogether"))
    yield _retold(f"{subject.original['spec']['faults'][0]['type']} is called otherwise", document, files)


@kind("SK216", "SK222")
def mechanism_of_the_catalogue_under_another_name(subject: Subject) -> Iterator[Defect]:
    """A fault type beside the scenario is a copy of the catalogue's, in other words and proven in another way"""
    needs(not (subject.path.parent / "faults").is_dir(), "it has fault types of its own already")
    require_spelled_causes(subject)
    needs(subject.incident, "nothing is broken")
    ready = [{"event": {"reason": "Killing", "entity": "{{ target }}"}, "describe": "its pods are gone"}]
    words = {"title": "Something else altogether", "description": "A novelty.", "effect": ready}
    document, files = with_own(subject, lambda fault: fault.update(words))
    yield _retold(f"{subject.original['spec']['faults'][0]['type']} is called otherwise", document, files)


def _retold(reported: str, document: Document, files: Mapping[str, Document] | None = None) -> Defect:
    """The same scenario under another name, with texts of its own."""
    document["metadata"]["name"] = name = f"{document['metadata']['name'][:40]}-again"
    spec = document["spec"]
    spec["title"], spec["description"] = "A quiet Tuesday", "Somebody tidied up before the weekend."
    return Defect(reported, document, files or {}, folder=name)
