"""What a component's program reads, by the app's own twin.yaml: variables, keys of its configuration, its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from scenario_kit.model import App, Object
from scenario_kit.model.base import Value
from scenario_kit.model.kubernetes.image import matches_image
from scenario_kit.model.twin.address import AddressSource
from scenario_kit.model.twin.component import Port, Start
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.flag import FlagModel
from scenario_kit.model.twin.store import Database, Login

#: Variables that the twin reads of every program: they are in the resource attributes of its spans.
ALWAYS: Final = frozenset({"OTEL_RESOURCE_ATTRIBUTES"})
_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")


class ProgramReads(NamedTuple):
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


def reads(app: App, container: Object) -> ProgramReads:
    """Return what is read of the program in a container; next to nothing where the app's definition does
    not know it.
    """
    twin = app.twin
    component = find_component(twin, container) if twin is not None else ""
    if twin is None or not component:
        return ProgramReads()
    model = twin.components[component]
    parts = [model, *_list_parts(twin, component)]
    return ProgramReads(
        component=component,
        variables=ALWAYS | {name for part in parts for name in _list_variables(part)},
        needed=model.start.env,
        config=model.config,
        keys=frozenset(key for part in parts for key in _list_keys(part)),
        needed_keys=frozenset(model.start.keys),
        words=frozenset(login.flag for login in model.logins if login.flag),
        files=frozenset(path for path in (model.disk.directory, *model.disk.volumes) if path),
    )


def find_component(twin: TwinDefinition, container: Object) -> str:
    """Find the component of the twin whose program a container runs, as the twin itself finds it; empty for none."""
    image = str(container.get("image", ""))
    program = str(next(iter(container.get("command") or container.get("args") or ()), "")).rpartition("/")[2]
    for name, model in twin.components.items():
        if not (matches_image(image, model.image) or fnmatchcase(image, model.image)):
            continue
        if (not model.commands or program in model.commands) and fnmatchcase(container["name"], model.container):
            return name
    return ""


def list_documents(app: App) -> Iterator[tuple[str, str]]:
    """List names and keys of the ConfigMaps that the twin reads by their names."""
    for value in _list_values(app.twin):
        if isinstance(value, Login | Database | FlagModel) and value.config_map and value.key:
            yield value.config_map, value.key


def list_flags(app: App) -> frozenset[str]:
    """List the feature flags that do something in the twin."""
    return frozenset(app.twin.flags.effects if app.twin is not None and app.twin.flags is not None else ())


def _list_parts(twin: TwinDefinition, component: str) -> Iterator[Value]:
    """List what the twin says about a component elsewhere: of whom it calls, and of what it is beside its work."""
    for edge in twin.edges:
        if component in (edge.caller, edge.address.component):
            yield edge
    beside = (twin.load, twin.flags, twin.collector, *twin.queues, *twin.registries, *twin.exporters)
    yield from (part for part in beside if part is not None and part.component == component)


def _list_variables(part: Value) -> Iterator[str]:
    """List variables that fields of a part name, and those of which an address is put together."""
    for value in _list_values(part):
        for field in value.__struct_fields__:
            if field == "env" or field.endswith("_env"):
                named = getattr(value, field)
                yield from ([named] if named else []) if isinstance(named, str) else named
        if isinstance(value, AddressSource):
            yield from _REFERENCE.findall(value.text)


def _list_keys(part: Value) -> Iterator[str]:
    """List keys of the configuration file that fields of a part name."""
    for value in _list_values(part):
        if isinstance(value, AddressSource):
            yield from filter(None, (value.key, value.host_key, value.port_key))
        elif isinstance(value, Port) and value.key:
            yield value.key


def _list_values(part: Any) -> Iterator[Value]:
    """List every value inside of one, with itself; what a component needs to start is not a value that it reads."""
    if isinstance(part, Value) and not isinstance(part, Start):
        yield part
        for field in part.__struct_fields__:
            yield from _list_values(getattr(part, field))
    elif isinstance(part, tuple | dict):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _list_values(inner)
