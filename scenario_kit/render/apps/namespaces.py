"""Apps that span several namespaces: qualify references with the namespace of the object.

In an app or a fault, a reference without a namespace names an object of the app, wherever it is: names are unique
across the app's namespaces. Rendering qualifies such references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from scenario_kit.model import APP_NAMESPACE, App, Change, Check, Fault, Object, Reference
from scenario_kit.model.chaos.reach import is_chaos, rename_namespaces
from scenario_kit.model.json_document import replace_texts
from scenario_kit.model.kubernetes.pod_template import read_template_labels
from scenario_kit.model.kubernetes.reference import WORKLOADS, resolve_namespace, symbolise_namespace
from scenario_kit.render.apps.placement import CLUSTER_KINDS

#: Namespace and pod labels of each workload.
Homes = Sequence[tuple[str, Mapping[str, Any]]]
#: What may follow the namespace in an address: the cluster domain, a port, a path, or a word boundary.
_END: Final = r"(?=\.svc\b|[^-.\w]|$)"
#: The field in which each kind of check names its object.
_NAMED: Final = {"object": "ref", "event": "entity", "log": "entity", "probe": "target"}


def list_used(app: App, objects: Iterable[Object], namespace: str) -> dict[str, str]:
    """Map the symbolic names of the app's additional namespaces to real ones; only namespaces with objects count."""
    used = {o["metadata"].get("namespace") for o in objects}
    names = {symbol: resolve_namespace(namespace, symbol) for symbol in sorted(app.namespaces)}
    return {symbol: real for symbol, real in names.items() if real in used}


def locate_components(app: App, objects: Sequence[Object], namespace: str) -> App:
    """Return the app with the workload references of its components qualified by namespace."""
    if not list_used(app, objects, namespace):
        return app
    find = make_finder(objects, namespace)
    components = [msgspec.structs.replace(c, workload=find(c.workload)) for c in app.components]
    return msgspec.structs.replace(app, components=tuple(components))


def make_finder(objects: Iterable[Object], namespace: str) -> Callable[[Reference], Reference]:
    """Return a function that qualifies a reference with the namespace of its object.

    Of several objects of a name, that of the app's default namespace is meant; of several in others, none. Objects with
    ``generateName`` cannot be referenced.
    """
    places: dict[tuple[str, str], set[str]] = {}
    for o in objects:
        if o["kind"] not in CLUSTER_KINDS and "name" in o["metadata"]:
            home = symbolise_namespace(o["metadata"].get("namespace", namespace), namespace)
            places.setdefault((o["kind"], o["metadata"]["name"]), set()).add(home)

    def find_home(ref: Reference) -> str:
        homes = places.get((ref.kind, ref.name), set()) if ref.namespace == APP_NAMESPACE else {ref.namespace}
        return next(iter(homes)) if len(homes) == 1 else APP_NAMESPACE

    return lambda ref: ref.move(find_home(ref))


def place_fault(fault: Fault, app: App, objects: Sequence[Object], namespace: str, beside: str) -> Fault:
    """Resolve the namespaces of a fault for an app with several.

    A created object goes to the namespace that its manifest names, symbolically or not, or by default to ``beside``,
    the namespace of the target. Chaos label selectors cover the namespaces with matching pods, and references are
    qualified.
    """

    def resolve(name: str) -> str:
        symbolic = name in app.namespaces or (name == APP_NAMESPACE and beside != APP_NAMESPACE)
        return resolve_namespace(namespace, name) if symbolic else name

    fault = _map_changes(fault, lambda change: _rename_selectors(_rename_manifest(change, resolve), app, namespace))
    everywhere = (namespace, *list_used(app, objects, namespace).values())
    if len(everywhere) == 1:
        return fault
    pods = [(o["metadata"]["namespace"], read_template_labels(o)) for o in objects if o["kind"] in WORKLOADS]
    homes = tuple((name, labels) for name, labels in pods if name in everywhere)

    def place(change: Change) -> Change:
        return change.edit_manifest(lambda manifest: _settle_manifest(manifest, beside, homes))

    new = [m for c in fault.changes if (m := place(c).operation.manifest)]
    find = make_finder([*objects, *new], namespace)
    return msgspec.structs.replace(
        _map_changes(fault, lambda change: rename_change(place(change), find), find),
        effect=tuple(_rename_check(c, find) for c in fault.effect),
        undone=tuple(_rename_check(c, find) for c in fault.undone),
        callers=tuple(map(find, fault.callers)),
    )


def _keep(ref: Reference) -> Reference:
    return ref


def _map_changes(fault: Fault, do: Callable[[Change], Change], find: Callable[[Reference], Reference] = _keep) -> Fault:
    """Apply ``do`` to every change of the fault and ``find`` to the references of its entities."""

    def map_group(group: Iterable[Change]) -> tuple[Change, ...]:
        return tuple(map(do, group))

    replace = msgspec.structs.replace
    return replace(
        fault,
        changes=map_group(fault.changes),
        undo=map_group(fault.undo),
        entities=tuple(replace(e, ref=find(e.ref), fix=map_group(e.fix)) for e in fault.entities),
        solutions=tuple(replace(s, changes=map_group(s.changes)) for s in fault.solutions),
        decoys=tuple(replace(d, changes=map_group(d.changes)) for d in fault.decoys),
    )


