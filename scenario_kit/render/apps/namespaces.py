"""The further namespaces of an app: which ones its objects are in, and how references say so.

What an app or a fault writes without a namespace means an object of the app by its name, which is unique over all of
its namespaces. From here on it is spelled with the namespace in which the object is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from scenario_kit.model import APP_NAMESPACE, App, Change, Check, Fault, Object, Reference
from scenario_kit.model.chaos.reach import is_chaos, rename_namespaces
from scenario_kit.model.kubernetes.reference import WORKLOADS, resolve_namespace, symbolise_namespace
from scenario_kit.render.apps.app import CLUSTER_KINDS
from scenario_kit.render.objects.lookup import read_pod_labels

#: The namespace of each workload, and the labels of its pods.
Homes = Sequence[tuple[str, Mapping[str, Any]]]
#: What may follow the namespace in an address: the domain of the cluster, a port, a path, or no more of the word.
_END: Final = r"(?=\.svc\b|[^-.\w]|$)"
#: Where checks name objects.
_NAMED: Final = {"object": "ref", "endpoints": "service", "event": "entity", "log": "entity", "probe": "target"}


def list_used(app: App, objects: Iterable[Object], namespace: str) -> dict[str, str]:
    """List real names of the app's further namespaces that hold any of its objects, by the symbolic ones."""
    there = {o["metadata"].get("namespace") for o in objects}
    names = {symbol: resolve_namespace(namespace, symbol) for symbol in sorted(app.namespaces)}
    return {symbol: real for symbol, real in names.items() if real in there}


def locate_components(app: App, objects: Sequence[Object], namespace: str) -> App:
    """Locate the app with the workloads of its components spelled as these options place them."""
    if not list_used(app, objects, namespace):
        return app
    find = make_finder(objects, namespace)
    components = [msgspec.structs.replace(c, workload=find(c.workload)) for c in app.components]
    return msgspec.structs.replace(app, components=tuple(components))


def make_finder(objects: Iterable[Object], namespace: str) -> Callable[[str], str]:
    """Make a function that spells a reference without a namespace as one with the namespace in which that object is.

    An object whose name the API server generates (``generateName``) has none that a reference could name.
    """
    places = {
        (o["kind"], o["metadata"]["name"]): symbolise_namespace(o["metadata"].get("namespace", namespace), namespace)
        for o in objects
        if o["kind"] not in CLUSTER_KINDS and "name" in o["metadata"]
    }

    def home(ref: Reference) -> str:
        return places.get((ref.kind, ref.name), APP_NAMESPACE) if ref.namespace == APP_NAMESPACE else ref.namespace

    return lambda text: _respell(text, home)


def _respell(text: str, home: Callable[[Reference], str]) -> str:
    """Return a reference with another namespace; what is none stays: a stand-in, or a text that somebody else will
    refuse.
    """
    try:
        ref = Reference.parse(text)
    except ValueError:
        return text
    return str(ref.move(home(ref)))


def place_fault(fault: Fault, app: App, objects: Sequence[Object], namespace: str, beside: str) -> Fault:
    """Return the fault for an app with objects in several namespaces.

    What it creates goes where it says, by the names that the app has for its namespaces, and beside its target, into
    ``beside``, where it says nothing; a chaos selector by labels looks where pods of the app have them; a reference
    without a namespace names the object wherever it is.
    """

    def real(name: str) -> str:
        there = name in app.namespaces or (name == APP_NAMESPACE and beside != APP_NAMESPACE)
        return resolve_namespace(namespace, name) if there else name

    fault = _map_changes(fault, lambda change: _rename_selectors(_rename_manifest(change, real), app, namespace))
    everywhere = (namespace, *list_used(app, objects, namespace).values())
    if len(everywhere) == 1:
        return fault
    pods = [(o["metadata"]["namespace"], read_pod_labels(o)) for o in objects if o["kind"] in WORKLOADS]
    homes = tuple((home, labels) for home, labels in pods if home in everywhere)

    def made(change: Change) -> Change:
        return change.edit_manifest(lambda manifest: _settle_manifest(manifest, beside, homes))

    new = [m for c in fault.changes if (m := made(c).operation.manifest)]
    find = make_finder([*objects, *new], namespace)
    return msgspec.structs.replace(
        _map_changes(fault, lambda change: rename_change(made(change), find), find),
        effect=tuple(_rename_check(c, find) for c in fault.effect),
        undone=tuple(_rename_check(c, find) for c in fault.undone),
        callers=tuple(map(find, fault.callers)),
    )


def _map_changes(fault: Fault, do: Callable[[Change], Change], find: Callable[[str], str] = str) -> Fault:
    """Return the fault with every change as ``do`` has it, and what its entities are called as ``find`` has it."""

    def done(group: Iterable[Change]) -> tuple[Change, ...]:
        return tuple(map(do, group))

    replace = msgspec.structs.replace
    return replace(
        fault,
        changes=done(fault.changes),
        undo=done(fault.undo),
        entities=tuple(replace(e, ref=find(e.ref), fix=done(e.fix)) for e in fault.entities),
        solutions=tuple(replace(s, changes=done(s.changes)) for s in fault.solutions),
        decoys=tuple(replace(d, changes=done(d.changes)) for d in fault.decoys),
    )


