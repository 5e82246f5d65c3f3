"""Fault types that a scenario brings along: copies of catalogue types with one false claim."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from scenario_kit.load.yaml.document import read_document
from scenario_kit.model.authored.change import get_operation_type
from scenario_kit.model.authored.fault import find_entity_ref
from scenario_kit.render.faults.created_object import format_created
from scenario_kit.render.faults.default_target import fill_target
from tools.defects.kind import needs
from tools.defects.subject import Document, Subject

#: Why a kind does not apply to a scenario without faults.
HEALTHY = "nothing is broken"
_CREATED = "{{ created }}"
_SELECTOR = {"namespaces": ["{{ target.namespace }}"], "labelSelectors": "{{ target.labels }}"}


def with_own_fault(subject: Subject, edit: Callable[[Document], Any]) -> tuple[Document, dict[str, Document]]:
    """Return the scenario with an edited copy of its first fault type, and the files of that copy."""
    document, spec = subject.copy()
    use = needs(spec.get("faults"), "it has no fault")[0]
    fault = fault_document(subject, use["type"])
    fault["name"] = use["type"] = f"{use['type'][:40]}-variant"
    edit(fault)
    return document, {f"faults/{fault['name']}/fault.yaml": fault}


def require_spelled_causes(subject: Subject) -> None:
    """Require that no label contains a generated name: such names depend on those of scenario and fault."""
    needs(all(cause in subject.objects for cause in subject.causes), "the name of a cause is generated")


def fault_document(subject: Subject, name: str) -> Document:
    """Return the definition of a fault type, with the objects written out that it omits.

    An edit may add causes and objects, to which omitted references would then also refer.
    """
    fault = copy.deepcopy(dict(read_document(subject.catalog.fault_path(name, subject.path)).data))
    for part in ("changes", "undo", "effect", "undone"):
        if part in fault:
            fault[part] = [_spell_check(fill_target(each)) for each in fault[part]]
    fault["entities"] = [{"ref": find_entity_ref(entity), **entity} for entity in fault["entities"]]
    for entity in fault["entities"]:
        if "fix" in entity:
            entity["fix"] = _spell_repair(entity["fix"], [entity["ref"]])
    causes = [entity["ref"] for entity in fault["entities"] if entity.get("role", "Cause") == "Cause"]
    for procedure in (*fault.get("solutions", ()), *fault.get("decoys", ())):
        procedure["changes"] = _spell_repair(procedure["changes"], causes)
    for experiment in writes(fault["changes"], "chaos"):
        if experiment["spec"].get("selector") == "{{ target.selector }}":
            experiment["spec"]["selector"] = dict(_SELECTOR)
    manifests = [
        change[operation.keyword]
        for change in fault["changes"]
        if (operation := get_operation_type(change)).has_manifest
    ]
    spelled: Document = _replace(fault, _CREATED, format_created(manifests[0])) if manifests else fault
    return spelled


def _spell_check(check: Document) -> Document:
    return {
        key: {"ref": _CREATED, **body} if key in ("chaosInjected", "deleted") else body for key, body in check.items()
    }


def _spell_repair(changes: list[Document], refs: list[str]) -> list[Document]:
    """Return the changes, with a ``restore`` for each object that they concern."""
    found: list[Document] = []
    for change in changes:
        if "restore" in change and "target" not in change["restore"]:
            about = ["{{ target }}"] if "field" in change["restore"] else dict.fromkeys(refs)
            found += [{**change, "restore": {"target": ref, **change["restore"]}} for ref in about]
        else:
            found.append(dict(fill_target(change)))
    return found


def _replace(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _replace(part, old, new) for key, part in value.items()}
    if isinstance(value, list):
        return [_replace(part, old, new) for part in value]
    return value.replace(old, new) if isinstance(value, str) else value


def writes(changes: Any, operation: str) -> list[Any]:
    """Return the bodies of the changes of that operation."""
    return [c[operation] for c in changes if isinstance(c, dict) and operation in c]


def get_first_fault(spec: Document) -> Document:
    """Return the first fault of ``spec``."""
    fault: Document = needs(spec.get("faults"), HEALTHY)[0]
    return fault
