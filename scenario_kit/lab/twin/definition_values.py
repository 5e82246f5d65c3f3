"""Values in a twin's definition that contradict one another, or have no effect."""

from __future__ import annotations

import errno
import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from scenario_kit.lab.twin.definition_mistake import DefinitionMistake, build_mistake, list_steps
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.image import is_reference
from scenario_kit.model.re2 import compile_pattern
from scenario_kit.model.twin.address import PROTOCOLS
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.load import Route
from scenario_kit.model.twin.operation import Step

#: How far the sum of a distribution may be from 1.
_ROUNDING: Final = 0.001
#: What a glob leaves open, and a digest.
_WILDCARD: Final = re.compile(r"\[[^\]]*\]|[*?]+")
_DIGEST: Final = re.compile(r"@.*")
#: Exit code of a crash that no author has chosen.
_CODE: Final = Step().code


def find_contradictions(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find values that exclude one another, and values without an effect."""
    yield from _find_short_leases(parameters)
    yield from _find_reversed_limits(parameters)
    yield from _find_invalid_distributions(parameters)
    yield from _find_idle_load(parameters)
    yield from _find_mismatched_products(parameters)
    for name, model in parameters.components.items():
        yield from _find_in_component(model, ("components", name))
    yield from _find_without_effect(parameters)
    yield from _find_invalid_images(parameters)


def _find_short_leases(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find leases that end before they are renewed: every entry would leave the list again and again."""
    for i, registry in enumerate(parameters.registries):
        lease, heartbeat = registry.lease_seconds, registry.heartbeat_seconds
        if lease and not heartbeat:
            message = f"entries end after {lease:g} s, and without `heartbeatSeconds` nobody renews them"
            yield build_mistake(("registries", i, "leaseSeconds"), message)
        elif lease and lease <= heartbeat:
            message = f"a lease of {lease:g} s ends before it is renewed, every {heartbeat:g} s (`heartbeatSeconds`)"
            yield build_mistake(("registries", i, "leaseSeconds"), message)


def _find_reversed_limits(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    constants = parameters.constants
    first, longest = constants.retransmit_seconds, constants.retransmit_limit_seconds
    if first > longest:
        message = f"the first timeout, {first:g}, is above the longest, {longest:g} (`retransmitLimitSeconds`)"
        yield build_mistake(("constants", "retransmitSeconds"), message)
    for place, step in list_steps(parameters):
        if 0 < step.keys < step.keys_per_call:
            message = f"a call asks for {step.keys_per_call:g} different keys, but there are {step.keys:g} (`keys`)"
            yield build_mistake((*place, "keysPerCall"), message)


def _list_routes(parameters: TwinDefinition) -> Iterator[tuple[Place, Route]]:
    for name, route in parameters.load.routes.items():
        yield ("load", "routes", name), route
    for crowd, users in parameters.load.user_classes.items():
        for name, route in users.tasks.items():
            yield ("load", "userClasses", crowd, "tasks", name), route


def _find_invalid_distributions(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    for place, route in _list_routes(parameters):
        for name, distribution in route.draws.items():
            yield from _find_in_distribution((*place, "draws", name), distribution)
    if (sum_ := sum(crowd.share for crowd in parameters.load.user_classes.values())) > 1 + _ROUNDING:
        yield build_mistake(
            ("load", "userClasses"), f"the shares of all classes add up to {sum_:g}, and not to 1 at most"
        )


def _find_in_distribution(place: Place, distribution: Mapping[str, float]) -> Iterator[DefinitionMistake]:
    for value in distribution:
        if not _is_number(value):
            yield build_mistake((*place, value), f"what is drawn must be a number, but is '{value}'")
    if abs((sum_ := sum(distribution.values())) - 1) > _ROUNDING:
        yield build_mistake(place, f"the probabilities add up to {sum_:g}, and not to 1")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _find_idle_load(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find loads that never send a request."""
    load = parameters.load
    if load.connections is None and not load.spawn_rate.env and not load.spawn_rate.default:
        yield build_mistake(
            ("load", "spawnRate"), "no user would ever come: the rate is 0, and no variable holds another"
        )
    if load.connections is not None and not load.connections.env and not load.connections.default:
        yield build_mistake(("load", "connections"), "all requests would be dropped: there is no connection")
    if not any(route.per_iteration for _, route in _list_routes(parameters)):
        yield build_mistake(
            ("load", "routes"), "no user would send a request: there is no route with `perIteration` above 0"
        )


def _find_mismatched_products(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    for i, edge in enumerate(parameters.edges):
        spoken = PROTOCOLS.get(edge.product, edge.protocol)
        if edge.protocol != spoken:
            message = f"'{edge.product}' speaks {spoken}, but the `protocol` of the edge is {edge.protocol}"
            yield build_mistake(("edges", i, "product"), message)


def _find_in_component(model: ComponentModel, place: Place) -> Iterator[DefinitionMistake]:
    for i, port in enumerate(model.ports):
        if not (port.env or port.key or port.number):
            yield build_mistake((*place, "ports", i), "a port needs a `number`, or an `env` or `key` that holds it")
    if model.config and not model.config.startswith("/"):
        yield build_mistake((*place, "config"), f"the path must be absolute, but is '{model.config}'")
    yield from _find_in_files(model, place)
    yield from _find_in_java(model, place)
    yield from _find_unread_logins(model, place)


def _find_in_files(model: ComponentModel, place: Place) -> Iterator[DefinitionMistake]:
    disk, here = model.disk, (*place, "disk")
    paths: list[tuple[Place, str]] = [((*here, "directory"), disk.directory)] if disk.directory else []
    paths += [((*here, "volumes", i), volume) for i, volume in enumerate(disk.volumes)]
    for at, path in paths:
        if not path.startswith("/"):
            yield build_mistake(at, f"the path must be absolute, but is '{path}'")
    for name in disk.errors:
        if not name.isdecimal() or int(name) not in errno.errorcode:
            code = getattr(errno, name, "")
            hint = f"; {name} is {code}" if code else ", such as 5 for EIO"
            yield build_mistake((*here, "errors", name), f"the key must be an error number{hint}")


def _find_in_java(model: ComponentModel, place: Place) -> Iterator[DefinitionMistake]:
    java = model.java
    for limit, name in ((java.heap_mib, "java.heapMib"), (model.memory_mib, "memoryMib")):
        if java.heap_used_mib > limit and (limit or name == "memoryMib"):
            message = f"{java.heap_used_mib:g} MiB are in use, but `{name}` is {limit:g}"
            yield build_mistake((*place, "java", "heapUsedMib"), message)


def _find_unread_logins(model: ComponentModel, place: Place) -> Iterator[DefinitionMistake]:
    """Find logins and databases that no source names, and patterns that find none."""
    for i, login in enumerate(model.logins):
        here: Place = (*place, "logins", i)
        yield from _find_in_pattern(here, login.pattern, ("user", "password"))
        if not (login.user or login.user_env or login.password_env or login.flag or login.pattern):
            yield build_mistake(
                here, "it names neither a user nor a variable, a word of the command line or a `pattern`"
            )
        yield from _find_unread_pattern(here, login.pattern, login.config_map, login.key)
    for i, database in enumerate(model.databases):
        here = (*place, "databases", i)
        yield from _find_in_pattern(here, database.pattern, ("name",))
        if not (database.name or database.env or database.pattern):
            yield build_mistake(here, "it has neither a `name` nor variables (`env`) nor a `pattern`")
        yield from _find_unread_pattern(here, database.pattern, database.config_map, database.key)


def _find_in_pattern(place: Place, pattern: str, groups: tuple[str, ...]) -> Iterator[DefinitionMistake]:
    if not pattern:
        return
    try:
        known = compile_pattern(pattern).names
    except ValueError as error:
        yield build_mistake((*place, "pattern"), f"{error}")
        return
    for group in groups:
        if group not in known:
            yield build_mistake((*place, "pattern"), f"it has no group '{group}', as in (?P<{group}>…)")


def _find_unread_pattern(place: Place, pattern: str, config_map: str, key: str) -> Iterator[DefinitionMistake]:
    if bool(pattern) != bool(config_map and key):
        yield build_mistake(place, "`configMap`, `key` and `pattern` belong together")


def _find_without_effect(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find fields that count only beside another one that is missing."""
    rows: list[tuple[Place, bool, str]] = []
    for i, edge in enumerate(parameters.edges):
        here: Place = ("edges", i)
        rows.append(((*here, "name"), bool(edge.name) and not edge.registry, "`registry`"))
        lonely = bool(edge.timeout_fallback_seconds) and not edge.timeout_env
        rows.append(((*here, "timeoutFallbackSeconds"), lonely, "`timeoutEnv`"))
    for place, step in list_steps(parameters):
        cached = bool(step.keys or step.invalid_entries_of)
        rows += [
            ((*place, "code"), step.code != _CODE and step.on_error != "Crash", "`onError: Crash`"),
            ((*place, "batch"), step.batch and not step.parallel, "`parallel`"),
            ((*place, "cacheFailures"), step.cache_failures and not step.keys, "`keys`"),
            ((*place, "keysPerCall"), step.keys_per_call != 1 and not cached, "`keys` or `invalidEntriesOf`"),
            ((*place, "keysIf"), bool(step.keys_if) and not cached, "`keys` or `invalidEntriesOf`"),
            (
                (*place, "invalidEntryLog"),
                bool(step.invalid_entry_log) and not step.invalid_entries_of,
                "`invalidEntriesOf`",
            ),
        ]
    for name, model in parameters.components.items():
        rows.append((("components", name, "start", "keys"), bool(model.start.keys) and not model.config, "`config`"))
        for i, login in enumerate(model.logins):
            here = ("components", name, "logins", i, "userEnv")
            rows.append((here, bool(login.user_env) and not login.password_env, "`passwordEnv`"))
    for flag, effects in parameters.flags.effects.items() if parameters.flags is not None else ():
        for i, effect in enumerate(effects):
            here = ("flags", "effects", flag, i)
            rows += [
                ((*here, "redirect"), bool(effect.redirect) and not effect.redirect_to, "`redirectTo`"),
                ((*here, "redirectTo"), bool(effect.redirect_to) and not effect.redirect, "`redirect`"),
                (
                    (*here, "floodRoute"),
                    bool(effect.flood_route) and not effect.flood_per_iteration,
                    "`floodPerIteration`",
                ),
                (
                    (*here, "floodPerIteration"),
                    bool(effect.flood_per_iteration) and not effect.flood_route,
                    "`floodRoute`",
                ),
            ]
    for place, lonely, needed in rows:
        if lonely:
            yield build_mistake(place, f"it has no effect without {needed}")


def _find_invalid_images(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find images that no container runtime could read, so that no container can have them."""
    for i, image in enumerate(parameters.images):
        if not is_reference(image):
            yield build_mistake(("images", i), f"'{image}' is not the name of an image, such as registry.example/a:1.4")
    for i, pattern in enumerate(parameters.idle_images):
        if not is_reference(_WILDCARD.sub("a", _DIGEST.sub("", pattern))):
            yield build_mistake(("idleImages", i), f"'{pattern}' matches no name of an image; a glob is '*/pause:*'")
