"""Find the targets of a chaos object: its selectors, and targets outside the namespaces of an app."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import GROUP
from scenario_kit.model.json_document import Place, walk

#: Kinds that do not act on pods of a namespace, with what they act on.
_NON_NAMESPACED: Final[Mapping[str, str]] = {
    "AWSChaos": "a cloud account of AWS",
    "AzureChaos": "a cloud account of Azure",
    "GCPChaos": "a cloud account of Google",
    "PhysicalMachine": "a machine outside of the cluster",
    "PhysicalMachineChaos": "a machine outside of the cluster",
    "RemoteCluster": "another cluster",
}
#: Other namespaces that a fault may reach, by the capability that declares it.
_DECLARED: Final[Mapping[str, str]] = {"control-plane-pods": "kube-system"}
_BY_LOWER: Final = {kind.lower(): what for kind, what in _NON_NAMESPACED.items()}


class Selection(NamedTuple):
    """A pod selector and its place in the object."""

    keys: Place
    selector: Mapping[str, Any]

    def namespaces(self, home: str) -> Iterator[tuple[Place, str]]:
        """Yield the namespaces from which it selects; ``home`` is its object's, the default."""
        if pods := self.selector.get("pods"):
            yield from (((*self.keys, "pods", name), str(name)) for name in pods)
        elif named := self.selector.get("namespaces"):
            yield from (((*self.keys, "namespaces", i), str(name)) for i, name in enumerate(named))
        else:
            yield self.keys, home


class OutsideTarget(NamedTuple):
    """A target outside the app: the keys of the field that selects it, its value, and a description."""

    keys: Place
    value: str
    where: str


def list_declared(requires: Iterable[str]) -> frozenset[str]:
    """Return the other namespaces that these capabilities declare."""
    return frozenset(_DECLARED[need] for need in requires if need in _DECLARED)


def is_chaos(obj: Object) -> bool:
    """Return whether an object belongs to Chaos Mesh."""
    return str(obj.get("apiVersion", "")).startswith(f"{GROUP}/")


def list_selections(obj: Object) -> Iterator[Selection]:
    """Yield every pod selector in an object, including those of peers, Schedules and workflow templates."""
    for keys, node in walk(obj.get("spec"), ("spec",)):
        if keys[-1] == "selector" and isinstance(node, Mapping):
            yield Selection(keys, node)


def list_namespaces(obj: Object) -> frozenset[str]:
    """Return the namespaces that a chaos object names in selectors."""
    return frozenset(name for each in list_selections(obj) for _, name in each.namespaces("") if name)


def rename_namespaces(obj: Object, spelled: Callable[[str], str]) -> Object:
    """Rename namespaces in selectors and references to secrets."""

    def walk(node: Any, name: str) -> Any:
        if isinstance(node, list | tuple):
            return [walk(item, "") for item in node]
        if not isinstance(node, Mapping):
            return spelled(node) if name == "secretNamespace" and isinstance(node, str) else node
        inner = {key: walk(value, key) for key, value in node.items()}
        if name == "selector":
            if isinstance(node.get("namespaces"), list | tuple):
                inner["namespaces"] = [spelled(each) if isinstance(each, str) else each for each in node["namespaces"]]
            if isinstance(node.get("pods"), Mapping):
                inner["pods"] = {spelled(each): pods for each, pods in node["pods"].items()}
        return inner

    return {**obj, "spec": walk(obj["spec"], "spec")} if obj.get("spec") else obj


def list_outside_targets(obj: Object, own: Container[str], default: str) -> Iterator[OutsideTarget]:
    """Yield the targets of a chaos object outside the namespaces ``own``.

    Args:
        obj: the object; without a namespace it is in ``default``.
        own: the app's namespaces by their real names.
        default: the real name of the app's default namespace.
    """
    home = (obj.get("metadata") or {}).get("namespace") or default
    if what := _NON_NAMESPACED.get(obj["kind"]):
        yield OutsideTarget(("kind",), obj["kind"], what)
    mappings = ((keys, node) for keys, node in walk(obj.get("spec"), ("spec",)) if isinstance(node, Mapping))
    for keys, node in mappings:
        yield from _list_in_selector(keys, node)
        for place, namespace in _list_named(keys, node, home):
            if namespace not in own:
                yield OutsideTarget(place, namespace, f"namespace '{namespace}'")


def _list_named(keys: Place, node: Mapping[str, Any], home: str) -> Iterator[tuple[Place, str]]:
    if keys[-1] == "selector":
        yield from Selection(keys, node).namespaces(home)
    elif secret := node.get("secretNamespace"):
        yield (*keys, "secretNamespace"), str(secret)


def _list_in_selector(keys: Place, node: Mapping[str, Any]) -> Iterator[OutsideTarget]:
    for name in ("type", "templateType"):
        if what := _NON_NAMESPACED.get(str(node.get(name, ""))):
            yield OutsideTarget((*keys, name), str(node[name]), what)
    if isinstance(keys[-1], str) and (what := _BY_LOWER.get(keys[-1].lower())):
        yield OutsideTarget(keys, keys[-1], what)
    if cluster := node.get("remoteCluster"):
        yield OutsideTarget((*keys, "remoteCluster"), str(cluster), f"cluster '{cluster}'")
