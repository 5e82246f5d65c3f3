"""Judge what changes write, and their targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.admission.addresses import check_addresses
from scenario_kit.admission.amounts import check_amounts
from scenario_kit.admission.bounds import AdmissionBounds
from scenario_kit.admission.breach import Breach
from scenario_kit.admission.claims import check_claims, check_priorities
from scenario_kit.admission.corefile import check_corefile
from scenario_kit.admission.foreign_hosts import check_command, check_hosts
from scenario_kit.admission.marks import check_marks
from scenario_kit.admission.pods import check_privileges
from scenario_kit.admission.rights import check_granted
from scenario_kit.admission.stressors import check_stressors
from scenario_kit.model import APP_NAMESPACE, Change, Object, Reference
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.chaos.kinds import SCHEDULE
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE, WORKLOADS, find_named, read_group
from scenario_kit.render.simulation.changes import is_whole
from scenario_kit.schema.policies import GOVERNING, REQUESTS
from scenario_kit.schema.writable import CLUSTER, SECRET_TYPES, SYSTEM_NAMESPACES, WRITABLE, Writable

_BY_KIND: Final[Mapping[str, Writable]] = {each.kind: each for each in WRITABLE}
#: Kinds that hold or grant permissions.
_RIGHTS: Final = frozenset({"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Secret", "ServiceAccount"})
_OF_CLUSTER: Final = ("ClusterRole", "ClusterRoleBinding")
_OURS: Final = (MANAGEMENT_NAMESPACE, "chaos-mesh")
_CONFIGURED: Final = ("ConfigMap", "coredns")


class Aim(NamedTuple):
    """The target of a change, with its real namespace."""

    kind: str
    name: str
    namespace: str
    group: str

    @property
    def bare(self) -> Aim:
        """Return it without the group, which references may omit."""
        return self._replace(group="")


def find_breaches(obj: Object, was: Object | None, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Find fields of an object that are not admitted, ignoring those that it had before."""
    had = set() if was is None else {_identify(breach) for breach in judge_object(was, bounds)}
    reported: set[tuple[object, ...]] = set()
    for breach in judge_object(obj, bounds):
        identity = _identify(breach)
        if identity not in had and identity not in reported and breach.declared not in (bounds.declared - {""}):
            reported.add(identity)
            yield breach


def _identify(breach: Breach) -> tuple[object, ...]:
    return breach.code, tuple("" if isinstance(k, int) else k for k in breach.keys), str(breach.value), breach.note


