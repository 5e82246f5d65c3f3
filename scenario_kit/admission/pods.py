"""Pod access to nodes: the fields, volumes and capabilities that need no declaration.

Pod specs are found anywhere: in Pods, templates of any kind, and custom resources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.admission.breach import KERNEL, NODE, Breach
from scenario_kit.model import Object
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import Place, list_mappings
from scenario_kit.render.faults.template_context import GENERATED_SUFFIX
from scenario_kit.schema.writable import CLUSTER

#: Fields of a pod spec without effect outside the pod; others need node access.
_FIELDS: Final = frozenset(
    {
        "activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "containers", "dnsConfig", "dnsPolicy",
        "enableServiceLinks", "ephemeralContainers", "hostAliases", "hostname", "imagePullSecrets", "initContainers",
        "nodeSelector", "os", "overhead", "preemptionPolicy", "priority", "priorityClassName", "readinessGates",
        "resources", "restartPolicy", "schedulerName", "schedulingGates", "securityContext", "serviceAccount",
        "serviceAccountName", "setHostnameAsFQDN", "shareProcessNamespace", "subdomain",
        "terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints", "volumes",
    }
)  # fmt: skip
#: Fields that are harmless with these values.
_OFF: Final = {"hostUsers": True, "hostNetwork": False, "hostPID": False, "hostIPC": False, "nodeName": ""}
#: Volume types whose content is empty or from the app's namespace.
_VOLUMES: Final = frozenset(
    {"name", "configMap", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
)
#: Linux capabilities that Pod Security `baseline` allows a container to add.
_HARMLESS: Final = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
#: Sysctls that `baseline` allows, as they are namespaced to the pod.
_SAFE: Final = frozenset(
    {
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    }
)  # fmt: skip
#: Fields of a security context that restrict, or that the image can set as well.
_CONTEXT: Final = frozenset(
    {
        "capabilities", "fsGroup", "fsGroupChangePolicy", "privileged", "allowPrivilegeEscalation", "procMount",
        "readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot", "runAsUser", "seccompProfile", "supplementalGroups",
        "supplementalGroupsPolicy", "sysctls",
    }
)  # fmt: skip
#: Resources that every node has; others are devices that a plugin of the node hands out.
_RESOURCES: Final = re.compile(r"cpu|memory|ephemeral-storage|hugepages-[^/]*")
#: Fields of a LimitRange by which the API server gives resources to containers that request none.
_DEFAULTS: Final = ("default", "defaultRequest")
#: Host directories in which a volume may have its own directory with a generated name.
_FOLDERS: Final = ("/var/lib/", "/mnt/", "/srv/", "/data/")
_GENERATED_NAME: Final = re.compile(rf"[a-z0-9][-a-z0-9]*-{GENERATED_SUFFIX}")
#: Sources of a projected volume: objects of the namespace, but no credentials for other systems.
_PROJECTED: Final = frozenset({"clusterTrustBundle", "configMap", "downwardAPI", "secret", "serviceAccountToken"})
_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS: Final = ("postStart", "preStop")


@cache_by_identity(maxsize=64)  # several checks ask for those of an object
def find_pod_specs(obj: Object) -> tuple[tuple[Place, Mapping[str, Any]], ...]:
    """Find every pod spec in an object (any mapping with containers), each with its place."""
    return tuple(_walk_pod_specs(obj, ()))


def _walk_pod_specs(value: Any, keys: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if any(_is_containers(value, kind) for kind in _LISTS):
            yield keys, value
            return
        for name, part in value.items():
            if name not in ("metadata", "data", "stringData", "status"):
                yield from _walk_pod_specs(part, (*keys, name))
    elif isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from _walk_pod_specs(part, (*keys, i))


def list_containers(spec: Mapping[str, Any], keys: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """List the containers of a pod spec, each with its place."""
    for kind in _LISTS:
        for i, container in list_mappings(spec.get(kind)):
            yield (*keys, kind, i), container


def list_actions(container: Mapping[str, Any], keys: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """List the probes and hooks of a container, each with its place."""
    for probe in _PROBES:
        if isinstance(container.get(probe), Mapping):
            yield (*keys, probe), container[probe]
    for hook in _HOOKS:
        if isinstance(action := (container.get("lifecycle") or {}).get(hook), Mapping):
            yield (*keys, "lifecycle", hook), action


def _is_containers(spec: Mapping[str, Any], kind: str) -> bool:
    listed = spec.get(kind)
    return isinstance(listed, list | tuple) and any(isinstance(each, Mapping) for each in listed)


def check_privileges(obj: Object, *, of_app: bool = False) -> Iterator[Breach]:
    """Report privileges of an object's pods, each with the declaration that would admit it."""
    for keys, spec in find_pod_specs(obj):
        yield from _check_pod(spec, keys)
        yield from _check_tokens(spec, keys)
    if obj["kind"] == "PersistentVolume":
        yield from _check_volume(obj, of_app=of_app)
    if obj["kind"] == "LimitRange":
        for i, limit in list_mappings((obj.get("spec") or {}).get("limits")):
            for field in _DEFAULTS:
                yield from _check_amounts(limit.get(field), ("spec", "limits", i, field), "gives each container")


