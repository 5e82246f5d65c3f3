"""Where a chaos object acts: every selector in it, and whatever leads out of the namespaces of an app."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import GROUP

#: Steps from the root of an object to a part of it.
Keys = tuple[str | int, ...]

#: Kinds that act on nothing inside of a namespace, and on what instead.
_ELSEWHERE: Final[Mapping[str, str]] = {
    "AWSChaos": "a cloud account of AWS",
    "AzureChaos": "a cloud account of Azure",
    "GCPChaos": "a cloud account of Google",
    "PhysicalMachine": "a machine outside of the cluster",
    "PhysicalMachineChaos": "a machine outside of the cluster",
    "RemoteCluster": "another cluster",
}
#: Namespaces that a fault may reach beside the app's, by the capability with which it declares that.
_DECLARED: Final[Mapping[str, str]] = {"control-plane-pods": "kube-system"}
_BY_LOWER: Final = {kind.lower(): what for kind, what in _ELSEWHERE.items()}


class Selection(NamedTuple):
    """A selector of pods, and where it stands in its object."""

    keys: Keys
    selector: Mapping[str, Any]

    def namespaces(self, home: str) -> Iterator[tuple[Keys, str]]:
        """Return the namespaces from which it selects; ``home`` is its object's, which counts where none is named."""
        if pods := self.selector.get("pods"):
            yield from (((*self.keys, "pods", name), str(name)) for name in pods)
        elif named := self.selector.get("namespaces"):
            yield from (((*self.keys, "namespaces", i), str(name)) for i, name in enumerate(named))
        else:
            yield self.keys, home


class Stray(NamedTuple):
    """A part of a chaos object that leads out of an app: where it stands, its value, and where it leads."""

    keys: Keys
    value: str
    where: str


def list_declared(requires: Iterable[str]) -> frozenset[str]:
    """List the namespaces of others that these capabilities declare to be reached."""
    return frozenset(_DECLARED[need] for need in requires if need in _DECLARED)


def is_chaos(obj: Object) -> bool:
    """Return whether an object is one of Chaos Mesh."""
    return str(obj.get("apiVersion", "")).startswith(f"{GROUP}/")


def list_selections(obj: Object) -> Iterator[Selection]:
    """List every selector of pods in an object, those of other ends, of Schedules and of templates included."""
    yield from (
        Selection(keys, node) for keys, node in _list_mappings(obj.get("spec"), ("spec",)) if keys[-1] == "selector"
    )


def list_namespaces(obj: Object) -> frozenset[str]:
    """List the namespaces that a chaos object names to select pods from; none of one that selects nothing by itself."""
    return frozenset(name for each in list_selections(obj) for _, name in each.namespaces("") if name)


def rename_namespaces(obj: Object, spelled: Callable[[str], str]) -> Object:
    """Return the object with other names of namespaces, wherever it says where to look for pods or secrets."""

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


def find_strays(obj: Object, own: Container[str], default: str) -> Iterator[Stray]:
    """Find everything in a chaos object that leads out of the namespaces ``own``.

    Args:
        obj: the object; without a namespace it is in ``default``.
        own: the real names of the namespaces of the app.
        default: the real name of the one that objects of the app are in.
    """
    home = (obj.get("metadata") or {}).get("namespace") or default
    if what := _ELSEWHERE.get(obj["kind"]):
        yield Stray(("kind",), obj["kind"], what)
    for keys, node in _list_mappings(obj.get("spec"), ("spec",)):
        yield from _find_strays_in(keys, node)
        for place, namespace in _list_named(keys, node, home):
            if namespace not in own:
                yield Stray(place, namespace, f"namespace '{namespace}'")


def _list_named(keys: Keys, node: Mapping[str, Any], home: str) -> Iterator[tuple[Keys, str]]:
    if keys[-1] == "selector":
        yield from Selection(keys, node).namespaces(home)
    elif secret := node.get("secretNamespace"):
        yield (*keys, "secretNamespace"), str(secret)


def _find_strays_in(keys: Keys, node: Mapping[str, Any]) -> Iterator[Stray]:
    for name in ("type", "templateType"):
        if what := _ELSEWHERE.get(str(node.get(name, ""))):
            yield Stray((*keys, name), str(node[name]), what)
    if isinstance(keys[-1], str) and (what := _BY_LOWER.get(keys[-1].lower())):
        yield Stray(keys, keys[-1], what)
    if cluster := node.get("remoteCluster"):
        yield Stray((*keys, "remoteCluster"), str(cluster), f"cluster '{cluster}'")


def _list_mappings(node: Any, keys: Keys) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    if isinstance(node, Mapping):
        yield keys, node
        for name, item in node.items():
            yield from _list_mappings(item, (*keys, name))
    elif isinstance(node, list | tuple):
        for i, item in enumerate(node):
            yield from _list_mappings(item, (*keys, i))
