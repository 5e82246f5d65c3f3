"""SK202, SK203, SK213: what pods may do to their node, and accounts to the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.astray import meant
from scenario_kit.lint.case import Case
from scenario_kit.lint.entry import AppCase, FaultCase
from scenario_kit.lint.rule import Problem, rule
from scenario_kit.lint.spot import Found, Judged, Spot, fresh
from scenario_kit.lint.stage import Keys, containers, mappings, pod_specs
from scenario_kit.load.edit import Edit, Put
from scenario_kit.model import App, Change, FaultType, Object, Reference
from scenario_kit.model.chaos import GROUP as CHAOS_GROUP
from scenario_kit.model.reference import GROUP, real_name, symbolic_name
from scenario_kit.render.app import CLUSTER_KINDS

#: Capabilities of Linux that Kubernetes' own baseline allows a container to add.
_HARMLESS: Final = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
#: Kernel parameters that the same baseline calls safe: each counts for one pod only.
_SAFE: Final = frozenset(
    {
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    }
)  # fmt: skip
#: Folders of a node that hold somebody else's data.
_FOREIGN: Final = (
    "/etc", "/proc", "/sys", "/dev", "/boot", "/root", "/run", "/var/run", "/var/log", "/usr", "/bin", "/home", "/lib",
    "/sbin", "/var/lib/kubelet", "/var/lib/docker", "/var/lib/containerd", "/var/lib/etcd",
)  # fmt: skip
_READING: Final = frozenset({"get", "list", "watch"})
#: Resources whose reading is as good as being somebody else; and the labels that add rules to roles of the cluster.
_SECRETS: Final = ("secrets", "secrets/*", "*", "*/*", "serviceaccounts/token")
_AGGREGATED: Final = "rbac.authorization.k8s.io/aggregate-to-"
_POWERS: Final = ("cluster-admin", "admin", "edit")
#: Groups of objects that hold the answer, and the names under which a solver is known to the cluster.
_ANSWERS: Final = (GROUP, CHAOS_GROUP)
_MANAGEMENT: Final = ("scenario-kit", "chaos-mesh")
_SOLVER: Final = ("oncall", "system:authenticated", "system:unauthenticated", "system:serviceaccounts")

NODE, KERNEL, CLUSTER = "node-access", "kernel", "Cluster"


@rule(
    "SK202",
    why=(
        "anyone who runs a scenario must know beforehand what it can do to "
        "the cluster's nodes and to other people's objects"
    ),
    bad="securityContext: {privileged: true}   # and nothing in `requires`",
    good="requires: [node-access]   # or no privilege at all",
    fix="do without it, or declare it",
    repair="declares it in a fault: a capability in `requires`, or `scope: Cluster`",
    about=("Scenario", "Fault", "App"),
)
def privileges(case: Judged) -> Iterator[Problem]:
    """A privilege is not declared."""
    for found in fresh(case, _hosts):
        if not _declared(case, found):
            yield _undeclared(case, found, f"{found.subject} has {_told(found.spot)}")
    if isinstance(case, FaultCase) and case.fault.scope != "Cluster":
        yield from _beyond(case)
    if isinstance(case, Case) and not any(fault.scope == "Cluster" for fault in case.faults.values()):
        yield from _meddling(case)


def _hosts(obj: Object) -> Iterator[Spot]:
    """What Kubernetes' baseline for pods forbids; the note is what declares it."""
    for keys, spec in pod_specs(obj):
        for name in ("hostNetwork", "hostPID", "hostIPC"):
            if spec.get(name):
                yield Spot((*keys, name), True, NODE)
        for i, volume in mappings(spec.get("volumes")):
            if path := (volume.get("hostPath") or {}).get("path"):
                yield Spot((*keys, "volumes", i, "hostPath", "path"), path, NODE)
        yield from _context((*keys, "securityContext"), spec.get("securityContext") or {})
    for keys, container in containers(obj):
        yield from _context((*keys, "securityContext"), container.get("securityContext") or {})
        for i, port in mappings(container.get("ports")):
            if port.get("hostPort"):
                yield Spot((*keys, "ports", i, "hostPort"), port["hostPort"], CLUSTER)
    if obj["kind"] == "PersistentVolume":
        path = str(((obj.get("spec") or {}).get("hostPath") or {}).get("path", ""))
        if path and (path.rstrip("/") == "" or any(f"{path}/".startswith(f"{folder}/") for folder in _FOREIGN)):
            yield Spot(("spec", "hostPath", "path"), path, NODE)


