"""Catalogue scenarios copied in other words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tools.defects.edits.fault_type import require_spelled_causes, with_own_fault
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Document, Subject


@kind("SK216", "SK217")
def copy_with_another_value(subject: Subject) -> Iterator[Defect]:
    """A copy with a slightly different number and rewritten texts."""
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
    """A copy whose catalogue fault type is renamed, with rewritten texts."""
    needs(not (subject.path.parent / "faults").is_dir(), "it already has fault types of its own")
    require_spelled_causes(subject)
    document, files = with_own_fault(subject, lambda fault: fault.update(title="Something else altogether"))
    yield _retold(f"{subject.original['spec']['faults'][0]['type']} is renamed", document, files)


@kind("SK216", "SK222")
def mechanism_of_the_catalogue_under_another_name(subject: Subject) -> Iterator[Defect]:
    """A fault type next to the scenario copies a catalogue type, reworded and with another effect check."""
    needs(not (subject.path.parent / "faults").is_dir(), "it already has fault types of its own")
    require_spelled_causes(subject)
    needs(subject.incident, "nothing is broken")
    ready = [{"event": {"reason": "Killing", "entity": "{{ target }}"}, "describe": "its pods are gone"}]
    words = {"title": "Something else altogether", "description": "A novelty.", "effect": ready}
    document, files = with_own_fault(subject, lambda fault: fault.update(words))
    yield _retold(f"{subject.original['spec']['faults'][0]['type']} is renamed", document, files)


def _retold(reported: str, document: Document, files: Mapping[str, Document] | None = None) -> Defect:
    """Return the scenario under another name, with rewritten texts."""
    document["metadata"]["name"] = name = f"{document['metadata']['name'][:40]}-again"
    spec = document["spec"]
    spec["title"], spec["description"] = "A quiet Tuesday", "Somebody tidied up before the weekend."
    return Defect(reported, document, files or {}, folder=name)
