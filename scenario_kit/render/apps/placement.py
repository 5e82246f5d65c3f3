"""Place the rendered documents of an app in its namespaces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model import APP_NAMESPACE, App, Object
from scenario_kit.model.json_document import replace_texts
from scenario_kit.model.kubernetes.reference import (
    WORKLOADS,
    read_group,
    resolve_homes,
    resolve_namespace,
    symbolise_namespace,
)
from scenario_kit.model.kubernetes.secret import encode_secret
from scenario_kit.render.objects.object_shape import find_lacking, find_misshapen
from scenario_kit.render.templating.authoring_error import build_error, join_errors

#: Cluster-scoped kinds.
CLUSTER_KINDS: Final = frozenset(
    {
        "Namespace", "Node", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "StorageClass", "PersistentVolume",
        "CustomResourceDefinition", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "IngressClass",
        "IPPool", "APIService", "CertificateSigningRequest", "CSIDriver", "CSINode", "DeviceClass", "FlowSchema",
        "GlobalNetworkPolicy", "IPAddress", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
        "PriorityLevelConfiguration", "ResourceSlice", "RuntimeClass", "ServiceCIDR", "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding", "VolumeAttachment", "VolumeAttributesClass",
    }
)  # fmt: skip
#: Fields of a Service that belong to the whole cluster: each trial's Service gets other values.
_ASSIGNED: Final = ("clusterIP", "clusterIPs", "healthCheckNodePort")
#: Annotations by which a deployment tool, and nothing else, decides when an object is created and deleted.
_HOOKS: Final = ("helm.sh/hook", "argocd.argoproj.io/hook")
#: Code of the findings about manifests.
UNUSABLE: Final = "SK123"
#: Kinds whose names must be unique across all namespaces of an app: components name them without a namespace.
_NAMED: Final = (*WORKLOADS, "Service")
#: Labels of namespaces without effect on what runs there.
_INFORMATIVE: Final = re.compile(r"name|app|kubernetes\.io/metadata\.name|app\.kubernetes\.io/.*|helm\.sh/chart")
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


def place_objects(app: App, documents: Sequence[Any], namespace: str) -> tuple[Object, ...]:
    """Place rendered documents in the namespaces of an app, in their order.

    Wherever manifests name the app's conventional namespaces, as those that run elsewhere do, the real ones are put:
    as the namespace of objects and of subjects, and behind the names of Services in addresses. An app's own Namespaces
    are left out, as each trial creates them, and so are addresses and node ports that a cluster has only once.

    Args:
        app: the app in one version.
        documents: the documents of its manifests.
        namespace: the real name of its default namespace.

    Raises:
        AuthoringError: documents that are no objects, or of which some cannot exist beside each other.
    """
    errors = [error for document in documents if (error := _find_mistake(app, document)) is not None]
    if problem := join_errors(errors):
        raise problem
    rename = _build_renaming(app, documents, namespace)
    objects = tuple(_place(app, rename(d), namespace) for d in documents if not _is_own_namespace(app, d, namespace))
    if problem := _find_repetition(app, objects, namespace):
        raise problem
    return tuple(map(encode_secret, objects))


def _find_mistake(app: App, document: Any) -> AuthoringError | None:
    """Return why a document is not an object that can be deployed."""
    subject = f"the templates of {app.name} produce"
    if not isinstance(document, Mapping):
        return _build(f"{subject} a document that is not an object", document, "apiVersion, kind and metadata")
    metadata = document.get("metadata")
    lacking = [field for field in ("apiVersion", "kind", "metadata") if not document.get(field)]
    if not lacking and isinstance(metadata, Mapping) and not metadata.get("name"):
        lacking = ["metadata.name"]
    if lacking:
        fix = "add it"
        if isinstance(metadata, Mapping) and metadata.get("generateName"):
            fix = "write `name` instead of `generateName`: a trial compares the objects of an app with its manifests"
        return _build(f"{subject} a document without {', '.join(lacking)}", document, fix=fix)
    if wrong := find_misshapen(document):
        name = metadata.get("name") if isinstance(metadata, Mapping) else ""
        return _build(f"{subject} an invalid {document['kind']}/{name}: {wrong}")
    named = f"{document['kind']}/{document['metadata']['name']}"
    if place := find_lacking(document):
        return _build(f"{subject} an invalid {named}: {place} is missing")
    for key in _HOOKS:
        if key in (document["metadata"].get("annotations") or {}):
            message = f"{subject} {named} with the annotation {key}: it would be created with the app, and stay"
            return _build(message, fix="leave the object out, or, if the app needs it at its start, the annotation")
    return None


def _build(message: str, document: Any = None, expected: str = "", fix: str = "") -> AuthoringError:
    observed = "" if document is None else json.dumps(document, ensure_ascii=False)[:200]
    return build_error(UNUSABLE, message, observed=observed, expected=expected, fix=fix or "correct the manifests")


def _is_own_namespace(app: App, document: Object, namespace: str) -> bool:
    """Return whether a document is one of the app's own namespaces.

    Raises:
        AuthoringError: it is another one, or has labels or annotations that decide what may run there.
    """
    if document["kind"] != "Namespace":
        return False
    metadata = document["metadata"]
    own = {*resolve_homes(app.namespace, app.namespaces), *resolve_homes(namespace, app.namespaces), *app.namespaces}
    name = metadata["name"]
    if name not in own:
        fix = f"declare `namespaces: {{{name}: …}}` in app.yaml, or leave it out"
        raise _build(f"the templates of {app.name} produce Namespace/{name}, which is not the app's", fix=fix)
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    if effective := sorted(key for key in marks if not _INFORMATIVE.fullmatch(key)):
        raise _build(
            f"the templates of {app.name} give Namespace/{name} the labels {', '.join(effective)}, but "
            "each trial creates the app's namespaces itself, without them",
            fix="leave the Namespace out, and what depends on its labels",
        )
    return True


def _build_renaming(app: App, documents: Sequence[Object], namespace: str) -> Callable[[Object], Object]:
    """Return a function that puts the real names of namespaces in place of the conventional ones."""
    if namespace == app.namespace:
        return lambda document: document
    symbols = (APP_NAMESPACE, *app.namespaces)
    names = {resolve_namespace(app.namespace, s): resolve_namespace(namespace, s) for s in symbols}
    services = {str(d["metadata"]["name"]) for d in documents if d["kind"] == "Service"}
    hosts, homes = ("|".join(re.escape(n) for n in sorted(each, key=len, reverse=True)) for each in (services, names))
    # What may follow: the cluster's domain, a port, a path, or the end of the word.
    address = re.compile(rf"(?<![-\w])({hosts or '(?!)'})\.({homes})(?=\.svc\b|[^-.\w]|$)")

    def rename(document: Object) -> Object:
        text: Object = replace_texts(document, lambda t: address.sub(lambda found: f"{found[1]}.{names[found[2]]}", t))
        return _rename_fields(text, names)

    return rename


def _rename_fields(document: Object, names: Mapping[str, str]) -> Object:
    """Rename the namespaces of subjects and of webhooks' Services, and those that NetworkPolicies select by name."""

    def rename(node: Any, within: str) -> Any:
        if isinstance(node, list):
            return [rename(part, within) for part in node]
        if not isinstance(node, dict):
            return node
        held = {"subjects": "namespace", "service": "namespace", "matchLabels": _NAME_LABEL}.get(within)
        return {k: names.get(v, v) if k == held and isinstance(v, str) else rename(v, k) for k, v in node.items()}

    return {k: v if k == "metadata" else rename(v, k) for k, v in document.items()}


