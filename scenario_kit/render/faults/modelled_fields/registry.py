"""Projection of each object onto the fields that some part of the lab reads. Fields not listed here have no effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from scenario_kit.model import App, Object
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import flatten, list_texts
from scenario_kit.model.kubernetes.pod_spec import find_mount
from scenario_kit.model.kubernetes.pod_template import read_pod_spec, read_template_labels
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.faults.modelled_fields.contents import Contents, expand_variables
from scenario_kit.render.faults.modelled_fields.reads import ProgramInputs, list_documents, list_flags, read_inputs

#: Pod fields that the real scheduler and API server read.
CONTROL_PLANE: Final = (
    "affinity", "hostNetwork", "nodeName", "nodeSelector", "overhead", "preemptionPolicy", "priority",
    "priorityClassName", "resourceClaims", "resources", "runtimeClassName", "schedulerName", "schedulingGates",
    "tolerations", "topologySpreadConstraints",
)  # fmt: skip
#: Pod fields that the simulated kubelet or the twin reads.
POD: Final = (
    "activeDeadlineSeconds", "dnsPolicy", "enableServiceLinks", "hostAliases", "hostNetwork", "readinessGates",
    "restartPolicy",
)  # fmt: skip
#: Container fields that they read verbatim; for others see ``_project_container``.
CONTAINER: Final = (
    "image", "imagePullPolicy", "livenessProbe", "name", "ports", "readinessProbe", "resources", "restartPolicy",
    "startupProbe",
)  # fmt: skip
#: Service fields that the twin or the endpoints controller reads.
SERVICE: Final = (
    "clusterIP", "externalName", "internalTrafficPolicy", "ports", "publishNotReadyAddresses", "selector",
)  # fmt: skip
#: Service port fields that they read.
SERVICE_PORT: Final = ("name", "port", "protocol", "targetPort")
#: Workload fields that are projected separately or do not affect pods.
_BOOKKEEPING: Final = ("revisionHistoryLimit", "template")
#: Kinds that matter only through the pods that read them, or not at all.
_UNREAD: Final = (
    "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Event", "Lease", "Role", "RoleBinding", "Secret",
    "ServiceAccount",
)  # fmt: skip
#: Kinds that other objects refer to, so that their projections depend on them.
_SHARED: Final = ("ConfigMap", "Secret", "ServiceAccount")
#: Placeholder for a value that is not known; it compares equal to any other.
UNKNOWN: Final = "\0unknown"
_SHELLS: Final = ("sh", "bash", "ash", "dash")
_SHELL_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>[A-Za-z_]\w*))")
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - a path in the pod
_SELECTORS: Final = ("matchLabels", "selector")


def project_objects(
    objects: Sequence[Object], app: App, namespace: str, selected: Sequence[Object] | None = None
) -> dict[tuple[str, str, str], Any]:
    """Project objects, by kind, namespace and name.

    Args:
        objects: all objects of the app.
        app: the app, whose twin declares what its programs read.
        namespace: default namespace.
        selected: the objects to project; all by default.
    """
    selected = objects if selected is None else selected
    if not selected:
        return {}
    keys = list_selected_keys(objects)
    accounts = {o["metadata"]["name"] for o in objects if o["kind"] == "ServiceAccount"} | {"default"}
    documents = list_documents(app.twin) if any(obj["kind"] == "ConfigMap" for obj in selected) else ()
    contents: dict[str, Contents] = {}
    found: dict[tuple[str, str, str], Any] = {}
    for obj in selected:
        home = str(obj["metadata"].get("namespace", namespace))
        place = (obj["kind"], home, obj["metadata"]["name"])
        if obj["kind"] in WORKLOADS:
            known = contents.get(home) or contents.setdefault(home, Contents(objects, namespace, home))
            found[place] = _project_workload(obj, app, known, keys, accounts)
        elif obj["kind"] == "Service":
            found[place] = _project_service(obj)
        elif obj["kind"] not in _UNREAD:
            found[place] = {k: v for k, v in obj.items() if k != "metadata"} | _project_labels(obj)
        elif obj["kind"] == "ConfigMap" and (read := _project_config(obj, app, documents)):
            found[place] = read
    return found


def select_differing(before: Sequence[Object], after: Sequence[Object]) -> tuple[Sequence[Object], Sequence[Object]]:
    """Select the objects whose projections may differ: those not identical in both, and their dependants.

    A workload depends on objects that it mentions, and on selectors of its labels.
    """
    known, new = {id(obj) for obj in before}, {id(obj) for obj in after}
    gone = [obj for obj in before if id(obj) not in new]
    came = [obj for obj in after if id(obj) not in known]
    names = {obj["metadata"]["name"] for obj in (*gone, *came) if obj["kind"] in _SHARED}
    if list_selected_keys(gone) != list_selected_keys(came):
        names |= list_selected_keys(before) ^ list_selected_keys(after)
    dependants = (
        [obj for obj in before if id(obj) in new and not names.isdisjoint(_list_texts_of_object(obj))] if names else []
    )
    return [*gone, *dependants], [*came, *dependants]


def list_selected_keys(objects: Sequence[Object]) -> frozenset[str]:
    """List the label keys that the selectors of these objects use."""
    return frozenset[str]().union(*map(_list_keys_of_object, objects))


@cache_by_identity(maxsize=2048)  # changes leave most objects of an app as they are
def _list_keys_of_object(obj: Object) -> frozenset[str]:
    found: set[str] = set()
    _add_selected_keys(obj, found)
    return frozenset(found)


@cache_by_identity(maxsize=512)
def _list_texts_of_object(obj: Object) -> frozenset[str]:
    return frozenset(list_texts(obj, keys=True))


def _project_labels(obj: Object) -> dict[str, Any]:
    """Return the labels of Namespaces and Nodes, which admission and the scheduler select by."""
    return {"labels": obj["metadata"].get("labels")} if obj["kind"] in ("Namespace", "Node") else {}


def _project_service(obj: Object) -> dict[str, Any]:
    spec = obj.get("spec") or {}
    found = {field: spec[field] for field in SERVICE if field in spec}
    found["ports"] = [{k: port[k] for k in SERVICE_PORT if k in port} for port in spec.get("ports") or ()]
    return {**found, "named": spec.get("type") == "ExternalName"}


def _project_config(obj: Object, app: App, documents: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return what the twin reads from a ConfigMap by name: flags with an effect, and set-up data of stores."""
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
    labels, pod = read_template_labels(obj), read_pod_spec(obj)
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
    """List volumes that may fail to bind or mount, or have a size limit."""
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
    known = read_inputs(app, container)
    env = contents.environment(container, labels)
    found: dict[str, Any] = {field: container[field] for field in CONTAINER if field in container}
    found["words"] = _project_command(container, env, known, init=init)
    found["env"] = {name: value for name, value in env.items() if name in known.variables or name.startswith("\0")}
    found["set"] = _list_set_variables(container, env, known)
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


