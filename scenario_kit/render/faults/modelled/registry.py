"""The register: of every object what some part of the lab acts on. What stands nowhere here, nobody acts on."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.faults.modelled.contents import Contents, expand_variables, find_mount
from scenario_kit.render.faults.modelled.reads import ProgramReads, list_documents, list_flags, reads

#: Fields of a pod that the scheduler and the API server act on; both are real.
CONTROL_PLANE: Final = (
    "affinity", "hostNetwork", "nodeName", "nodeSelector", "overhead", "preemptionPolicy", "priority",
    "priorityClassName", "resourceClaims", "resources", "runtimeClassName", "schedulerName", "schedulingGates",
    "tolerations", "topologySpreadConstraints",
)  # fmt: skip
#: Fields of a pod that the simulated kubelet or the twin reads.
POD: Final = ("activeDeadlineSeconds", "dnsPolicy", "hostAliases", "hostNetwork", "readinessGates", "restartPolicy")
#: Fields of a container that they read as they are; of others see ``_project_container``.
CONTAINER: Final = (
    "image", "imagePullPolicy", "livenessProbe", "name", "ports", "readinessProbe", "resources", "restartPolicy",
    "startupProbe",
)  # fmt: skip
#: Fields that they read and that show nowhere: how a container ends is not what becomes of its requests.
UNSEEN: Final = ("lifecycle", "terminationGracePeriodSeconds", "terminationMessagePolicy")
#: Fields of a Service that the twin or the controller of its endpoints reads.
SERVICE: Final = (
    "clusterIP", "externalName", "internalTrafficPolicy", "ports", "publishNotReadyAddresses", "selector",
)  # fmt: skip
#: Of the ports of a Service.
SERVICE_PORT: Final = ("name", "port", "protocol", "targetPort")
#: Fields of a workload, beside its template, that no pod depends on.
_BOOKKEEPING: Final = ("revisionHistoryLimit", "template")
#: Kinds of which nobody acts on anything but what pods read of them, or on nothing at all.
_UNREAD: Final = (
    "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Event", "Lease", "Role", "RoleBinding", "Secret",
    "ServiceAccount",
)  # fmt: skip
#: Kinds that decide what the lab acts on in other objects.
_SHARED: Final = ("ConfigMap", "Secret", "ServiceAccount")
#: Stands for what nobody says: it may be as before.
UNKNOWN: Final = "\0unknown"
_SHELLS: Final = ("sh", "bash", "ash", "dash")
_SHELL_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>[A-Za-z_]\w*))")
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - where a pod finds it
_SELECTORS: Final = ("matchLabels", "selector")


def register(
    objects: Sequence[Object], app: App, namespace: str, chosen: Sequence[Object] | None = None
) -> dict[tuple[str, str, str], Any]:
    """Register what the lab acts on, by kind, namespace and name.

    Args:
        objects: all objects of the app.
        app: the app, whose twin says what its programs read.
        namespace: of objects that name none.
        chosen: those of ``objects`` that are registered; all by default.
    """
    chosen = objects if chosen is None else chosen
    if not chosen:
        return {}
    keys = list_selected_keys(objects)
    accounts = {o["metadata"]["name"] for o in objects if o["kind"] == "ServiceAccount"} | {"default"}
    documents = tuple(list_documents(app)) if any(obj["kind"] == "ConfigMap" for obj in chosen) else ()
    found: dict[tuple[str, str, str], Any] = {}
    for obj in chosen:
        home = str(obj["metadata"].get("namespace", namespace))
        contents = Contents(objects, namespace, home)
        place = (obj["kind"], home, obj["metadata"]["name"])
        if obj["kind"] in WORKLOADS:
            found[place] = _project_workload(obj, app, contents, keys, accounts)
        elif obj["kind"] == "Service":
            found[place] = _project_service(obj)
        elif obj["kind"] not in _UNREAD:
            found[place] = {k: v for k, v in obj.items() if k != "metadata"} | _project_labels(obj)
        elif obj["kind"] == "ConfigMap" and (known := _project_config(obj, app, documents)):
            found[place] = known
    return found


def select_differing(before: Sequence[Object], after: Sequence[Object]) -> tuple[Sequence[Object], Sequence[Object]]:
    """Select the objects whose projections may differ: those that are not the very same in both, and what depends on
    them.

    A workload depends on what it mentions, and on which of its labels some selector asks for.
    """
    known, new = {id(obj) for obj in before}, {id(obj) for obj in after}
    gone = [obj for obj in before if id(obj) not in new]
    came = [obj for obj in after if id(obj) not in known]
    names = {obj["metadata"]["name"] for obj in (*gone, *came) if obj["kind"] in _SHARED}
    if list_selected_keys(gone) != list_selected_keys(came):
        names |= list_selected_keys(before) ^ list_selected_keys(after)
    dependants = [obj for obj in before if id(obj) in new and _mentions(obj, names)] if names else []
    return [*gone, *dependants], [*came, *dependants]


def list_selected_keys(objects: Sequence[Object]) -> frozenset[str]:
    """List the keys of labels that selectors of these objects ask for."""
    return frozenset(key for obj in objects for key in _list_selected(obj))


def _mentions(value: Any, names: Collection[str]) -> bool:
    """Return whether one of these names stands anywhere inside, as a key or a value."""
    if isinstance(value, str):
        return value in names
    if isinstance(value, Mapping):
        return any(key in names or _mentions(part, names) for key, part in value.items())
    return isinstance(value, list) and any(_mentions(part, names) for part in value)


def _project_labels(obj: Object) -> dict[str, Any]:
    """Return labels of what is selected by them whatever the app's objects say: admission looks at those of a
    Namespace.
    """
    return {"labels": obj["metadata"].get("labels")} if obj["kind"] in ("Namespace", "Node") else {}


def _project_service(obj: Object) -> dict[str, Any]:
    spec = obj.get("spec") or {}
    found = {field: spec[field] for field in SERVICE if field in spec}
    found["ports"] = [{k: port[k] for k in SERVICE_PORT if k in port} for port in spec.get("ports") or ()]
    return {**found, "named": spec.get("type") == "ExternalName"}


def _project_config(obj: Object, app: App, documents: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return what the twin reads of a ConfigMap by its name: flags that do something, and what stores are set up
    with.
    """
    data = obj.get("data") or {}
    store, name = app.flags, obj["metadata"]["name"]
    found: dict[str, Any] = {}
    for called, key in documents:
        if called != name or (store is not None and (called, key) == (store.config_map, store.key)):
            continue
        found[key] = data.get(key)
    if store is not None and store.config_map == name:
        found[store.key] = _project_flags(data.get(store.key), list_flags(app))
    return found


