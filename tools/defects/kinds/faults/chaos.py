"""Chaos Mesh experiments that select foreign pods or none at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.defects.edits.fault_type import fault_document, with_own_fault, writes
from tools.defects.kind import Defect, DoesNotApply, kind
from tools.defects.subject import Document, Subject


def _beyond(spec: Document) -> None:
    spec["target"] = {"mode": "all", "selector": {"namespaces": ["kube-system"]}}


#: Edits of an experiment's spec that make it reach beyond the app.
_WAYS_OUT: dict[str, Callable[[Document], Any]] = {
    "the selector also covers kube-system": lambda spec: spec["selector"].update(
        namespaces=["{{ target.namespace }}", "kube-system"]
    ),
    "the selector covers a foreign namespace": lambda spec: spec["selector"].update(namespaces=["payments-production"]),
    "the selector covers the namespaces of the tooling": lambda spec: spec["selector"].update(
        namespaces=["chaos-mesh", "scenario-kit"]
    ),
    "the selector lists foreign pods by name": lambda spec: spec.update(selector={"pods": {"default": ["web-0"]}}),
    "the target is every pod of kube-system": _beyond,
    "it addresses another cluster": lambda spec: spec.update(remoteCluster="production"),
}
#: Fields that the simulated data plane does not implement, by kind.
_UNIMPLEMENTED: dict[str, Document] = {
    "HTTPChaos": {"patch": {"body": {"type": "JSON", "value": "{}"}}},
    "NetworkChaos": {"externalTargets": ["10.0.0.1:80"]},
    "StressChaos": {"stressors": {"memory": {"workers": 1, "size": "80%"}}},
    "TimeChaos": {"clockIds": ["CLOCK_MONOTONIC"]},
}
#: Selector fields that match no pod of an app.
_NO_MATCH: dict[str, Document] = {
    "an annotation that no pod has": {"annotationSelectors": {"experiment": "allowed"}},
    "a phase in which no pod is": {"podPhaseSelectors": ["Failed"]},
    "a label that no pod may have": {"expressionSelectors": [{"key": "app", "operator": "In", "values": ["no-such"]}]},
    "an account that no pod has": {"fieldSelectors": {"spec.serviceAccountName": "no-such"}},
}


def _kind(subject: Subject) -> str:
    """Return the kind of the first fault's experiment.

    Raises:
            DoesNotApply: the fault creates no Chaos Mesh object.
    """
    if not subject.spec.faults:
        raise DoesNotApply("nothing is broken")
    found = writes(fault_document(subject, subject.spec.faults[0].type)["changes"], "chaos")
    if not found:
        raise DoesNotApply("its fault creates no Chaos Mesh object")
    return str(found[0]["kind"])


def _changed(subject: Subject, edit: Callable[[Document], Any]) -> tuple[Document, dict[str, Document]]:
    """Return the scenario with an edited copy of its Chaos Mesh fault."""
    return with_own_fault(subject, lambda fault: edit(writes(fault["changes"], "chaos")[0]["spec"]))


@kind("SK150")
def chaos_of_strangers(subject: Subject) -> Iterator[Defect]:
    """An experiment selects pods outside the app."""
    one_sided = _kind(subject) != "NetworkChaos"
    for reported, edit in _WAYS_OUT.items():
        if not (one_sided and edit is _beyond):
            yield Defect(reported, *_changed(subject, edit))


@kind("SK111")
def chaos_that_selects_nobody(subject: Subject) -> Iterator[Defect]:
    """An experiment's selector has one more condition, which no pod meets."""
    _kind(subject)
    for reported, more in _NO_MATCH.items():
        yield Defect(reported, *_changed(subject, lambda spec, more=more: spec["selector"].update(more)))  # type: ignore[misc]


@kind("SK911")
def chaos_that_the_lab_cannot_show(subject: Subject) -> Iterator[Defect]:
    """An experiment uses a field that the simulated data plane does not implement."""
    more = _UNIMPLEMENTED.get(_kind(subject))
    if more is None:
        raise DoesNotApply("the data plane implements all of its kind")
    yield Defect(f"it has {', '.join(more)}", *_changed(subject, lambda spec: spec.update(more)))


@kind("SK151")
def target_that_nobody_is(subject: Subject) -> Iterator[Defect]:
    """A NetworkChaos has an external target whose name resolves to no Service."""
    if _kind(subject) != "NetworkChaos":
        raise DoesNotApply("its fault is no NetworkChaos")
    for name in ("redis-master", "redis-master.default.svc.cluster.local", "no-such.{{ target.namespace }}"):
        edit = lambda spec, name=name: spec.update(externalTargets=[name])  # noqa: E731
        yield Defect(f"its target is {name}", *_changed(subject, edit))