def _project_command(container: Object, env: Mapping[str, str], known: ProgramInputs, *, init: bool) -> Any:
    """Return the part of the command line that is read: known flags, or all of it for scripts and unknown programs."""
    words = [
        expand_variables(str(word), env) for word in (*(container.get("command") or ()), *(container.get("args") or ()))
    ]
    program = words[0].rpartition("/")[2] if words else ""
    if init or not known.component or program in _SHELLS:
        return [_SHELL_VARIABLE.sub(lambda m: env.get(m["braced"] or m["plain"], m[0]), word) for word in words]
    named = [(word, words[i + 1 : i + 2]) for i, word in enumerate(words) if word in known.words]
    return [words[:1] if container.get("command") else [], named]


def _list_set_variables(container: Object, env: Mapping[str, str], known: ProgramInputs) -> dict[str, bool]:
    """Map the variables that the program requires to whether they are set."""
    names = {str(e.get("name")) for e in container.get("env") or ()} | {n for n in known.needed if "*" not in n}
    return {n: bool(env.get(n)) for n in sorted(names) if any(_fits(n, pattern) for pattern in known.needed)}


def _fits(name: str, pattern: str) -> bool:
    return name == pattern if "*" not in pattern else _compile_glob(pattern).fullmatch(name) is not None


@lru_cache(maxsize=512)
def _compile_glob(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*"))


def _project_configuration(text: str | None, known: ProgramInputs) -> Any:
    """Return the configuration values that are read; UNKNOWN without the file."""
    if text is None:
        return UNKNOWN
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    leaves = dict(flatten(document)) if isinstance(document, dict) else {}
    return {
        "values": {key: leaves[key] for key in sorted(known.keys) if key in leaves},
        "set": {key: bool(leaves.get(key)) for key in sorted(known.needed_keys)},
    }


def _find_paths(words: Any, folder: str) -> list[str]:
    """Find the paths below a folder that a command line mentions."""
    text = " ".join(str(word) for word in words)
    return re.findall(re.escape(folder.rstrip("/")) + r"/([^\s;|&\]'\"]+)", text) if folder else []


def _add_selected_keys(value: Any, found: set[str]) -> None:
    """Add the label keys that the selectors in a value use. Called for every node of every object: no generators."""
    if isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, dict):
                if key in _SELECTORS:
                    found.update(map(str, part))
                _add_selected_keys(part, found)
            elif isinstance(part, list):
                if key == "matchExpressions":
                    found.update(str(e.get("key")) for e in part if isinstance(e, dict))
                _add_selected_keys(part, found)
    elif isinstance(value, list):
        for part in value:
            _add_selected_keys(part, found)