def _project_flags(text: Any, known: frozenset[str]) -> Any:
    try:
        document = json.loads(text)
        return {name: entry for name, entry in document["flags"].items() if name in known}
    except (ValueError, TypeError, KeyError, AttributeError):
        return text


def _project_workload(
    obj: Object, app: App, contents: Contents, keys: frozenset[str], accounts: set[str]
) -> dict[str, Any]:
    spec = obj["spec"]
    template = spec.get("template") or {}
    labels: Mapping[str, Any] = (template.get("metadata") or {}).get("labels") or {}
    pod = template.get("spec") or {}
    account = pod.get("serviceAccountName", "default")
    return {
        "workload": {k: v for k, v in spec.items() if k not in _BOOKKEEPING},
        "labels": {k: v for k, v in labels.items() if k in keys},
        "pod": {field: pod[field] for field in (*CONTROL_PLANE, *POD) if field in pod},
        "account": None if account in accounts else account,
        "absent": contents.absent(pod.get("volumes") or ()),
        "volumes": list(_list_volumes(pod)),
        "init": [_project_container(app, c, pod, contents, labels, init=True) for c in pod.get("initContainers") or ()],
        "containers": [_project_container(app, c, pod, contents, labels) for c in pod.get("containers") or ()],
    }


def _list_volumes(pod: Object) -> Iterator[Any]:
    """List volumes that the scheduler or the kubelet may not find, or that have a size."""
    for volume in pod.get("volumes") or ():
        for field in ("persistentVolumeClaim", "ephemeral"):
            if field in volume:
                yield volume[field]
        if (volume.get("hostPath") or {}).get("type"):
            yield volume["hostPath"]
        if (volume.get("emptyDir") or {}).get("sizeLimit"):
            yield volume


