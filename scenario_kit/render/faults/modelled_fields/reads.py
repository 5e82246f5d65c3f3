"""Inputs that a component's program reads, by twin.yaml: variables, configuration keys and flags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from scenario_kit.model import App, Object
from scenario_kit.model.base import Value
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.runtime.container_match import match_components
from scenario_kit.model.twin.address import AddressSource
from scenario_kit.model.twin.component import Port, Start
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.flag import FlagModel
from scenario_kit.model.twin.store import Database, Login

#: Variables that the twin reads for every program, for the resource attributes of its spans.
ALWAYS: Final = frozenset({"OTEL_RESOURCE_ATTRIBUTES"})
_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")


class ProgramInputs(NamedTuple):
    """The inputs of a program that the twin reads.

    Variables and keys are read by value; of ``needed`` (glob patterns of variables) and ``needed_keys`` (keys of the
    file ``config``) only whether they are set. ``words`` are command-line flags, ``files`` paths where mounts matter.
    """

    component: str = ""
    variables: frozenset[str] = ALWAYS
    needed: tuple[str, ...] = ()
    config: str = ""
    keys: frozenset[str] = frozenset()
    needed_keys: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


def read_inputs(app: App, container: Object) -> ProgramInputs:
    """Return the inputs of the program in a container; only ``ALWAYS`` if the twin has no component for it."""
    twin = app.twin
    component = find_component(twin, container) if twin is not None else ""
    return _list_inputs(twin, component) if component else ProgramInputs()


@cache_by_identity(maxsize=512)
def _list_inputs(twin: TwinDefinition, component: str) -> ProgramInputs:
    model = twin.components[component]
    parts = [model, *_list_parts(twin, component)]
    return ProgramInputs(
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
    """Find the twin component that a container runs, matched as the twin does; empty if none."""
    return next(match_components(twin, container), "")


@cache_by_identity(maxsize=16)
def list_documents(twin: TwinDefinition | None) -> tuple[tuple[str, str], ...]:
    """List the (name, key) pairs of the ConfigMaps that the twin reads by name."""
    return tuple(
        (value.config_map, value.key)
        for value in _list_values(twin)
        if isinstance(value, Login | Database | FlagModel) and value.config_map and value.key
    )


def list_flags(app: App) -> frozenset[str]:
    """List the feature flags that have an effect in the twin."""
    return frozenset(app.twin.flags.effects if app.twin is not None and app.twin.flags is not None else ())


def _list_parts(twin: TwinDefinition, component: str) -> Iterator[Value]:
    """List the other definitions of the twin that concern a component: its edges and its special roles."""
    for edge in twin.edges:
        if component in (edge.caller, edge.address.component):
            yield edge
    beside = (twin.load, twin.flags, twin.collector, *twin.queues, *twin.registries, *twin.exporters)
    yield from (part for part in beside if part is not None and part.component == component)


def _list_variables(part: Value) -> Iterator[str]:
    """List the variables that a definition names in its fields or in address templates."""
    for value in _list_values(part):
        for field in value.__struct_fields__:
            if field == "env" or field.endswith("_env"):
                named = getattr(value, field)
                yield from ([named] if named else []) if isinstance(named, str) else named
        if isinstance(value, AddressSource):
            yield from _REFERENCE.findall(value.text)


def _list_keys(part: Value) -> Iterator[str]:
    """List the configuration keys that a definition names."""
    for value in _list_values(part):
        if isinstance(value, AddressSource):
            yield from filter(None, (value.key, value.host_key, value.port_key))
        elif isinstance(value, Port) and value.key:
            yield value.key


def _list_values(part: Any) -> Iterator[Value]:
    """List a value and all nested values, except ``Start``: start-up needs are only checked for presence."""
    if isinstance(part, Value) and not isinstance(part, Start):
        yield part
        for field in part.__struct_fields__:
            yield from _list_values(getattr(part, field))
    elif isinstance(part, tuple | dict):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _list_values(inner)
