"""Solutions that repair nothing or only hide the symptoms, and decoys that repair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.inert_fault import annotate
from tools.defects.edits.objects import find_file
from tools.defects.edits.solutions import require_one_cause, write_out_solution
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


def _solved_by(subject: Subject, changes: list[Any], reported: str) -> Defect:
    """Return the scenario with these changes as its only solution."""
    document, spec = subject.copy()
    fault = require_one_cause(subject)
    spec["solutions"] = [{"name": "repair", "fixes": [fault], "description": "Said to repair it", "changes": changes}]
    spec["decoys"] = [d for d in spec.get("decoys", []) if d["changes"] != changes][:0]
    return Defect(reported, document)


@kind("SK411", stage="Trial", first=("repeat",))
def solution_that_does_nothing(subject: Subject) -> Iterator[Defect]:
    """A solution restarts an unrelated workload."""
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    yield _solved_by(subject, [{"restart": {"target": other}}], f"restart {other}")


@kind("SK411", stage="Trial", first=("repeat",))
def solution_that_hides_the_victims(subject: Subject) -> Iterator[Defect]:
    """A solution scales the alerting workloads to zero."""
    victims = [o for o in subject.alerting if _replicas(subject, o) > 0]
    changes = [{"scale": {"target": o, "replicas": 0}} for o in needs(victims, "no alerting object has replicas")]
    yield _solved_by(subject, changes, f"scale {', '.join(victims)} to zero")


@kind("SK411", stage="Trial", first=("repeat",))
def solution_that_stops_the_load(subject: Subject) -> Iterator[Defect]:
    """A solution stops the load generator."""
    loads = [c.workload for c in subject.components() if c.role == "Load" and c.workload in subject.objects]
    load = needs(loads, "it has no load generator")[0]
    yield _solved_by(subject, [{"scale": {"target": load, "replicas": 0}}], f"scale {load} to zero")


@kind("SK111", "SK411", stage="Trial", first=("repeat",))
def solution_that_deletes_a_victim(subject: Subject) -> Iterator[Defect]:
    """A solution deletes an alerting object."""
    victims = [o for o in subject.alerting if o in subject.objects and o not in subject.causes]
    victim = needs(victims, "only the broken object alerts")[0]
    yield _solved_by(subject, [{"delete": {"target": victim}}], f"delete {victim}")


@edit("SK411", stage="Trial", first=("repeat",))
def solution_with_a_wrong_value(subject: Subject, spec: Document) -> str:
    """A solution sets the right field to another wrong value."""
    require_one_cause(subject)
    patches = [c["patch"] for s in spec.get("solutions", [])[:1] for c in s["changes"] if "patch" in c]
    patch = needs(patches, "its solution patches nothing")[0]
    spoilt = _spoilt(patch["patch"])
    needs([spoilt] if spoilt != patch["patch"] else [], "its solution only removes fields")
    patch["patch"] = spoilt
    return f"the solution patches {patch['patch']}"


def _spoilt(value: Any, key: str = "") -> Any:
    """Return the patch with slightly changed values, except names."""
    if isinstance(value, dict):
        return {k: v if k in ("name", "op", "path", "port") else _spoilt(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_spoilt(v, key) for v in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value + 3
    if key == "image":
        return value.partition("@")[0] + "9"
    return str(value).replace("://", "://x") if "://" in str(value) else f"{value}x"


@kind("SK411", stage="Trial", first=("repeat",))
def solution_with_collateral_damage(subject: Subject) -> Iterator[Defect]:
    """A solution also scales an unrelated workload to zero."""
    document, spec = _inheriting(subject)
    others = [o for o in subject.bystanders("Deployment") if _replicas(subject, o) > 0]
    other = needs(others, "every Deployment has to do with it")[0]
    spec["solutions"][0]["changes"].append({"scale": {"target": other, "replicas": 0}})
    yield Defect(f"the solution also scales {other} to zero", document)


@kind("SK411", stage="Trial", first=("repeat",))
def solution_that_takes_limits_off(subject: Subject) -> Iterator[Defect]:
    """A solution also removes the memory limit of an unrelated container."""
    document, spec = _inheriting(subject)
    limited = [
        (other, container["name"])
        for other in subject.bystanders("Deployment")
        for container in subject.objects[other]["spec"]["template"]["spec"]["containers"]
        if container.get("resources", {}).get("limits", {}).get("memory")
    ]
    other, container = needs(limited, "no uninvolved container has a limit")[0]
    taken = {"name": container, "resources": {"limits": None}}
    patch = {"spec": {"template": {"spec": {"containers": [taken]}}}}
    spec["solutions"][0]["changes"].append({"patch": {"target": other, "type": "Strategic", "patch": patch}})
    yield Defect(f"the solution also removes the limits of {other}", document)


@kind("SK419", stage="Trial", first=("repeat",))
def solution_that_admits_no_more_pods(subject: Subject) -> Iterator[Defect]:
    """A solution leaves a quota that takes effect only when the next pod starts."""
    document, spec = _inheriting(subject)
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "budget"},
        "spec": {"hard": {"pods": "1"}},
    }
    spec["solutions"][0]["changes"].append({"create": quota})
    yield Defect("the solution also creates a quota of one pod", document)


@kind("SK419", stage="Trial", first=("repeat",))
def solution_that_stops_releases(subject: Subject) -> Iterator[Defect]:
    """A solution leaves a Deployment paused."""
    document, spec = _inheriting(subject)
    victims = [o for o in subject.alerting if o.startswith("Deployment/") and _replicas(subject, o) > 0]
    victim = needs(victims, "no Deployment alerts")[0]
    patch = {"target": victim, "type": "Merge", "patch": {"spec": {"paused": True}}}
    spec["solutions"][0]["changes"].append({"patch": patch})
    yield Defect(f"the solution also pauses {victim}", document)


def _inheriting(subject: Subject) -> tuple[Document, Document]:
    """Return a copy of a scenario with one cause, with its solutions written out, and the copy's spec."""
    document, spec = subject.copy()
    require_one_cause(subject)
    write_out_solution(subject, spec)
    return document, spec