def _check_pod(spec: Mapping[str, Any], keys: Place) -> Iterator[Breach]:
    for name, value in spec.items():
        if name in _FIELDS or value is None or (name in _OFF and value == _OFF[name]):
            continue
        yield Breach("SK202", (*keys, name), value, f"has `{name}: {_shorten(value)}`", NODE, "a pod without it")
    if str(spec.get("priorityClassName", "")).startswith("system-"):
        name = spec["priorityClassName"]
        note = f"has `priorityClassName: {name}`, the priority of the cluster's own components"
        yield Breach("SK202", (*keys, "priorityClassName"), name, note, NODE)
    for i, volume in list_mappings(spec.get("volumes")):
        for source, body in volume.items():
            if source not in _VOLUMES and body is not None:
                path = body.get("path") if source == "hostPath" and isinstance(body, Mapping) else None
                place = (*keys, "volumes", i, source, *(("path",) if path else ()))
                field = f"hostPath.path: {path}" if path else f"volumes.{source}: {_shorten(body)}"
                yield Breach("SK202", place, path or source, f"has `{field}`", NODE, "a pod without it")
    yield from _check_security_context(spec.get("securityContext"), (*keys, "securityContext"))
    yield from _check_resources(spec, keys)
    for place, container in list_containers(spec, keys):
        yield from _check_container(container, place)


def _check_resources(spec: Mapping[str, Any], keys: Place) -> Iterator[Breach]:
    """Check that a pod or container uses no devices of its node."""
    for bound in ("limits", "requests"):
        yield from _check_amounts((spec.get("resources") or {}).get(bound), (*keys, "resources", bound), "requests")


def _check_amounts(amounts: Any, keys: Place, does: str) -> Iterator[Breach]:
    for name, amount in amounts.items() if isinstance(amounts, Mapping) else ():
        if not _RESOURCES.fullmatch(str(name)) and str(amount) != "0":
            note = f"{does} {amount} of `{name}`, devices of the cluster's nodes"
            yield Breach("SK202", (*keys, name), amount, note, CLUSTER, "cpu and memory")


def _check_tokens(spec: Mapping[str, Any], keys: Place) -> Iterator[Breach]:
    """Check that no pod gets a token or certificate for other systems than this cluster's API server."""
    for i, volume in list_mappings(spec.get("volumes")):
        for j, source in list_mappings((volume.get("projected") or {}).get("sources")):
            place: Place = (*keys, "volumes", i, "projected", "sources", j)
            audience = (source.get("serviceAccountToken") or {}).get("audience")
            if audience:
                note = f"gets a token for '{audience}', which is valid outside this cluster's API server"
                yield Breach("SK203", (*place, "serviceAccountToken", "audience"), audience, note)
            for name in sorted(set(source) - _PROJECTED):
                yield Breach("SK203", (*place, name), name, f"gets a credential by `projected.{name}`")


