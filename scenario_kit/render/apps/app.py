"""Render apps into Kubernetes objects.

``templates/apps/<app>/<version>/manifests.yaml.j2`` is rendered as text and parsed as YAML documents; it may include
other files of ``templates/apps/<app>``. Its variables are

* ``app``: name, version, entry and conventional namespace; ``namespace``: the real one; ``namespaces``: the app's
  additional namespaces, symbolic name to real name;
* ``options``: every option of the app, defaults filled in; ``load.users``;
* ``data``: the contents of the ``data.yaml`` next to the template;
* ``enabled(entry)``: whether the options match ``entry.when``.

Namespaces are set here, not in the templates; ``metadata.namespace`` may be a symbolic name.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.errors import AuthoringError
from scenario_kit.load.disk_cache import cache_bytes
from scenario_kit.load.schema.schemas import find_violations
from scenario_kit.load.yaml.nodes import BoundedLoader
from scenario_kit.model import App, FaultType, Object
from scenario_kit.model.kubernetes.reference import resolve_namespace
from scenario_kit.render.objects.object_shape import find_misshapen
from scenario_kit.render.templating.authoring_error import build_error, did_you_mean, join_errors
from scenario_kit.render.templating.folder import Folder
from scenario_kit.render.templating.render_budget import meter_rendering, weigh
from scenario_kit.render.templating.sandbox import FAILURES, Sandbox, create_sandbox

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


def resolve_options(app: App, chosen: Mapping[str, Any], profile: str = "") -> Object:
    """Return every option of the app: the schema's defaults, then those of the load profile, then the chosen ones.

    Raises:
        AuthoringError: an unknown load profile or option, or a value that the app's schema rejects.
    """
    if profile and profile not in app.loads:
        raise build_error(
            "SK104",
            f"{app.name} has no load profile '{profile}'",
            expected=" | ".join(app.loads),
            fix=did_you_mean(profile, app.loads),
        )
    properties = app.options.get("properties", {})
    options = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    options |= (app.loads[profile].options if profile else {}) | dict(chosen)
    if problem := join_errors(_find_violations(app, options)):
        raise problem
    return options


def select_options(app: App, fault_type: FaultType) -> Object:
    """Select the option values that a fault requests, skipping those that the app does not support."""
    properties = app.options.get("properties", {})
    return {k: v for k, v in fault_type.app_options.items() if k in properties and not _find_violations(app, {k: v})}


def list_needs(app: App, options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Map ``<option>: <value>`` to the capabilities that this value requires (``x-requires`` in the options schema)."""
    properties, found = app.options.get("properties", {}), {}
    for name, value in options.items():
        declared = (properties.get(name) or {}).get("x-requires") or {}
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if needs := [need for v, group in declared.items() if str(v).lower() == text.lower() for need in group]:
            found[f"{name}: {text}"] = tuple(needs)
    return found


def _find_violations(app: App, options: Object) -> list[AuthoringError]:
    properties = app.options.get("properties", {})
    if not app.options or all(_is_trivially_valid(properties.get(k, {}), v) for k, v in options.items()):
        return []
    found = []
    for name in options:
        if name not in properties:
            found.append(build_error("SK102", f"{app.name} has no option '{name}'", fix=did_you_mean(name, properties)))
    known = {k: v for k, v in options.items() if k in properties}
    for place, message, _ in find_violations(known, app.options):
        found.append(build_error("SK104", f"option '{'.'.join(map(str, place))}' of {app.name}: {message}"))
    return found


def _is_trivially_valid(schema: Object, value: Any) -> bool:
    """Return whether the value is valid without a schema validator, whose import takes longer than rendering."""
    if type(value) is type(schema.get("default")) and value == schema["default"]:
        return True
    return (schema.get("type") == "boolean" and isinstance(value, bool)) or value in schema.get("enum", ())