@edit("SK411", stage="Trial", first=("repeat",))
def half_a_solution(subject: Subject, spec: Document) -> str:
    """A solution lacks its last step."""
    require_one_cause(subject)
    long = [s for s in spec.get("solutions", [])[:1] if len(s["changes"]) > 1]
    dropped = needs(long, "its solution has one step")[0]["changes"].pop()
    return f"without {dropped}"


@kind("SK433")
def decoy_that_does_more_than_a_solution(subject: Subject) -> Iterator[Defect]:
    """A decoy does what the solution does, plus something harmless."""
    document, spec = _inheriting(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    spec["decoys"] = [_repairing(spec["solutions"][0], other)]
    yield Defect(f"the solution and an annotation of {other} as decoy", document)


@kind("SK433")
def decoy_that_says_the_solution_otherwise(subject: Subject) -> Iterator[Defect]:
    """A decoy writes what the solution writes, by a patch of another type."""
    yield from decoy_that_works(subject)


@kind("SK431", "SK433", stage="Trial", first=("repeat",))
def decoy_that_works(subject: Subject) -> Iterator[Defect]:
    """A decoy is an equivalent of the solution, written differently."""
    document, spec = _inheriting(subject)
    changes = [_rewritten(change) for change in spec["solutions"][0]["changes"]]
    needs(changes != spec["solutions"][0]["changes"], "its solution can be written only one way")
    spec["decoys"] = [{"name": "another-try", "description": "Somebody tries it", "changes": changes}]
    yield Defect("the solution as decoy, written differently", document)


def _rewritten(change: Document) -> Document:
    """Return an equivalent patch: with an annotation that nothing reads, or with ``add`` in place of ``replace``."""
    patch = change.get("patch")
    if patch is None:
        return change
    if patch["type"] == "Json":
        steps = [
            {**s, "op": "add"} if s["op"] == "replace" and not s["path"].rpartition("/")[2].isdigit() else s
            for s in patch["patch"]
        ]
        return {"patch": {**patch, "patch": steps}}
    note = annotate(patch["target"], "2024-03")["patch"]["patch"]["metadata"]
    metadata = patch["patch"].get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), **note["annotations"]}
    return {"patch": {**patch, "patch": {**patch["patch"], "metadata": {**metadata, "annotations": annotations}}}}


def _repairing(solution: Document, other: str) -> Document:
    """Return a decoy that does what a solution does, plus something harmless."""
    changes = [*solution["changes"], annotate(other, "2024-03")]
    return {"name": "another-try", "description": "Somebody tries it", "changes": changes}