def _context(keys: Keys, context: Mapping[str, Any]) -> Iterator[Spot]:
    for name in ("privileged", "allowPrivilegeEscalation"):
        if context.get(name) is True:
            yield Spot((*keys, name), True, NODE)
    for i, added in enumerate((context.get("capabilities") or {}).get("add") or ()):
        if str(added).removeprefix("CAP_") not in _HARMLESS:
            yield Spot((*keys, "capabilities", "add", i), added, KERNEL)
    for i, parameter in mappings(context.get("sysctls")):
        if parameter.get("name") not in _SAFE:
            yield Spot((*keys, "sysctls", i, "name"), parameter.get("name"), KERNEL)
    if (context.get("seccompProfile") or {}).get("type") == "Unconfined":
        yield Spot((*keys, "seccompProfile", "type"), "Unconfined", KERNEL)
    if context.get("procMount", "Default") != "Default":
        yield Spot((*keys, "procMount"), context["procMount"], KERNEL)


def _told(spot: Spot) -> str:
    names = [str(key) for key in spot.keys if isinstance(key, str)]
    name = ".".join(names[-2:]) if names[-1] in ("add", "path", "type", "name") else names[-1]
    return f"`{name}: {str(spot.value).lower() if isinstance(spot.value, bool) else spot.value}`"


def _declared(case: Judged, found: Found) -> bool:
    need = found.spot.note
    if isinstance(case, AppCase):
        return need in case.declared(found.written.stage) or (
            need == CLUSTER and NODE in case.declared(found.written.stage)
        )
    fault = case.fault if isinstance(case, FaultCase) else _chosen(case, found)
    if fault is None:
        return False
    return fault.scope == CLUSTER if need == CLUSTER else need in fault.requires


def _chosen(case: Case, found: Found) -> FaultType | None:
    """The fault whose parameter brings it: what a fault declares holds for every value that it takes."""
    place = found.written.stage.place
    if place[:2] != ("spec", "faults"):
        return None
    return case.types.get(case.scenario.spec.faults[int(place[2])].type)


def _undeclared(case: Judged, found: Found, message: str) -> Problem:
    need, site = found.spot.note, found.site
    if not isinstance(case, FaultCase):
        fix = "do without it, or let the fault do it"
        if isinstance(case, AppCase):
            fix = f"do without it, or bring it with an option that says `x-requires: {{<value>: [{_need(need)}]}}`"
        return Problem(site.place, message, _told(found.spot), "a pod without it", fix, position=site.position)
    declaration = "scope: Cluster" if need == CLUSTER else f"requires: [{', '.join((*case.fault.requires, need))}]"
    fix = f"do without it, or write `{declaration}`"
    return Problem(site.place, message, _told(found.spot), f"`{declaration}`", fix, edits=declaring(case, need))


def _need(note: str) -> str:
    return NODE if note == CLUSTER else note


def declaring(case: FaultCase, need: str) -> tuple[Edit, ...]:
    """The edit that declares a capability of a fault, or its scope."""
    if need == CLUSTER:
        return (Put(("scope",), CLUSTER),)
    known = case.document.get("requires")
    return (Put(("requires", len(known)) if known else ("requires",), need if known else [need]),)


def _beyond(case: FaultCase) -> Iterator[Problem]:
    """Changes of what does not belong to the namespace of one trial."""
    told = set()
    for stage in case.stages:
        for change in stage.changes if stage.place == ("changes",) else ():
            target, where = _outside(change, stage.app)
            kind = Reference.parse(target).kind if target else ""
            if where and kind not in told:
                told.add(kind)
                message = f"the fault writes {target}, which {where}, but its scope is Namespace"
                fix = "write `scope: Cluster`, or change an object of the app"
                yield Problem(("changes",), message, "Namespace", "Cluster", fix, edits=declaring(case, CLUSTER))


def _meddling(case: Case) -> Iterator[Problem]:
    """Solutions and decoys that change what does not belong to the app, where no fault reaches that far."""
    for procedure in case.procedures():
        for i, change in enumerate(procedure.changes):
            target, where = _outside(change, case.app) if case.app else ("", "")
            if where and not target.startswith("ClusterRole") and not meant(case, target):  # SK203, SK121
                message = f"{procedure.kind} '{procedure.name}' changes {target}, which {where}; no fault does"
                place, fix = (*procedure.place, "changes", i, change.operation), "change objects of the app alone"
                yield Problem(place, message, target, "an object of the app", fix)


