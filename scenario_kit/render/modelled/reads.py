"""What a component's program reads, by the app's own twin.yaml: variables, keys of its configuration, its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from scenario_kit.model import App, Object
from scenario_kit.model.image import like

#: Variables that the twin reads of every program: they are in the resource attributes of its spans.
ALWAYS: Final = frozenset({"OTEL_RESOURCE_ATTRIBUTES"})
_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_KEYS: Final = frozenset({"key", "hostKey", "portKey"})


class Reads(NamedTuple):
    """What is read of a program: values of variables and keys, whether those of ``needed`` are set, and where.

    ``needed`` are glob patterns of variables, ``needed_keys`` keys of the file ``config``. ``words`` are those of its
    command line that mean something, ``files`` the places at which volumes count.
    """

    component: str = ""
    variables: frozenset[str] = ALWAYS
    needed: tuple[str, ...] = ()
    config: str = ""
    keys: frozenset[str] = frozenset()
    needed_keys: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


def reads(app: App, container: Object) -> Reads:
    """What is read of the program in a container; next to nothing where the app's definition does not know it."""
    twin: Mapping[str, Any] = app.twin or {}
    component = component_of(twin, container)
    if not component:
        return Reads()
    model: Mapping[str, Any] = twin["components"][component]
    parts = [model, *_parts(twin, component)]
    start, disk = model.get("start") or {}, model.get("disk") or {}
    return Reads(
        component=component,
        variables=ALWAYS | {name for part in parts for name in _variables(part)},
        needed=tuple(start.get("env") or ()),
        config=str(model.get("config") or ""),
        keys=frozenset(text for part in parts for text in _texts(part, _KEYS)),
        needed_keys=frozenset(start.get("keys") or ()),
        words=frozenset(str(login["flag"]) for login in model.get("logins") or () if login.get("flag")),
        files=frozenset([*filter(None, [disk.get("directory")]), *(disk.get("volumes") or ())]),
    )


def component_of(twin: Mapping[str, Any], container: Object) -> str:
    """The component of the twin whose program a container runs, as the twin itself finds it; empty for none."""
    image = str(container.get("image", ""))
    program = str(next(iter(container.get("command") or container.get("args") or ()), "")).rpartition("/")[2]
    for name, model in (twin.get("components") or {}).items():
        commands = model.get("commands") or ()
        if not (like(image, model["image"]) or fnmatchcase(image, model["image"])):
            continue
        if (not commands or program in commands) and fnmatchcase(container["name"], model.get("container", "*")):
            return str(name)
    return ""


def documents(app: App) -> Iterator[tuple[str, str]]:
    """Names and keys of the ConfigMaps that the twin reads by their names."""
    for node in _nodes(app.twin or {}):
        if node.get("configMap") and node.get("key"):
            yield str(node["configMap"]), str(node["key"])


def flags(app: App) -> frozenset[str]:
    """The feature flags that do something in the twin."""
    return frozenset(((app.twin or {}).get("flags") or {}).get("effects") or ())


def _parts(twin: Mapping[str, Any], component: str) -> Iterator[Mapping[str, Any]]:
    """What the twin says about a component elsewhere: of whom it calls, and of what it is beside its work."""
    for edge in twin.get("edges") or ():
        if component in (edge.get("caller"), (edge.get("address") or {}).get("of")):
            yield edge
    for name, part in twin.items():
        if name in ("components", "edges", "assumptions"):
            continue
        for each in part if isinstance(part, list) else [part]:
            if isinstance(each, Mapping) and each.get("component") == component:
                yield each


def _variables(part: Any) -> Iterator[str]:
    for node in _nodes(part):
        for key, value in node.items():
            if key == "env" or key.endswith("Env"):
                yield from [value] if isinstance(value, str) else map(str, value or ())
            elif isinstance(value, str):
                yield from _REFERENCE.findall(value)


def _texts(part: Any, keys: Iterable[str]) -> Iterator[str]:
    return (str(node[key]) for node in _nodes(part) for key in keys if isinstance(node.get(key), str))


def _nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a document; what a component needs to start is not a value that it reads."""
    if isinstance(value, Mapping):
        yield value
        for key, part in value.items():
            if key != "start":
                yield from _nodes(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _nodes(part)
