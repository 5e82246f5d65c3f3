"""A good scenario with its document, rendered app and faults, and the queries that defects need."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.lint.context.discovery import open_case
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import WORKLOADS

Document = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A scenario without findings."""

    path: Path
    catalog: Catalog

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.path.parent.name

    @cached_property
    def original(self) -> Document:
        """The document as written; never changed."""
        data: Document = read_document(self.path).data
        return data

    def copy(self) -> tuple[Document, Document]:
        """Return a document to change, and its ``spec``."""
        document = copy.deepcopy(self.original)
        return document, document["spec"]

    @cached_property
    def case(self) -> LintContext:
        """The lint context, with the rendered app and faults."""
        case = open_case(self.path, self.catalog)
        assert isinstance(case, LintContext)
        return case

    @property
    def spec(self) -> Any:
        """The scenario's values."""
        return self.case.scenario.spec

    @property
    def incident(self) -> bool:
        """Whether the outcome is an incident."""
        return bool(self.spec.ground_truth.outcome == "Incident")

    @property
    def shares(self) -> bool:
        """Whether its trials can share a lab: no fault has cluster scope."""
        return all(fault.scope == "Namespace" for fault in self.case.faults.values())

    @cached_property
    def objects(self) -> dict[str, Object]:
        """The app's objects, by reference without namespace."""
        return {f"{ref.kind}/{ref.name}": obj for ref, obj in self.case.known.items() if ref.namespace == "app"}

    @cached_property
    def causes(self) -> list[str]:
        """Objects that the labelled faults declare as causes."""
        labels = [c.fault for c in self.spec.ground_truth.root_causes]
        return [bare(e) for name in dict.fromkeys(labels) for e in self.case.entities(name, "Cause")]

    @cached_property
    def alerting(self) -> list[str]:
        """Objects on which an alert must fire, in document order."""
        alerts = [a for a in self.spec.expect.alerts if a.alert_class == "MustFire" and a.entity]
        return list(dict.fromkeys(a.entity for a in alerts))

    @cached_property
    def concerned(self) -> set[str]:
        """Everything involved in the incident: targets, causes, alerts, propagation, and what solutions touch."""
        truth, expect = self.spec.ground_truth, self.spec.expect
        named = (
            {use.target for use in self.spec.faults} | set(self.causes) | {a.entity for a in expect.alerts if a.entity}
        )
        named |= {end for edge in truth.propagation for end in (edge.from_, edge.to)}
        named |= {c.target for p in self.case.procedures() for c in p.changes if c.target}
        return {bare(name) for name in named} | {self._twin(bare(name)) for name in named}

    def _twin(self, text: str) -> str:
        """Return the Service of a workload, or the workload of a Service."""
        for component in self.components():
            service = f"Service/{component.service}"
            if text == service:
                return str(component.workload)
            if text == component.workload:
                return service
        return text

    def components(self) -> Iterator[Any]:
        """Yield the components of the app."""
        assert self.case.app is not None
        yield from self.case.app.components

    def bystanders(self, *kinds: str) -> list[str]:
        """Return objects of these kinds (default: workloads) of uninvolved components."""
        desired = kinds or WORKLOADS
        known = [bare(c.workload) for c in self.components() if c.role in ("App", "Store", "Queue")]
        names = [*known, *(self._twin(name) for name in known)]
        return [n for n in names if n in self.objects and n.split("/")[0] in desired and n not in self.concerned]

    def calls(self, caller: str, callee: str) -> bool:
        """Return whether one workload calls another."""
        assert self.case.app is not None
        names = {c.workload: c.name for c in self.components()}
        return any((c.caller, c.callee) == (names.get(caller), names.get(callee)) for c in self.case.app.calls)


def bare(text: str) -> str:
    """Return a reference without namespace and group."""
    ref = Reference.parse(text)
    return f"{ref.kind}/{ref.name}"


def misspell(name: str) -> str:
    """Return the name with two adjacent letters swapped."""
    head, _, tail = name.rpartition("/")
    at = next((i for i in range(1, len(tail) - 1) if tail[i] != tail[i + 1]), 0)
    turned = tail[:at] + tail[at + 1] + tail[at] + tail[at + 2 :]
    return f"{head}/{turned}" if head else turned


def subjects(catalog: Catalog) -> list[Subject]:
    """Return every scenario of the catalogue."""
    return [Subject(path, catalog) for path in sorted(catalog.scenarios())]
