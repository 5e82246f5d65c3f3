"""Faults that cannot work: aimed at nothing, without effect, or over too early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_kit.errors import AuthoringError
from tools.defects.kind import Defect, DoesNotApply, kind, needs
from tools.defects.own import with_own_fault, writes
from tools.defects.subject import Document, Subject, bare, misspell

_HEALTHY = "nothing is broken"


def first(spec: Document) -> Document:
    """Return the first fault of ``spec``."""
    fault: Document = needs(spec.get("faults"), _HEALTHY)[0]
    return fault


@kind("SK304")
def no_op_fault(subject: Subject) -> Iterator[Defect]:
    """A parameter has the value that the app already has."""
    document, spec = subject.copy()
    use = first(spec)
    name, value = _present(subject)
    use["parameters"] = {**use.get("parameters", {}), name: value}
    yield Defect(f"{name} is {value!r}, as in the app", document)


def _present(subject: Subject) -> tuple[str, Any]:
    """Return a parameter of the first fault that ends up in an object, and the healthy app's value of that field."""
    use, case = subject.spec.faults[0], subject.case
    fault, kinds = case.faults[use.name], case.types[use.type].parameters.get("properties", {})
    assert case.app is not None
    before = after_all = case.objects or ()
    try:
        for change in fault.changes:
            after_all = change.operation.simulate(after_all, case.app, case.app.namespace)
    except AuthoringError:
        raise DoesNotApply("its changes cannot be simulated one by one") from None
    values = {n: use.parameters.get(n, p.get("default")) for n, p in kinds.items()}
    for old, new in zip(before, after_all, strict=False):
        if old is not new and old != new:
            for was, now in _differences(old, new):
                for name, value in values.items():
                    if value == now and type(value) is type(was) and not isinstance(value, bool):
                        return name, was
    raise DoesNotApply("none of its parameters is a value that the app has")