def _place(app: App, document: Object, namespace: str) -> Object:
    if app.locks:
        _pin_images(document.get("spec"), app.locks)
    metadata = document["metadata"]
    if document["kind"] not in CLUSTER_KINDS:
        own = metadata.get("namespace") or APP_NAMESPACE
        symbol = symbolise_namespace(own, app.namespace)
        place = resolve_namespace(namespace, symbol) if symbol in (APP_NAMESPACE, *app.namespaces) else own
        document["metadata"] = {"name": metadata["name"], "namespace": place, **metadata} | {"namespace": place}
    if document["kind"] == "Service":
        _leave_assignment(document.get("spec") or {})
    return document


def _leave_assignment(spec: dict[str, Any]) -> None:
    """Leave it to the API server to assign addresses and node ports of a Service."""
    for field in _ASSIGNED:
        if spec.get(field) not in ("None", ["None"]):
            spec.pop(field, None)
    for port in spec.get("ports") or ():
        port.pop("nodePort", None)


def list_shared(objects: Iterable[Object]) -> list[Object]:
    """List the objects of a rendered app that belong to no namespace; a cluster has one of each name."""
    return [obj for obj in objects if obj["kind"] in CLUSTER_KINDS]


def _find_repetition(app: App, objects: Sequence[Object], namespace: str) -> AuthoringError | None:
    """Return which objects are there twice; of most kinds, each namespace may have one of the same name."""
    homes: dict[tuple[str, ...], str] = {}
    errors = list[AuthoringError]()
    for obj in objects:
        kind, name, home = obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace", "")
        identity = (kind, name) if kind in _NAMED else (kind, name, home, read_group(obj))
        if identity not in homes:
            homes[identity] = home
        elif homes[identity] == home:
            errors.append(_build(f"the templates of {app.name} produce {kind}/{name} twice", fix="keep one of them"))
        else:
            places = " and ".join(symbolise_namespace(each, namespace) for each in (homes[identity], home))
            message = f"the templates of {app.name} produce a {kind}/{name} in two namespaces, {places}"
            fix = f"rename one of them: components and alerts tell the {kind}s of an app apart by their names alone"
            errors.append(_build(message, fix=fix))
    return join_errors(errors)


def _pin_images(node: Any, locks: Mapping[str, str]) -> None:
    """Append locked digests to container images, at any depth."""
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key in ("containers", "initContainers") and isinstance(value, list):
            for container in value:
                if container.get("image") in locks:
                    container["image"] += f"@{locks[container['image']]}"
        else:
            _pin_images(value, locks)
