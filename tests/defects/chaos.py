"""Experiments that reach what they should not, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.defects.kind import Defect, DoesNotApply, kind
from tests.defects.own import fault_document, with_own, writes
from tests.defects.subject import Document, Subject


def _beyond(spec: Document) -> None:
    spec["target"] = {"mode": "all", "selector": {"namespaces": ["kube-system"]}}


#: Ways out of the app, each as a change of the spec of an experiment.
_WAYS_OUT: dict[str, Callable[[Document], Any]] = {
    "the selector looks in kube-system, too": lambda spec: spec["selector"].update(
        namespaces=["{{ target.namespace }}", "kube-system"]
    ),
    "the selector looks where strangers live": lambda spec: spec["selector"].update(namespaces=["payments-production"]),
    "the selector looks where the trial is run from": lambda spec: spec["selector"].update(
        namespaces=["chaos-mesh", "scenario-kit"]
    ),
    "pods of strangers are listed by name": lambda spec: spec.update(selector={"pods": {"default": ["web-0"]}}),
    "the other end is every pod of kube-system": _beyond,
    "it is sent to another cluster": lambda spec: spec.update(remoteCluster="production"),
}
#: Fields of selectors that no pod of an app fits.
_NOBODY: dict[str, Document] = {
    "an annotation that no pod has": {"annotationSelectors": {"experiment": "allowed"}},
    "a phase in which no pod is": {"podPhaseSelectors": ["Failed"]},
    "a label that no pod may have": {"expressionSelectors": [{"key": "app", "operator": "In", "values": ["no-such"]}]},
    "an account that no pod has": {"fieldSelectors": {"spec.serviceAccountName": "no-such"}},
}


def _kind(subject: Subject) -> str:
    """The kind of the experiment of the first fault.

    Raises:
        DoesNotApply: it is none of Chaos Mesh.
    """
    if not subject.spec.faults:
        raise DoesNotApply("nothing is broken")
    found = writes(fault_document(subject, subject.spec.faults[0].type)["changes"], "chaos")
    if not found:
        raise DoesNotApply("its fault is none of Chaos Mesh")
    return str(found[0]["kind"])


def _changed(subject: Subject, edit: Callable[[Document], Any]) -> tuple[Document, dict[str, Document]]:
    """The scenario with a changed copy of its fault of Chaos Mesh."""
    return with_own(subject, lambda fault: edit(writes(fault["changes"], "chaos")[0]["spec"]))


@kind("SK150")
def chaos_of_strangers(subject: Subject) -> Iterator[Defect]:
    """An experiment reaches pods that are not the app's."""
    one_sided = _kind(subject) != "NetworkChaos"
    for told, edit in _WAYS_OUT.items():
        if not (one_sided and edit is _beyond):
            yield Defect(told, *_changed(subject, edit))


@kind("SK111")
def chaos_that_selects_nobody(subject: Subject) -> Iterator[Defect]:
    """A selector of an experiment has one more condition, which no pod fulfils."""
    _kind(subject)
    for told, more in _NOBODY.items():
        yield Defect(told, *_changed(subject, lambda spec, more=more: spec["selector"].update(more)))  # type: ignore[misc]