def _check_container(container: Mapping[str, Any], keys: Place) -> Iterator[Breach]:
    yield from _check_resources(container, keys)
    yield from _check_security_context(container.get("securityContext"), (*keys, "securityContext"))
    for i, port in list_mappings(container.get("ports")):
        if port.get("hostPort"):
            note = f"has `hostPort: {port['hostPort']}`"
            yield Breach("SK202", (*keys, "ports", i, "hostPort"), port["hostPort"], note, CLUSTER, "a pod without it")
    for i, _ in list_mappings(container.get("volumeDevices")):
        note = "has `volumeDevices`, a block device of the node"
        yield Breach("SK202", (*keys, "volumeDevices", i), "volumeDevices", note, NODE)


def _check_security_context(context: Any, keys: Place) -> Iterator[Breach]:
    if not isinstance(context, Mapping):
        return

    def found(place: Place, value: Any, need: str) -> Breach:
        return Breach(
            "SK202", (*keys, *place), value, f"has `{_name_place(place)}: {_shorten(value)}`", need, "a pod without it"
        )

    for name, value in context.items():
        if name not in _CONTEXT and value is not None:
            yield found((str(name),), value, KERNEL)
    for name in ("privileged", "allowPrivilegeEscalation"):
        if context.get(name) is True:
            yield found((name,), True, NODE)
    added = (context.get("capabilities") or {}).get("add") or ()
    for i, capability in enumerate(added):
        if str(capability).removeprefix("CAP_") not in _HARMLESS:
            yield found(("capabilities", "add", i), capability, KERNEL)
    for i, parameter in list_mappings(context.get("sysctls")):
        if parameter.get("name") not in _SAFE:
            yield found(("sysctls", i, "name"), parameter.get("name"), KERNEL)
    profile = (context.get("seccompProfile") or {}).get("type", "RuntimeDefault")
    if profile not in ("RuntimeDefault", "Localhost"):
        yield found(("seccompProfile", "type"), profile, KERNEL)
    if context.get("procMount", "Default") != "Default":
        yield found(("procMount",), context["procMount"], KERNEL)


def _check_volume(obj: Object, *, of_app: bool) -> Iterator[Breach]:
    spec: Mapping[str, Any] = obj.get("spec") or {}
    for source in ("hostPath", "local"):
        path = str((spec.get(source) or {}).get("path", ""))
        if path and not _is_own_folder(path, str(obj["metadata"]["name"]), of_app=of_app):
            note = f"has `{source}.path: {path}`, a shared folder of the node"
            expected = "/var/lib/<name of the volume>, with a name from `neutral(prefix)`"
            yield Breach("SK202", ("spec", source, "path"), path, note, NODE, expected)
    for source, body in spec.items():
        if isinstance(body, Mapping) and source not in ("hostPath", "local", "capacity", "claimRef", "nodeAffinity"):
            note = f"has `{source}`, storage outside the cluster"
            yield Breach("SK202", ("spec", source), source, note, NODE, "hostPath or local")


def _is_own_folder(path: str, name: str, *, of_app: bool) -> bool:
    """Return whether a host path is exclusive to a volume: only a generated name cannot collide."""
    folder = next((each for each in _FOLDERS if path.startswith(each)), "")
    first, *below = path.removeprefix(folder).split("/")
    if not folder or not first or "" in below[:-1] or {first, *below} & {"..", "."}:
        return False
    if of_app and folder != _FOLDERS[0]:
        return True
    return first == name and (of_app or _GENERATED_NAME.fullmatch(name) is not None)


def _name_place(place: Place) -> str:
    """Return the last name of a place, or two if one alone is ambiguous."""
    names = [str(key) for key in place if isinstance(key, str)]
    return ".".join(names[-2:]) if names[-1] in ("add", "path", "type", "name") else names[-1]


def _shorten(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)[:80]
