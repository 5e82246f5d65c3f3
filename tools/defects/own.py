"""Faults that a scenario brings along: copies of catalogue ones in which something is not true."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from scenario_kit.load.yaml.document import read_document
from tools.defects.kind import needs
from tools.defects.subject import Document, Subject


def with_own(subject: Subject, edit: Callable[[Document], Any], index: int = 0) -> tuple[Document, dict[str, Document]]:
    """The scenario with a changed copy of one of its faults beside it, and the files of that."""
    document, spec = subject.copy()
    use = needs(spec.get("faults"), "it has no fault")[index]
    fault = fault_document(subject, use["type"])
    fault["name"] = use["type"] = f"{use['type'][:40]}-variant"
    edit(fault)
    return document, {f"faults/{fault['name']}/fault.yaml": fault}


def fault_document(subject: Subject, name: str) -> Document:
    """The definition of a fault type, as it is written."""
    return copy.deepcopy(dict(read_document(subject.catalog.fault_path(name, subject.path)).data))


def writes(changes: Any, operation: str) -> list[Any]:
    """The bodies of the changes of that operation."""
    return [c[operation] for c in changes if isinstance(c, dict) and operation in c]