def rename_change(change: Change, find: Callable[[Reference], Reference]) -> Change:
    """Apply ``find`` to the references of a change: its target and the object of its ``until`` check."""
    document = change.to_json()
    body = document[change.operation.keyword]
    if change.operation.ref is not None:
        document[change.operation.keyword] = {**body, "target": find(change.operation.ref)}
    if change.until is not None:
        document["until"] = {**document["until"], "check": _rename_check(change.until.check, find).to_json()}
    return Change.from_json(document)


def restore_written(change: Change, app: App) -> Change:
    """Replace the app's conventional namespaces with their symbolic names, and omit the app's own.

    Manifests that were copied from a running app contain the conventional names.
    """

    def symbolise(namespace: str) -> str:
        symbol = symbolise_namespace(namespace, app.namespace)
        return symbol if symbol == APP_NAMESPACE or symbol in app.namespaces else namespace

    return _rename_manifest(rename_change(change, lambda ref: ref.move(symbolise(ref.namespace))), symbolise)


def settle_change(change: Change, app: App, namespace: str) -> Change:
    """Resolve the namespaces of an authored change for an app that is deployed to ``namespace``.

    References keep symbolic namespaces, which are resolved when the change is applied. In addresses, conventional
    namespaces are replaced by the real ones.
    """
    made = _rename_manifest(
        restore_written(change, app), lambda n: resolve_namespace(namespace, n) if n in app.namespaces else n
    )
    made = _rename_selectors(made, app, namespace)
    document = made.to_json()
    body, keyword = made.operation.body, made.operation.keyword
    if namespace == app.namespace:
        return made
    target = {key: body[key] for key in ("target",) if key in body}
    return Change.from_json({**document, keyword: {**settle_hosts(body, app, namespace), **target}})


def settle_hosts(document: Any, app: App, namespace: str) -> Any:
    """Replace the app's conventional namespaces by the real ones, in addresses in all strings of a document."""
    names = {
        resolve_namespace(app.namespace, s): resolve_namespace(namespace, s) for s in (APP_NAMESPACE, *app.namespaces)
    }
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    address = re.compile(rf"\.({known}){_END}")
    return replace_texts(document, lambda text: address.sub(lambda found: f".{names[found[1]]}", text))


def _rename_manifest(change: Change, rename: Callable[[str], str]) -> Change:
    """Rename the namespace of the change's manifest; the app's own is omitted because it is the default."""

    def rename_namespace(manifest: Object) -> Object:
        if "namespace" not in (manifest.get("metadata") or {}):
            return manifest
        metadata = {**manifest["metadata"], "namespace": rename(str(manifest["metadata"]["namespace"]))}
        if metadata["namespace"] == APP_NAMESPACE:
            del metadata["namespace"]
        return {**manifest, "metadata": metadata}

    return change.edit_manifest(rename_namespace)


def _rename_selectors(change: Change, app: App, namespace: str) -> Change:
    """Use real namespaces in chaos selectors; authors write symbolic or conventional names."""

    def resolve(name: str) -> str:
        symbol = symbolise_namespace(name, app.namespace)
        return resolve_namespace(namespace, symbol) if symbol == APP_NAMESPACE or symbol in app.namespaces else name

    return change.edit_manifest(lambda m: rename_namespaces(m, resolve) if is_chaos(m) else m)


def _rename_check(check: Check, find: Callable[[Reference], Reference]) -> Check:
    replace = msgspec.structs.replace
    if check.endpoints is not None:
        return replace(check, endpoints=replace(check.endpoints, service=find(check.endpoints.service)))
    for kind, field in _NAMED.items():
        if (body := getattr(check, kind)) is not None:
            return replace(check, **{kind: replace(body, **{field: find(getattr(body, field))})})
    return check


def _settle_manifest(manifest: Object, beside: str, homes: Homes) -> Object:
    if manifest["kind"] in CLUSTER_KINDS:
        return manifest
    metadata = {**manifest["metadata"], "namespace": manifest["metadata"].get("namespace", beside)}
    return {**_aim_chaos(manifest, homes), "metadata": metadata}


def _aim_chaos(manifest: Object, homes: Homes) -> Object:
    """Restrict the label selectors of chaos objects, Schedules included, to namespaces with matching pods."""
    if not is_chaos(manifest):
        return manifest

    def restrict(node: Any) -> Any:
        if not isinstance(node, Mapping):
            return node
        result = {k: restrict(v) for k, v in node.items()}
        labels = (
            (result.get("selector") or {}).get("labelSelectors") if isinstance(result.get("selector"), dict) else None
        )
        if labels and (found := sorted({name for name, own in homes if labels.items() <= own.items()})):
            result["selector"] = {**result["selector"], "namespaces": found}
        return result

    return {**manifest, "spec": restrict(manifest.get("spec") or {})}
