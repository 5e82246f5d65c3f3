"""Wrong claims about persistence and duration of faults, experiments, solutions and decoys."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.render.scenarios.time_windows import compute_windows
from tools.defects.edits.fault_type import with_own_fault, writes
from tools.defects.edits.solutions import require_one_cause, write_out_solution
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


@kind("SK435")
def fault_said_to_heal(subject: Subject) -> Iterator[Defect]:
    """A fault whose changes persist is declared self-healing, so no restart is tried."""
    name = require_one_cause(subject)
    changes = subject.case.faults[name].changes
    needs(not any(c.operation.runs_command for c in changes), "only a trial shows the effect of a command")
    needs(
        not all(c.operation.experiment and c.operation.experiment["spec"].get("action") == "pod-kill" for c in changes),
        "it is over at once",
    )
    document, files = with_own_fault(subject, lambda fault: fault.update(persistence="SelfHeals"))
    yield Defect("persistence: SelfHeals", document, files)


@kind("SK435", stage="Trial", first=("ending",))
def command_said_to_heal(subject: Subject) -> Iterator[Defect]:
    """The effect of a command on a store is declared self-healing."""
    fault = subject.case.faults[require_one_cause(subject)]
    needs(any(c.operation.runs_command for c in fault.changes), "it runs no command")
    document, files = with_own_fault(subject, lambda own: own.update(persistence="SelfHeals"))
    write_out_solution(subject, document["spec"])
    yield Defect("persistence: SelfHeals", document, files)


@kind("SK305", stage="Trial", first=("repeat",))
def experiment_that_is_over_in_time(subject: Subject) -> Iterator[Defect]:
    """The chaos object expires after its alerts were verified, whatever the solution does."""
    require_one_cause(subject)
    case = subject.case
    must = [a for a in case.scenario.spec.expect.alerts if a.alert_class == "MustFire"]
    rules = case.alerts or {}
    due = max(a.within_seconds or rules[a.name].response_seconds for a in must)
    needed = due + compute_windows(tuple(rules.values()), case.scenario.spec.expect).hold

    def shorten(fault: Document) -> None:
        lasting = [c for c in writes(fault["changes"], "chaos") if c["spec"].get("action") != "pod-kill"]
        needs(lasting, "it has no lasting experiment")[0]["spec"]["duration"] = f"{needed + 60}s"

    document, files = with_own_fault(subject, shorten)
    yield Defect(f"duration: {needed + 60}s", document, files)


@edit("SK412", stage="Trial", first=("repeat",))
def solution_that_only_gives_more_room(subject: Subject, spec: Document) -> str:
    """A solution quadruples the memory limit of a leaking container; the leak continues."""
    fault = require_one_cause(subject)
    needs(subject.spec.faults[0].type == "feature-flag-changed", "it sets no feature flag")
    leaking, flag = "Deployment/email", "emailMemoryLeak"
    container = needs(subject.objects.get(leaking), "no workload leaks")["spec"]["template"]["spec"]["containers"][0]
    memory = container["resources"]["limits"]["memory"]
    number, unit = int(memory.rstrip("Mi")), "Mi"
    spec["faults"][0]["parameters"] = {"flag": flag, "variant": "1000x"}
    spec["expect"] = {"alerts": [{"name": "KubePodCrashLooping", "entity": leaking, "withinSeconds": 1800}]}
    spec["groundTruth"]["propagation"] = [
        {"from": subject.spec.faults[0].target, "to": leaking, "because": "it keeps every mail"}
    ]
    more = {"name": container["name"], "resources": {"limits": {"memory": f"{4 * number}{unit}"}}}
    patch = {"spec": {"template": {"spec": {"containers": [more]}}}}
    changes = [{"patch": {"target": leaking, "type": "Strategic", "patch": patch}}]
    spec["solutions"] = [{"name": "more-memory", "fixes": [fault], "description": "Give it more", "changes": changes}]
    spec["decoys"] = []
    return f"{leaking} leaks, and its limit is raised to {4 * number}{unit}"


@edit("SK431", stage="Trial", first=("repeat",))
def decoy_that_repairs_slowly(subject: Subject, spec: Document) -> str:
    """A decoy repairs the fault slowly: its pods become ready only after minutes."""
    require_one_cause(subject)
    solutions = [s for s in spec.get("solutions", []) if len(s["changes"]) == 1 and "patch" in s["changes"][0]]
    patch = needs(solutions, "its solution is more than a patch")[0]["changes"][0]["patch"]
    needs(patch["type"] == "Strategic" and patch["target"].startswith("Deployment/"), "it patches no Deployment")
    needs("template" in patch["patch"]["spec"], "it patches no pods")
    needs("containers" in patch["patch"]["spec"]["template"]["spec"], "it patches no container")
    pod = subject.objects[patch["target"]]["spec"]["template"]["spec"]
    port = needs([p for c in pod["containers"] for p in c.get("ports", [])], "no container has a port")[0]
    needs(not any(c.get("readinessProbe") for c in pod["containers"]), "its pods are probed in another way")
    probe = {"tcpSocket": {"port": port["containerPort"]}, "initialDelaySeconds": 600}
    slow = {
        "name": "restore-carefully",
        "description": "Put it back, and wait until the cache is warm",
        "changes": [{"patch": {**patch, "patch": _with_probe(patch["patch"], probe)}}],
    }
    spec["decoys"] = [slow]
    return f"the decoy repairs it, with pods ready after {probe['initialDelaySeconds']} s"


def _with_probe(patch: Document, probe: Document) -> Document:
    spec = patch["spec"]["template"]["spec"]
    # A probe has one handler, so the fault's probe is replaced as a whole.
    whole = {"$patch": "replace", **probe}
    containers = [{**c, "readinessProbe": whole if "readinessProbe" in c else probe} for c in spec["containers"]]
    return {"spec": {"template": {"spec": {**spec, "containers": containers}}}}
