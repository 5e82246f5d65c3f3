"""Faults that cannot work: aimed at nothing, without effect, or over too early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_kit.errors import AuthoringError
from tools.defects.edits.fault_type import HEALTHY, get_first_fault, with_own_fault, writes
from tools.defects.kind import Defect, DoesNotApply, edit, kind, needs
from tools.defects.subject import Document, Subject, bare, misspell


@edit("SK304")
def no_op_fault(subject: Subject, spec: Document) -> str:
    """A parameter has the value that the app already has."""
    use = get_first_fault(spec)
    name, value = _present(subject)
    use["parameters"] = {**use.get("parameters", {}), name: value}
    return f"{name} is {value!r}, as in the app"


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


@edit("SK109")
def unknown_parameter(subject: Subject, spec: Document) -> str:
    """The fault type has no such parameter."""
    use = get_first_fault(spec)
    known = list(subject.case.types[use["type"]].parameters.get("properties", {}))
    name = f"{known[0]}s" if known else "seconds"
    use["parameters"] = {**use.get("parameters", {}), name: 1}
    return f"parameter {name}"


@edit("SK109")
def impossible_parameter(subject: Subject, spec: Document) -> str:
    """A parameter has the wrong type."""
    use = get_first_fault(spec)
    known = subject.case.types[use["type"]].parameters.get("properties", {})
    plain = [n for n, p in known.items() if p.get("type") in ("integer", "string")]
    name = needs(plain, "its fault has no parameter")[0]
    use["parameters"] = {**use.get("parameters", {}), name: [1]}
    return f"a list as {name}"


@edit("SK120")
def wrong_container(subject: Subject, spec: Document) -> str:
    """The target has no container of the given name."""
    use = get_first_fault(spec)
    known = subject.case.types[use["type"]].parameters.get("properties", {})
    needs("container" in known, "its fault chooses no container")
    use["parameters"] = {**use.get("parameters", {}), "container": "app"}
    return "container app"


@edit("SK108")
def unknown_fault(subject: Subject, spec: Document) -> str:
    """The fault type does not exist."""
    use = get_first_fault(spec)
    use["type"] = misspell(use["type"])
    return f"type {use['type']}"


@edit("SK110")
def unknown_target(subject: Subject, spec: Document) -> str:
    """The target does not exist."""
    use = get_first_fault(spec)
    use["target"] = misspell(use["target"])
    return f"target {use['target']}"


@edit("SK110")
def target_of_another_kind(subject: Subject, spec: Document) -> str:
    """The target is of a kind that the fault type does not support."""
    use = get_first_fault(spec)
    kinds = [k.partition(".")[0] for k in subject.case.types[use["type"]].targets]
    others = [o for o in subject.objects if o.split("/")[0] not in kinds]
    same = [o for o in others if o.split("/")[1] == use["target"].split("/")[1]]
    use["target"] = needs(same or others, "the fault fits everything")[0]
    return f"target {use['target']}"


@edit("SK110")
def target_in_another_namespace(subject: Subject, spec: Document) -> str:
    """The target is in another namespace."""
    use = get_first_fault(spec)
    needs(bare(use["target"]) in subject.objects, "the target is no object of the app")
    use["target"] = f"kube-system/{bare(use['target'])}"
    return f"target {use['target']}"


@edit("SK126")
def twice_the_same_fault(subject: Subject, spec: Document) -> str:
    """Two faults write the same field."""
    use = get_first_fault(spec)
    needs(not any(c.operation.creates for c in subject.case.faults[use["name"]].changes), "it writes no field")
    needs(subject.incident, "there is no incident")
    labels = spec["groundTruth"].get("rootCauses", [])
    spec["faults"].append({**use, "name": "again"})
    spec["groundTruth"]["rootCauses"] = [*labels, *({**c, "fault": "again"} for c in labels[:1])]
    for solution in spec.get("solutions", []):
        solution["fixes"] = [*solution.get("fixes", []), "again"]
    return "the first fault twice"


@edit("SK132")
def waits_for_itself(subject: Subject, spec: Document) -> str:
    """A fault starts after itself."""
    use = get_first_fault(spec)
    use["start"] = {"afterFault": use["name"]}
    return "the first fault waits for itself"


@edit("SK132")
def fault_that_waits_for_nobody(subject: Subject, spec: Document) -> str:
    """The only fault waits for an alert that only an earlier fault could raise."""
    needs(len(spec.get("faults", [])) == 1, "it has several faults, or none")
    get_first_fault(spec)["start"] = {"onAlert": {"name": "KubePodCrashLooping"}}
    return "starts on KubePodCrashLooping"


@kind("SK128")
def expiring_fault(subject: Subject) -> Iterator[Defect]:
    """The chaos object expires after a minute."""
    needs(subject.spec.faults, HEALTHY)
    needs(subject.incident, "there is no incident")
    needs(subject.spec.faults[0].recurrence is None, "its recurrence sets the duration")

    def shorten(fault: Document) -> None:
        once = ("pod-kill", "container-kill")
        lasting = [c for c in writes(fault["changes"], "chaos") if c["spec"].get("action") not in once]
        needs(lasting, "it has no lasting experiment")[0]["spec"]["duration"] = "60s"

    document, files = with_own_fault(subject, shorten)
    yield Defect("duration: 60s", document, files)


@kind("SK129")
def unproven_fault(subject: Subject) -> Iterator[Defect]:
    """The fault has no check that it is gone."""
    needs(subject.spec.faults, HEALTHY)
    document, files = with_own_fault(subject, lambda fault: fault.update(undone=[]))
    yield Defect("no check that it is gone", document, files)


@edit("SK135")
def visible_trace_of_a_hidden_fault(subject: Subject, spec: Document) -> str:
    """A fault that leaves visible traces is declared hidden."""
    use = get_first_fault(spec)
    needs(use["type"] in ("pod-failure", "container-kill"), "its fault leaves no trace")
    use["visibility"] = "Hidden"
    return "visibility: Hidden"


@edit("SK137")
def noise_on_the_target(subject: Subject, spec: Document) -> str:
    """The background noise restarts the broken workload."""
    broken = [o for o in subject.concerned if o.startswith("Deployment/") and o not in subject.alerting]
    targets = {bare(use.target) for use in subject.spec.faults}
    named = [o for o in sorted(broken) if o in targets or f"Service/{o.split('/')[1]}" in targets]
    workload = needs(named, "no fault targets a Deployment that does not alert")[0]
    spec["noise"] = [{"name": "rollouts", "restart": {"target": workload}, "everySeconds": 600}]
    return f"restarts of {workload}"