def _project_container(
    app: App, container: Object, pod: Object, contents: Contents, labels: Mapping[str, Any], *, init: bool = False
) -> dict[str, Any]:
    known = reads(app, container)
    env = contents.environment(container, labels)
    found: dict[str, Any] = {field: container[field] for field in CONTAINER if field in container}
    found["words"] = _project_command(container, env, known, init=init)
    found["env"] = {name: value for name, value in env.items() if name in known.variables or name.startswith("\0")}
    found["set"] = _set(container, env, known)
    found["refused"] = sorted(name for name, value in env.items() if value.startswith("\0"))
    found["config"] = (
        _project_configuration(contents.file(pod, container, known.config), known) if known.config else None
    )
    found["mounts"] = [find_mount(container, path) for path in sorted({*known.files, _SHARED_MEMORY})]
    if init:
        found["files"] = [
            contents.file(pod, container, str(m["mountPath"]) + "/" + key)
            for m in container.get("volumeMounts") or ()
            for key in _find_paths(found["words"], str(m.get("mountPath", "")))
        ]
    return found


def _project_command(container: Object, env: Mapping[str, str], known: ProgramReads, *, init: bool) -> Any:
    """Return what is read of the command line: all of it where a script or an unknown program runs, else what is
    known.
    """
    words = [
        expand_variables(str(word), env) for word in (*(container.get("command") or ()), *(container.get("args") or ()))
    ]
    program = words[0].rpartition("/")[2] if words else ""
    if init or not known.component or program in _SHELLS:
        return [_SHELL_VARIABLE.sub(lambda m: env.get(m["braced"] or m["plain"], m[0]), word) for word in words]
    named = [(word, words[i + 1 : i + 2]) for i, word in enumerate(words) if word in known.words]
    return [words[:1] if container.get("command") else [], named]


def _set(container: Object, env: Mapping[str, str], known: ProgramReads) -> dict[str, bool]:
    """Return whether the variables are set that the program demands, by a pattern or by name."""
    names = {str(e.get("name")) for e in container.get("env") or ()} | {n for n in known.needed if "*" not in n}
    return {n: bool(env.get(n)) for n in sorted(names) if any(_fits(n, pattern) for pattern in known.needed)}


def _fits(name: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None


def _project_configuration(text: str | None, known: ProgramReads) -> Any:
    """Return what is read of the configuration file. What a program does without it, nobody says."""
    if text is None:
        return UNKNOWN
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    leaves = dict(_leaves(document, "")) if isinstance(document, dict) else {}
    return {
        "values": {key: leaves[key] for key in sorted(known.keys) if key in leaves},
        "set": {key: bool(leaves.get(key)) for key in sorted(known.needed_keys)},
    }


def _leaves(node: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _find_paths(words: Any, folder: str) -> list[str]:
    """Find names of files in a folder that a command line mentions."""
    text = " ".join(str(word) for word in words)
    return re.findall(re.escape(folder.rstrip("/")) + r"/([^\s;|&\]'\"]+)", text) if folder else []


def _list_selected(value: Any) -> Iterator[str]:
    """List the keys of labels that some selector asks for."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key in _SELECTORS and isinstance(part, Mapping):
                yield from map(str, part)
            elif key == "matchExpressions" and isinstance(part, list):
                yield from (str(e.get("key")) for e in part if isinstance(e, Mapping))
            yield from _list_selected(part)
    elif isinstance(value, list):
        for part in value:
            yield from _list_selected(part)