def _outside(change: Change, app: App) -> tuple[str, str]:
    """What a change is about, and where that lies if it is not in the namespaces of the app; else nothing."""
    body = change.create or change.apply or change.chaos
    target = f"{body['kind']}/{body['metadata']['name']}" if body else change.target or ""
    if not target:
        return "", ""
    ref = Reference.parse(target)
    namespace = (body or {}).get("metadata", {}).get("namespace") or ref.namespace
    homes = [f"Namespace/{real_name(app.namespace, s)}" for s in ("app", *app.namespaces)]
    if ref.kind in CLUSTER_KINDS and target not in homes:
        return target, "belongs to the whole cluster"
    own = symbolic_name(namespace, app.namespace) in ("app", *app.namespaces)
    return target, "" if own else f"lies in {namespace}"


@rule(
    "SK203",
    why=(
        "an account that can write everywhere can undo the trial, read the "
        "answer, and damage what is none of its business"
    ),
    bad="roleRef: {kind: ClusterRole, name: cluster-admin}",
    good="a Role in the app's namespace with the verbs that are needed",
    fix="grant what is needed with a Role and a RoleBinding in the app's namespace",
    about=("Scenario", "Fault", "App"),
)
def cluster_wide(case: Judged) -> Iterator[Problem]:
    """An account may write anywhere in the cluster, or read everybody's secrets."""
    for found in fresh(case, _powers):
        yield Problem(
            found.site.place,
            f"{found.subject} {found.spot.note}",
            str(found.spot.value),
            "rights in the app's namespace, or reading alone",
            position=found.site.position,
        )


def _powers(obj: Object) -> Iterator[Spot]:
    if obj["kind"] == "ClusterRole":
        for i, entry in mappings(obj.get("rules")):
            for j, verb in enumerate(entry.get("verbs") or ()):
                if verb not in _READING and not entry.get("nonResourceURLs"):
                    yield Spot(("rules", i, "verbs", j), verb, f"allows to {verb} in every namespace")
            for j, resource in enumerate(entry.get("resources") or ()):
                if resource in _SECRETS:
                    yield Spot(("rules", i, "resources", j), resource, "allows to read the secrets of every namespace")
        for key in obj["metadata"].get("labels") or ():
            if key.startswith(_AGGREGATED):
                yield Spot(("metadata", "labels", key), key, "becomes part of what other accounts may do")
    name = (obj.get("roleRef") or {}).get("name")
    if obj["kind"] == "ClusterRoleBinding" and name in _POWERS:
        yield Spot(("roleRef", "name"), name, f"makes an account {name} of the whole cluster")
    if obj["kind"] == "RoleBinding" and name == "cluster-admin":
        yield Spot(("roleRef", "name"), name, "makes an account the owner of the namespace and of its quotas and roles")


@rule(
    "SK213",
    why=(
        "a solver's rights come from the lab's policy alone: a right that a fault brings along "
        "points at the fault, and one on the injector's objects is the answer"
    ),
    bad="rules: [{apiGroups: [chaos-mesh.org], resources: ['*'], verbs: [get]}]",
    good="no Role that names chaos-mesh.org or scenariokit.io, no binding for the solver",
    fix="drop the rule or the subject",
    about=("Scenario", "Fault", "App"),
)
def reaching(case: Judged) -> Iterator[Problem]:
    """Rights that reveal the fault injector, or reach it."""
    for found in fresh(case, _reach):
        yield Problem(
            found.site.place, f"{found.subject} {found.spot.note}", str(found.spot.value), position=found.site.position
        )


def _reach(obj: Object) -> Iterator[Spot]:
    if obj["kind"] in ("Role", "ClusterRole"):
        for i, entry in mappings(obj.get("rules")):
            for j, group in enumerate(entry.get("apiGroups") or ()):
                if group in _ANSWERS or group == "*":
                    yield Spot(("rules", i, "apiGroups", j), group, f"grants rights on objects of '{group}'")
    if obj["kind"] in ("RoleBinding", "ClusterRoleBinding"):
        for i, subject in mappings(obj.get("subjects")):
            if subject.get("name") in _SOLVER or str(subject.get("name", "")).startswith("system:serviceaccounts:"):
                yield Spot(("subjects", i, "name"), subject["name"], f"grants rights to '{subject['name']}', a solver")
    if obj["metadata"].get("namespace") in _MANAGEMENT:
        where = obj["metadata"]["namespace"]
        yield Spot(("metadata", "namespace"), where, f"lies in '{where}', where the injector's objects are")