@edit("SK433")
def decoy_that_repairs_one_of_two(subject: Subject, spec: Document) -> str:
    """A decoy does what the solution of one of two independent causes does, plus something harmless."""
    needs(subject.incident, "there is no incident")
    truth = subject.spec.ground_truth
    needs(len(truth.root_causes) > 1 and truth.causes_join == "Independent", "it has one cause")
    partly = [s for s in spec.get("solutions", []) if len(s.get("fixes", [])) == 1]
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    spec["decoys"] = [_repairing(needs(partly, "no solution repairs one of them")[0], other)]
    return f"the repair of {partly[0]['fixes'][0]} and an annotation of {other} as decoy"


@edit("SK411", stage="Trial", first=("leave-out",))
def solution_that_another_one_spares(subject: Subject, spec: Document) -> str:
    """Of two solutions for independent causes, one repairs both and the other restarts a bystander."""
    needs(subject.incident, "there is no incident")
    needs(subject.spec.ground_truth.causes_join == "Independent", "either repair is enough")
    partly = [s for s in spec.get("solutions", []) if len(s.get("fixes", [])) == 1]
    needs(len({s["fixes"][0] for s in partly}) > 1, "no two solutions repair one cause each")
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    first, second = partly[0], next(s for s in partly if s["fixes"] != partly[0]["fixes"])
    first["changes"] = [*first["changes"], *second["changes"]]
    second["changes"] = [{"restart": {"target": other}}]
    return f"{second['name']} restarts {other}, {first['name']} repairs everything"


@kind("SK411", "SK434", stage="Trial", first=("repeat",))
def solution_that_shuts_another_door(subject: Subject) -> Iterator[Defect]:
    """A solution also points another Service at a closed port, which existing connections do not notice."""
    document, spec = _inheriting(subject)
    other = needs(subject.bystanders("Service"), "every Service is involved")[0]
    ports = [{"port": p["port"], "targetPort": 9} for p in subject.objects[other]["spec"]["ports"][:1]]
    shut = {"patch": {"target": other, "type": "Strategic", "patch": {"spec": {"ports": ports}}}}
    spec["solutions"][0]["changes"].append(shut)
    yield Defect(f"the solution also points {other} at port 9", document)


@edit("SK411", stage="Trial", first=("repeat",))
def solution_that_deletes_what_is_read_at_starts(subject: Subject, spec: Document) -> str:
    """A solution also deletes a ConfigMap that the app reads at startup."""
    require_one_cause(subject)
    write_out_solution(subject, spec)
    flags = f"ConfigMap/{subject.case.app.flags.config_map}" if subject.case.app and subject.case.app.flags else ""
    touched = {c.target for f in subject.case.faults.values() for c in f.changes} | set(subject.causes)
    files = [o for o in subject.objects if o.startswith("ConfigMap/") and o != flags and o not in touched]
    file = needs(sorted(files), "its fault touches every file of the app")[0]
    spec["solutions"][0]["changes"].append({"delete": {"target": file}})
    return f"the solution also deletes {file}"


@kind("SK422", stage="Standard", first=("cheats",))
def fault_that_a_restart_repairs(subject: Subject) -> Iterator[Defect]:
    """A fault that a restart ends is declared to outlast restarts."""
    from tools.defects.edits.fault_type import with_own_fault

    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(fault.persistence in ("OneShot", "Pod") and fault.mitigation != "None", "its fault outlasts restarts")
    document, files = with_own_fault(subject, lambda own: own.update(persistence="Object"))
    yield Defect("persistence: Object", document, files)


def _replicas(subject: Subject, name: str) -> int:
    spec: Document = subject.objects.get(name, {}).get("spec", {})
    return int(spec.get("replicas", 1)) if name in subject.objects else 0


@kind("SK411", "SK434", stage="Trial", first=("repeat",))
def solution_that_empties_a_file(subject: Subject) -> Iterator[Defect]:
    """A solution also empties a file that the app reads at startup."""
    document, spec = _inheriting(subject)
    file, key = find_file(subject)
    spec["solutions"][0]["changes"].append({"patch": {"target": file, "type": "Merge", "patch": {"data": {key: None}}}})
    yield Defect(f"the solution also removes {key} from {file}", document)
