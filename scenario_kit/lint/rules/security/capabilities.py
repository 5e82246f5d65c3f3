"""SK209: capabilities that a fault or an app needs but does not declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, Final

from scenario_kit.lint.context.catalog_context import AppCase, FaultCase
from scenario_kit.lint.context.source_location import find_site
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.rules.security.privileges import build_declaration_edit
from scenario_kit.model import Object, Severity
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import WORKLOADS, read_group
from scenario_kit.render.objects.lookup import format_reference

#: Kinds that only some clusters support.
_KINDS: Final = {
    "NetworkPolicy": "cni-network-policy", "Ingress": "ingress-controller", "IPPool": "calico", "IPAMConfig": "calico",
    "GlobalNetworkPolicy": "calico", "HorizontalPodAutoscaler": "metrics-server",
}  # fmt: skip
_GROUPS: Final = {
    "security.istio.io": "mesh", "networking.istio.io": "mesh", "gateway.networking.k8s.io": "mesh",
    "linkerd.io": "mesh", "policy.linkerd.io": "mesh", "crd.projectcalico.org": "calico",
    "projectcalico.org": "calico",
}  # fmt: skip
_REAL: Final = "real-data-plane"
_STORAGE: Final = "dynamic-storage"
#: Fields of pods and containers that only a real runtime implements.
_UNMODELLED: Final = frozenset({"postStart", "securityContext"})
#: Kinds of Chaos Mesh that its manager implements alone; others need its daemon on the node.
_MANAGED: Final = frozenset({"PodChaos", "Schedule"})
_CHAOS: Final = {
    "DNSChaos": "dns-chaos-server",
    "JVMChaos": "jvm",
    "PhysicalMachineChaos": "physical-node",
    "KernelChaos": "kernel",
    "BlockChaos": "kernel",
}
#: Actions of NetworkChaos that use a queueing discipline of the kernel; a partition uses the firewall.
_NETEM: Final = frozenset({"delay", "loss", "duplicate", "corrupt", "reorder", "bandwidth", "rate", "netem"})


@register_check("SK209", "Fault")
@report_once("expected")
def check_undeclared(case: FaultCase) -> Iterator[Problem]:
    for one in case.written:
        if one.stage.place == ("changes",):
            for need in needs_of_object(one.object, one.was):
                if need not in case.fault.requires:
                    fields = _find_unmodelled(one.object, one.was) if need == _REAL else []
                    what = (
                        f"{' and '.join(fields)} of {format_reference(one.object)}"
                        if fields
                        else format_reference(one.object)
                    )
                    message = f"{what} has an effect only in clusters with '{need}', which is not declared"
                    fix = f"write `requires: [{', '.join((*case.fault.requires, need))}]`"
                    edits = build_declaration_edit(case, need)
                    yield Problem(
                        ("changes",), message, ", ".join(case.fault.requires) or "none", need, fix, edits=edits
                    )


@register_check("SK209", "App")
@report_once("message")
def check_claims(case: AppCase) -> Iterator[Problem]:
    """Warn of volumes that a cluster must provision, which no option declares: in a lab, their pods stay pending."""
    for stage in case.stages:
        reserved = {_read_claim(o) for o in stage.after if o["kind"] == "PersistentVolume"}
        for obj in stage.after if _STORAGE not in case.declared(stage) else ():
            name = str(format_reference(obj))
            if not _needs_provisioner(obj, reserved):
                continue
            word = "volumeClaimTemplates" if obj["kind"] == "StatefulSet" else obj["kind"]
            site = find_site(case, stage, ("kind",), word)
            message = f"{name} claims a volume that the cluster must provision, which a lab does not"
            fix = (
                "let an option choose: a claim, with `x-requires: {Claim: [dynamic-storage]}`, or by default `emptyDir`"
            )
            yield Problem(
                ("name",), message, "none", _STORAGE, fix, severity=Severity.WARNING, position=site and site.position
            )


def _needs_provisioner(obj: Object, reserved: Set[str]) -> bool:
    """Return whether an object claims a volume that the app does not bring itself."""
    spec = obj.get("spec") or {}
    if obj["kind"] == "StatefulSet":
        return bool(spec.get("volumeClaimTemplates"))
    unbound = not spec.get("volumeName") and obj["metadata"]["name"] not in reserved
    return obj["kind"] == "PersistentVolumeClaim" and unbound


def _read_claim(volume: Object) -> str:
    return str(((volume.get("spec") or {}).get("claimRef") or {}).get("name") or "")


def needs_of_object(obj: Object, was: Object | None) -> Iterator[str]:
    """Yield the capabilities without which an object has no effect."""
    group = read_group(obj)
    kind, spec = obj["kind"], obj.get("spec") or {}
    if group == "chaos-mesh.org":
        yield from _find_chaos_needs(kind, spec)
    elif kind in _KINDS:
        yield _KINDS[kind]
    elif group in _GROUPS:
        yield _GROUPS[group]
    elif kind in WORKLOADS and _find_unmodelled(obj, was):
        yield _REAL
    labels = {**_read_labels(obj), **_read_labels((spec.get("template") or {}) if isinstance(spec, Mapping) else {})}
    if any(name.startswith("istio.io/") for name in labels) and not (was and labels == _read_labels(was)):
        yield "mesh"


def _find_unmodelled(obj: Object, was: Object | None) -> list[str]:
    """List changed fields of the app's pods that only a real runtime implements: the lab ignores them."""
    if was is None:
        return []  # of a new workload only its existence is simulated
    before = _list_settings(was)
    return sorted({place[1] for place, value in _list_settings(obj).items() if value and value != before.get(place)})


def _list_settings(obj: Object) -> dict[tuple[str, str], Any]:
    pod = read_pod_spec(obj)
    containers = [(c.get("name", ""), {**c, **(c.get("lifecycle") or {})}) for c in pod.get("containers") or ()]
    return {(name, field): part[field] for name, part in [("", pod), *containers] for field in _UNMODELLED & {*part}}


def _find_chaos_needs(kind: str, spec: Mapping[str, Any]) -> Iterator[str]:
    yield "chaos-mesh"
    action = spec.get("action", "")
    if kind == "Schedule":
        kind = str(spec.get("type", ""))
        body = next((v for k, v in spec.items() if k.lower() == kind.lower() and isinstance(v, Mapping)), {})
        action = body.get("action", "")
    if kind not in _MANAGED or action == "container-kill":
        yield "chaos-daemon"
    if kind in _CHAOS:
        yield _CHAOS[kind]
    if kind == "NetworkChaos" and action in _NETEM:
        yield "netem"


def _read_labels(obj: Mapping[str, Any]) -> dict[str, Any]:
    return dict((obj.get("metadata") or {}).get("labels") or {})