def rename_change(change: Change, find: Callable[[str], str]) -> Change:
    """Return the change with its target, and the object that it waits for, spelled by ``find``."""
    document = change.to_json()
    body = document[change.operation.keyword]
    if change.target is not None:
        document[change.operation.keyword] = {**body, "target": find(change.target)}
    if change.until is not None:
        document["until"] = {**document["until"], "check": _rename_check(change.until.check, find).to_json()}
    return Change.from_json(document)


def restore_written(change: Change, app: App) -> Change:
    """Return the change with the app's namespaces as an author spells them: its own not at all, others by their
    symbols.

    Whoever copies an object out of the app as it runs copies the names that its namespaces have by convention.
    """

    def spelled(namespace: str) -> str:
        symbol = symbolise_namespace(namespace, app.namespace)
        return symbol if symbol == APP_NAMESPACE or symbol in app.namespaces else namespace

    return _rename_manifest(
        rename_change(change, lambda text: _respell(text, lambda ref: spelled(ref.namespace))), spelled
    )


def settle_change(change: Change, app: App, namespace: str) -> Change:
    """Return a change that an author wrote, with objects in the namespaces that the app has where it is in
    ``namespace``.

    References keep their symbols: whoever carries the change out knows what they stand for. Addresses in texts, which
    end in the name that a namespace has by convention, end in its real one.
    """
    made = _rename_manifest(
        restore_written(change, app), lambda n: resolve_namespace(namespace, n) if n in app.namespaces else n
    )
    made = _rename_selectors(made, app, namespace)
    names = {
        resolve_namespace(app.namespace, s): resolve_namespace(namespace, s) for s in (APP_NAMESPACE, *app.namespaces)
    }
    document = made.to_json()
    body, keyword = made.operation.body, made.operation.keyword
    if namespace == app.namespace:
        return made
    whom = {key: body[key] for key in ("target",) if key in body}
    return Change.from_json({**document, keyword: {**_rename_hosts(body, names), **whom}})


def _rename_hosts(node: Any, names: Mapping[str, str]) -> Any:
    """Return the document with other namespaces at the end of the addresses in its texts."""
    if isinstance(node, Mapping):
        return {key: _rename_hosts(value, names) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_rename_hosts(value, names) for value in node]
    if not isinstance(node, str) or not any(f".{name}" in node for name in names):
        return node
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"\.({known}){_END}", lambda found: f".{names[found[1]]}", node)


def _rename_manifest(change: Change, spelled: Callable[[str], str]) -> Change:
    """Return the change with the namespace of what it makes; the app's own is left out, as that is where things go
    anyway.
    """

    def renamed(manifest: Object) -> Object:
        if "namespace" not in (manifest.get("metadata") or {}):
            return manifest
        metadata = {**manifest["metadata"], "namespace": spelled(str(manifest["metadata"]["namespace"]))}
        if metadata["namespace"] == APP_NAMESPACE:
            del metadata["namespace"]
        return {**manifest, "metadata": metadata}

    return change.edit_manifest(renamed)


def _rename_selectors(change: Change, app: App, namespace: str) -> Change:
    """Return the change with chaos that looks for pods in the app's namespaces by their real names.

    An author writes them by their symbols, or by the names that they have by convention.
    """

    def real(name: str) -> str:
        symbol = symbolise_namespace(name, app.namespace)
        return resolve_namespace(namespace, symbol) if symbol == APP_NAMESPACE or symbol in app.namespaces else name

    return change.edit_manifest(lambda m: rename_namespaces(m, real) if is_chaos(m) else m)


def read_subject(check: Check) -> str:
    """Read the reference of what a check is about; empty where it names no object."""
    for kind, field in _NAMED.items():
        if (body := getattr(check, kind)) is not None:
            text = str(getattr(body, field))
            return f"Service/{text}" if kind == "endpoints" and "/" not in text else text
    return ""


def _rename_check(check: Check, find: Callable[[str], str]) -> Check:
    document = check.to_json()
    for kind, field in _NAMED.items():
        if kind in document:
            text = document[kind][field]
            bare = kind == "endpoints" and "/" not in text
            document[kind] = {**document[kind], field: find(f"Service/{text}" if bare else text)}
    return Check.from_json(document)


def _settle_manifest(manifest: Object, beside: str, homes: Homes) -> Object:
    if manifest["kind"] in CLUSTER_KINDS:
        return manifest
    metadata = {**manifest["metadata"], "namespace": manifest["metadata"].get("namespace", beside)}
    return {**_aim_chaos(manifest, homes), "metadata": metadata}


def _aim_chaos(manifest: Object, homes: Homes) -> Object:
    """Aim chaos of any kind, Schedules included, by selectors that look in the namespaces of the pods they describe."""
    if not is_chaos(manifest):
        return manifest

    def aimed(node: Any) -> Any:
        if not isinstance(node, Mapping):
            return node
        result = {k: aimed(v) for k, v in node.items()}
        labels = (
            (result.get("selector") or {}).get("labelSelectors") if isinstance(result.get("selector"), dict) else None
        )
        if labels and (found := sorted({home for home, own in homes if labels.items() <= own.items()})):
            result["selector"] = {**result["selector"], "namespaces": found}
        return result

    return {**manifest, "spec": aimed(manifest.get("spec") or {})}
