"""Experiments that reach what they should not, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.defects.kind import Defect, DoesNotApply, kind
from tools.defects.own import fault_document, with_own, writes
from tools.defects.subject import Document, Subject


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
#: What the lab does not carry out, by kind.
_UNSHOWN: dict[str, Document] = {
    "HTTPChaos": {"patch": {"body": {"type": "JSON", "value": "{}"}}},
    "NetworkChaos": {"externalTargets": ["10.0.0.1:80"]},
    "StressChaos": {"stressors": {"memory": {"workers": 1, "size": "80%"}}},
    "TimeChaos": {"clockIds": ["CLOCK_MONOTONIC"]},
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
    for reported, edit in _WAYS_OUT.items():
        if not (one_sided and edit is _beyond):
            yield Defect(reported, *_changed(subject, edit))


@kind("SK111")
def chaos_that_selects_nobody(subject: Subject) -> Iterator[Defect]:
    """A selector of an experiment has one more condition, which no pod fulfils."""
    _kind(subject)
    for reported, more in _NOBODY.items():
        yield Defect(reported, *_changed(subject, lambda spec, more=more: spec["selector"].update(more)))  # type: ignore[misc]


@kind("SK911")
def chaos_that_the_lab_cannot_show(subject: Subject) -> Iterator[Defect]:
    """An experiment says something that the simulated data plane does not carry out."""
    more = _UNSHOWN.get(_kind(subject))
    if more is None:
        raise DoesNotApply("all of its kind is carried out")
    yield Defect(f"it has {', '.join(more)}", *_changed(subject, lambda spec: spec.update(more)))


@kind("SK151")
def target_that_nobody_is(subject: Subject) -> Iterator[Defect]:
    """A NetworkChaos has an external target by a name that no Service has."""
    if _kind(subject) != "NetworkChaos":
        raise DoesNotApply("its fault is no NetworkChaos")
    for name in ("redis-master", "redis-master.default.svc.cluster.local", "no-such.{{ target.namespace }}"):
        edit = lambda spec, name=name: spec.update(externalTargets=[name])  # noqa: E731
        yield Defect(f"its target is {name}", *_changed(subject, edit))