def render_app(
    app: App, options: Mapping[str, Any], users: int, namespace: str, *, templates: Path | None = None
) -> tuple[Object, ...]:
    """Render all objects of the app, in creation order.

    Args:
        app: the app in one version.
        options: the chosen options; defaults apply to the others.
        users: number of simulated users.
        namespace: the real namespace.
        templates: the folder of the app's templates; defaults to the installed one.

    Raises:
        AuthoringError: an unknown option, or templates that do not produce objects.
    """
    folder = templates or find_data_root() / "templates" / "apps" / app.name
    known = {"name": app.name, "version": app.version, "entry": app.entry, "namespace": app.namespace}
    variables = {
        "app": known,
        "namespace": namespace,
        "namespaces": {symbol: resolve_namespace(namespace, symbol) for symbol in app.namespaces},
        "options": resolve_options(app, options),
        "load": {"users": users},
    }
    # Decoded for each caller: objects are mutable dicts and must not be shared.
    documents: list[Any] = msgspec.json.decode(
        _render_documents(folder, app.version, json.dumps(variables, sort_keys=True))
    )
    objects = tuple(_place_document(app, document, namespace) for document in documents)
    names = [(o["kind"], o["metadata"]["name"]) for o in objects]
    if twice := {f"{k}/{n}" for k, n in names if names.count((k, n)) > 1}:
        raise AuthoringError(f"the templates of {app.name} produce duplicate objects: {', '.join(sorted(twice))}")
    return objects


@lru_cache(maxsize=32)
def _render_documents(folder: Path, version: str, variables: str) -> bytes:
    """Render the templates into a JSON list of documents, cached: linting a catalogue renders the same app often."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return cache_bytes("objects", files, (version, variables), lambda: _render_templates(folder, version, variables))


def _render_templates(folder: Path, version: str, variables: str) -> bytes:
    known = json.loads(variables)
    options, data, text = known["options"], f"{version}/data.yaml", ""
    try:
        with meter_rendering():
            environment = _build_environment(folder)
            text = environment.get_template(f"{version}/manifests.yaml.j2").render(
                known,
                data=_load_data(Folder(folder).text(data)) if (folder / data).is_file() else {},
                enabled=lambda entry: all(options.get(k) == v for k, v in entry.get("when", {}).items()),
            )
        with meter_rendering():  # aliases may have expanded it
            documents = yaml.load_all(text, Loader=BoundedLoader)
            return msgspec.json.encode(weigh([d for d in documents if d is not None]))
    except (*FAILURES, yaml.YAMLError, OSError) as error:
        raise AuthoringError(
            f"the templates in {folder} do not produce objects for version {version}: "
            f"{_locate_error(error, folder, text)}"
            f"{type(error).__name__}: {error}"
        ) from error


def _locate_error(error: BaseException, folder: Path, text: str) -> str:
    """Locate the template line that failed to render, or the rendered line that is not valid YAML."""
    mark = getattr(error, "problem_mark", None)
    if text and mark is not None:
        line = (text.splitlines()[mark.line : mark.line + 1] or [""])[0].strip()
        return f"line {mark.line + 1} of the output, `{line:.120}`: "
    places = [(getattr(error, "filename", None), getattr(error, "lineno", None))]
    places += [(frame.filename, frame.lineno) for frame in reversed(traceback.extract_tb(error.__traceback__))]
    inside = ((Path(file), line) for file, line in places if file and line)
    return next((f"{p.relative_to(folder)}:{line}: " for p, line in inside if p.is_relative_to(folder)), "")


@lru_cache(maxsize=8)
def _build_environment(folder: Path) -> Sandbox:
    return create_sandbox(Folder(folder))


@lru_cache(maxsize=8)
def _load_data(text: str) -> Any:
    return weigh(yaml.load(text, Loader=BoundedLoader))


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


def _place_document(app: App, document: Any, namespace: str) -> Object:
    try:
        metadata = document["metadata"]
        kind, _, _ = document["kind"], document["apiVersion"], metadata["name"]
    except (KeyError, TypeError) as error:
        raise AuthoringError(
            f"the templates of {app.name} produce a document without {error}: {document!r:.200}"
        ) from error
    if wrong := find_misshapen(document):
        raise AuthoringError(f"the templates of {app.name} produce an invalid {kind}/{metadata['name']}: {wrong}")
    if app.locks:
        _pin_images(document.get("spec"), app.locks)
    if kind not in CLUSTER_KINDS:
        own = metadata.get("namespace", namespace)
        place = resolve_namespace(namespace, own) if own in app.namespaces else own
        document["metadata"] = {"name": metadata["name"], "namespace": place, **metadata} | {"namespace": place}
    result: Object = document
    return result