def judge_object(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Report every field of an object that is not admitted under any declaration."""
    yield from _check_kind(obj, bounds)
    yield from _check_place(obj, bounds)
    yield from check_privileges(obj, of_app=bounds.of_app)
    yield from check_granted(obj, bounds)
    yield from check_marks(obj, bounds)
    yield from check_addresses(obj, bounds)
    yield from check_hosts(obj, bounds)
    yield from check_corefile(obj, bounds)
    yield from check_claims(obj, bounds)
    yield from check_priorities(obj, bounds)
    yield from check_stressors(obj)
    if not bounds.of_app:
        yield from check_amounts(obj)
    if obj["kind"] == "Secret" and (type_ := str(obj.get("type") or "")) not in SECRET_TYPES:
        note = f"has type '{type_}', a credential of the cluster"
        yield Breach("SK203", ("type",), type_, note, expected="Opaque, or another type that only the app reads")


def _check_kind(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    kind, group = obj["kind"], read_group(obj)
    if refusal := _explain_forbidden(kind, group):
        fix = "leave it out, with the objects of the kinds that it defines" if bounds.of_app else ""
        yield Breach("SK220", ("kind",), kind, refusal, fix=fix)
        return
    known = _BY_KIND.get(kind)
    # Only the kind of an object that is not rendered is known, without its group.
    if known is None or (group and group != known.group):
        note = "has a kind that no app may have" if bounds.of_app else "has a kind that no change may write"
        expected = _find_alike(group)
        if known is not None and bounds.of_app:
            note = f"is of the API group {group or 'v1'}, but the kind belongs to {known.group or 'v1'}"
            expected = f"apiVersion: {known.group}/…" if known.group else "apiVersion: v1"
        yield Breach("SK235", ("kind",), kind, note, expected=expected)
    elif known.declared and not _is_at_home(obj, bounds):
        yield Breach("SK202", ("kind",), kind, "belongs to the whole cluster", known.declared)
    if kind == SCHEDULE and group == CHAOS_GROUP:
        started = (obj.get("spec") or {}).get("type")
        if started == SCHEDULE or (each := _BY_KIND.get(str(started))) is None or each.group != CHAOS_GROUP:
            yield Breach("SK235", ("spec", "type"), started, f"starts a {started}, which no change may write")


def _is_at_home(obj: Object, bounds: AdmissionBounds) -> bool:
    """Return whether a cluster-scoped object belongs to the app, or is judged by the permissions that it grants."""
    kind, name = obj["kind"], obj["metadata"]["name"]
    if bounds.of_app or kind in _OF_CLUSTER or find_named(bounds.before, kind, name) is not None:
        return True
    if kind == "PersistentVolume":  # a volume reserved for a claim of the app binds to no other
        claim = (obj.get("spec") or {}).get("claimRef") or {}
        return bool(claim.get("name")) and claim.get("namespace") in bounds.namespaces
    return kind == "Namespace" and name in bounds.homes


def _explain_forbidden(kind: str, group: str) -> str:
    if group == GROUP:
        return f"is an object of {GROUP}, which controls trials and verdicts"
    if kind in GOVERNING:
        return "controls admission for the whole cluster"
    if kind in REQUESTS:
        return "is a request, not an object, and cannot be undone"
    return ""


def _find_alike(group: str) -> str:
    kinds = [each.kind for each in WRITABLE if each.group == group] or [
        each.kind for each in WRITABLE if not each.group
    ]
    return " | ".join(kinds)


def _check_place(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    known = _BY_KIND.get(obj["kind"])
    home = obj["metadata"].get("namespace")
    if obj["kind"] == "Namespace" and str(obj["metadata"]["name"]).startswith("kube-"):
        yield Breach(
            "SK236", ("metadata", "name"), obj["metadata"]["name"], "has a name reserved for namespaces of the cluster"
        )
    if known is None or not known.namespaced or not home or home in bounds.namespaces:
        return
    if known.group == CHAOS_GROUP and home in _OURS:
        return  # the namespace of hidden experiments; another rule reports authors who name it
    if _is_system(obj, home):
        yield Breach("SK202", ("metadata", "namespace"), home, f"is in {home}", "SystemComponent")
        return
    yield Breach(
        "SK236", ("metadata", "namespace"), home, f"is in {home}, which is not a namespace of the app",
        expected=" | ".join(sorted(bounds.homes)),
    )  # fmt: skip


def _is_system(obj: Object, home: str) -> bool:
    return home in SYSTEM_NAMESPACES and (obj["kind"], obj["metadata"]["name"]) == _CONFIGURED


def find_aim(change: Change, bounds: AdmissionBounds) -> Aim | None:
    """Return the target of a change; None if it has none."""
    if body := change.operation.manifest:
        if not is_whole(body):
            return None
        metadata = body["metadata"]
        home = bounds.resolve_namespace(str(metadata.get("namespace") or APP_NAMESPACE))
        return Aim(body["kind"], metadata["name"], home, read_group(body))
    ref = change.operation.ref
    return None if ref is None else Aim(ref.kind, ref.name, bounds.resolve_namespace(ref.namespace), ref.group)


def judge_change(change: Change, bounds: AdmissionBounds) -> Breach | None:
    """Return why a change of an existing object is not admitted; effects on rendered objects are judged separately."""
    words = change.operation.words
    if words:
        return next((each._replace(keys=(change.operation.keyword,)) for each in check_command(words, bounds)), None)
    aim = find_aim(change, bounds)
    if aim is None or change.operation.creates:
        return None
    if change.operation.manifest:
        return _check_takeover(aim, bounds)
    keys: Place = (change.operation.keyword, "target")
    target = str(Reference(aim.kind, aim.name, aim.namespace, aim.group))
    breach = _check_aim(change, aim, bounds)
    if breach is None or breach.declared in (bounds.declared - {""}):
        return None
    return breach._replace(keys=keys, value=target)


def _check_takeover(aim: Aim, bounds: AdmissionBounds) -> Breach | None:
    """Check that `apply` writes no cluster-scoped object that may belong to others."""
    known = _BY_KIND.get(aim.kind)
    own = find_named(bounds.before, aim.kind, aim.name) is not None
    if known is None or known.namespaced or own or aim.name in bounds.homes:
        return None
    note = "belongs to the whole cluster, and `apply` would take it over from its owner"
    keys: Place = ("apply", "kind")
    return Breach("SK236", keys, f"{aim.kind}/{aim.name}", note, expected="`create`, which fails if it exists")


def _check_aim(change: Change, aim: Aim, bounds: AdmissionBounds) -> Breach | None:
    def refuse(code: str, note: str, declared: str = "", expected: str = "") -> Breach:
        return Breach(code, (), "", note, declared, expected)

    if refusal := _explain_forbidden(aim.kind, aim.group):
        return refuse("SK220", refusal)
    known = _BY_KIND.get(aim.kind)
    if known is None or (aim.group and aim.group != known.group):
        return refuse("SK235", "has a kind that no change may write")
    if aim.kind == "Node":
        if change.operation.on_nodes:
            return refuse("SK202", "belongs to the whole cluster", CLUSTER)
        return refuse("SK220", "is a node, which a change may only cordon, drain and taint")
    if (aim.kind, aim.name) in bounds.known and (not known.namespaced or aim.namespace in bounds.namespaces):
        return None
    if change.operation.patches and change.operation.merged is None:
        note = "is not among the rendered objects, so that the result of a JSON patch is unknown"
        return refuse("SK236", note, expected="a patch of type Merge, or an object of the app")
    if known.namespaced:
        return _check_outside(change, aim, bounds)
    if aim.kind == "Namespace":
        home = aim.name in bounds.homes
        return None if home and change.operation.patches else refuse("SK220", "is not a namespace of the app")
    if aim.kind == "IPPool" and change.operation.patches:
        return refuse("SK202", "belongs to the whole cluster", CLUSTER)
    if aim.kind in _RIGHTS:
        return refuse("SK220", "holds permissions or secrets that are not the app's")
    return refuse("SK236", "belongs to the whole cluster, and neither the app nor a fault created it")


def _check_outside(change: Change, aim: Aim, bounds: AdmissionBounds) -> Breach | None:
    """Judge a target outside the rendered objects; in a namespace of the app it belongs to one of its workloads."""
    if aim.namespace in bounds.namespaces:
        return None
    if aim.namespace in _OURS:
        return Breach("SK220", (), "", f"is in {aim.namespace}, the namespace of the trial itself")
    if aim.kind in _RIGHTS:
        return Breach("SK220", (), "", "holds permissions or secrets that are not the app's")
    component = aim.kind in WORKLOADS or (aim.kind, aim.name) == _CONFIGURED
    disturbs = aim.kind in WORKLOADS and change.operation.disturbs
    configures = (aim.kind, aim.name) == _CONFIGURED and change.operation.patches and _is_data_merge(change)
    undeclared = "SystemComponent" not in bounds.declared
    if aim.namespace in SYSTEM_NAMESPACES and component and (undeclared or disturbs or configures):
        return Breach("SK202", (), "", f"is in {aim.namespace}", "SystemComponent")
    return Breach("SK236", (), "", f"is in {aim.namespace}, which is not a namespace of the app")


def _is_data_merge(change: Change) -> bool:
    """Return whether a patch visibly writes only data."""
    patch = change.operation.merged
    return patch is not None and set(patch) <= {"data"}


def collect_created(changes: Sequence[Change]) -> list[Object]:
    """Collect the objects that changes create; bodies without kind or name are reported by another rule."""
    return [body for c in changes if (body := c.operation.manifest) and is_whole(body)]