def _differences(old: Any, new: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old.keys() & new.keys():
            yield from _differences(old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list):
        for one, other in zip(old, new, strict=False):
            yield from _differences(one, other)
    elif old != new:
        yield old, new


@kind("SK109")
def unknown_parameter(subject: Subject) -> Iterator[Defect]:
    """The fault type has no such parameter."""
    document, spec = subject.copy()
    use = first(spec)
    known = list(subject.case.types[use["type"]].parameters.get("properties", {}))
    name = f"{known[0]}s" if known else "seconds"
    use["parameters"] = {**use.get("parameters", {}), name: 1}
    yield Defect(f"parameter {name}", document)


@kind("SK109")
def impossible_parameter(subject: Subject) -> Iterator[Defect]:
    """A parameter has the wrong type."""
    document, spec = subject.copy()
    use = first(spec)
    known = subject.case.types[use["type"]].parameters.get("properties", {})
    plain = [n for n, p in known.items() if p.get("type") in ("integer", "string")]
    name = needs(plain, "its fault has no parameter")[0]
    use["parameters"] = {**use.get("parameters", {}), name: [1]}
    yield Defect(f"a list as {name}", document)


@kind("SK120")
def wrong_container(subject: Subject) -> Iterator[Defect]:
    """The target has no container of the given name."""
    document, spec = subject.copy()
    use = first(spec)
    known = subject.case.types[use["type"]].parameters.get("properties", {})
    needs("container" in known, "its fault chooses no container")
    use["parameters"] = {**use.get("parameters", {}), "container": "app"}
    yield Defect("container app", document)


@kind("SK108")
def unknown_fault(subject: Subject) -> Iterator[Defect]:
    """The fault type does not exist."""
    document, spec = subject.copy()
    use = first(spec)
    use["type"] = misspell(use["type"])
    yield Defect(f"type {use['type']}", document)


@kind("SK110")
def unknown_target(subject: Subject) -> Iterator[Defect]:
    """The target does not exist."""
    document, spec = subject.copy()
    use = first(spec)
    use["target"] = misspell(use["target"])
    yield Defect(f"target {use['target']}", document)


@kind("SK110")
def target_of_another_kind(subject: Subject) -> Iterator[Defect]:
    """The target is of a kind that the fault type does not support."""
    document, spec = subject.copy()
    use = first(spec)
    kinds = [k.partition(".")[0] for k in subject.case.types[use["type"]].targets]
    others = [o for o in subject.objects if o.split("/")[0] not in kinds]
    same = [o for o in others if o.split("/")[1] == use["target"].split("/")[1]]
    use["target"] = needs(same or others, "the fault fits everything")[0]
    yield Defect(f"target {use['target']}", document)


@kind("SK110")
def target_in_another_namespace(subject: Subject) -> Iterator[Defect]:
    """The target is in another namespace."""
    document, spec = subject.copy()
    use = first(spec)
    needs(bare(use["target"]) in subject.objects, "the target is no object of the app")
    use["target"] = f"kube-system/{bare(use['target'])}"
    yield Defect(f"target {use['target']}", document)


@kind("SK126")
def twice_the_same_fault(subject: Subject) -> Iterator[Defect]:
    """Two faults write the same field."""
    document, spec = subject.copy()
    use = first(spec)
    needs(not any(c.operation.creates for c in subject.case.faults[use["name"]].changes), "it writes no field")
    needs(subject.incident, "there is no incident")
    labels = spec["groundTruth"].get("rootCauses", [])
    spec["faults"].append({**use, "name": "again"})
    spec["groundTruth"]["rootCauses"] = [*labels, *({**c, "fault": "again"} for c in labels[:1])]
    for solution in spec.get("solutions", []):
        solution["fixes"] = [*solution.get("fixes", []), "again"]
    yield Defect("the first fault twice", document)


@kind("SK132")
def waits_for_itself(subject: Subject) -> Iterator[Defect]:
    """A fault starts after itself."""
    document, spec = subject.copy()
    use = first(spec)
    use["start"] = {"afterFault": use["name"]}
    yield Defect("the first fault waits for itself", document)


@kind("SK132")
def fault_that_waits_for_nobody(subject: Subject) -> Iterator[Defect]:
    """The only fault waits for an alert that only an earlier fault could raise."""
    document, spec = subject.copy()
    needs(len(spec.get("faults", [])) == 1, "it has several faults, or none")
    first(spec)["start"] = {"onAlert": {"name": "KubePodCrashLooping"}}
    yield Defect("starts on KubePodCrashLooping", document)


@kind("SK128")
def expiring_fault(subject: Subject) -> Iterator[Defect]:
    """The chaos object expires after a minute."""
    needs(subject.spec.faults, _HEALTHY)
    needs(subject.incident, "there is no incident")

    def shorten(fault: Document) -> None:
        once = ("pod-kill", "container-kill")
        lasting = [c for c in writes(fault["changes"], "chaos") if c["spec"].get("action") not in once]
        needs(lasting, "it has no lasting experiment")[0]["spec"]["duration"] = "60s"

    document, files = with_own_fault(subject, shorten)
    yield Defect("duration: 60s", document, files)


@kind("SK129")
def unproven_fault(subject: Subject) -> Iterator[Defect]:
    """The fault has no check that it is gone."""
    needs(subject.spec.faults, _HEALTHY)
    document, files = with_own_fault(subject, lambda fault: fault.update(undone=[]))
    yield Defect("no check that it is gone", document, files)


@kind("SK135")
def visible_trace_of_a_hidden_fault(subject: Subject) -> Iterator[Defect]:
    """A fault that leaves visible traces is declared hidden."""
    document, spec = subject.copy()
    use = first(spec)
    needs(use["type"] in ("pod-failure", "container-kill"), "its fault leaves no trace")
    use["visibility"] = "Hidden"
    yield Defect("visibility: Hidden", document)


@kind("SK137")
def noise_on_the_target(subject: Subject) -> Iterator[Defect]:
    """The background noise restarts the broken workload."""
    document, spec = subject.copy()
    broken = [o for o in subject.concerned if o.startswith("Deployment/") and o not in subject.alerting]
    targets = {bare(use.target) for use in subject.spec.faults}
    named = [o for o in sorted(broken) if o in targets or f"Service/{o.split('/')[1]}" in targets]
    workload = needs(named, "no fault targets a Deployment that does not alert")[0]
    spec["noise"] = [{"name": "rollouts", "restart": {"target": workload}, "everySeconds": 600}]
    yield Defect(f"restarts of {workload}", document)
