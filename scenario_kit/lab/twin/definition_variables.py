"""Variables and keys in a twin's definition that no container of the app has, whatever its options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from scenario_kit.lab.twin.definition_mistake import DefinitionMistake, build_mistake, build_unknown
from scenario_kit.lab.twin.dry_run import list_own_variables
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model.json_document import Place
from scenario_kit.model.spelling import suggest
from scenario_kit.model.twin.address import AddressSource
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.store import Login


class _Read(NamedTuple):
    """A variable, or with ``key`` a key of the configuration file, that a program is declared to read.

    ``missing`` is what follows if it does not exist. With ``spare``, the program does without it, so only a similar
    name tells that it is misspelled. ``filled`` is whether it must hold something.
    """

    place: Place
    component: str
    name: str
    missing: str
    key: bool = False
    spare: bool = False
    filled: bool = False


def find_unset_variables(
    parameters: TwinDefinition, deployments: Iterable[ProcessTable]
) -> Iterator[DefinitionMistake]:
    """Find variables and keys that no process of the component has in any of the deployments.

    ``deployments`` are asked for one after another, and only while something is missing. Components that are not
    deployed have no findings.
    """
    reads = list(_list_reads(parameters))
    missing = list(reads)
    seen: dict[str, Process] = {}
    for processes in deployments:
        for read in list(missing):
            found = processes.of(read.component)
            for process in found:
                seen.setdefault(read.component, process)
            if any(_has(process, read) for process in found):
                missing.remove(read)
        if not missing:
            return
    taken = {(read.component, read.name) for read in reads}
    for read in missing:
        if (reader := seen.get(read.component)) is not None:
            own = list_own_variables(reader)
            yield from _explain(read, reader, [name for name in own if (read.component, name) not in taken])


def _explain(read: _Read, process: Process, others: Sequence[str]) -> Iterator[DefinitionMistake]:
    """Explain a missing name; ``others`` are variables that nothing in the definition reads."""
    file = process.model.config if read.key and process.model is not None else ""
    if read.key and process.config is None:
        yield build_mistake(read.place, f"no container of '{read.component}' mounts {file}, whatever the options")
        return
    known = tuple(process.config or ()) if read.key else others
    close = suggest(read.name, known)
    if read.spare and not close:
        return
    lacking = f"{file} of '{read.component}' does not have" if read.key else f"no container of '{read.component}' sets"
    message = f"{lacking} {read.name}, whatever the options, so {read.missing}"
    advice = "add it to the manifests, or leave the field out"
    yield build_unknown(read.place, message if close else f"{message}; {advice}", read.name, known if close else ())


def _has(process: Process, read: _Read) -> bool:
    if read.key:
        return process.config is not None and bool(process.config.get(read.name))
    if "*" in read.name:
        return any(fnmatchcase(name, read.name) for name in list_own_variables(process))
    return bool(process.env.get(read.name)) if read.filled else read.name in process.env


def _list_reads(parameters: TwinDefinition) -> Iterator[_Read]:
    """List the variables and keys whose absence no call, probe or pod would show."""
    load = parameters.load
    users = load.component
    if load.stages_env:
        yield _Read(("load", "stagesEnv"), users, load.stages_env, "the number of users would never change")
    for name, crowd in load.user_classes.items():
        place: Place = ("load", "userClasses", name, "env")
        yield _Read(place, users, crowd.env, "these users would never come")
    for field, setting in (("users", load.users), ("connections", load.connections), ("spawnRate", load.spawn_rate)):
        if setting is not None and setting.env and setting.default:
            missing = "its `default` would always count"
            yield _Read(("load", field, "env"), users, setting.env, missing, spare=True)
    for i, edge in enumerate(parameters.edges):
        if edge.timeout_env:
            missing = "`timeoutSeconds` would always count"
            yield _Read(("edges", i, "timeoutEnv"), edge.caller, edge.timeout_env, missing)
        if edge.optional or edge.address.component:
            yield from _list_of_address(("edges", i, "address"), edge.address, edge.caller)
    yield from _list_of_components(parameters)


def _list_of_address(place: Place, source: AddressSource, caller: str) -> Iterator[_Read]:
    """List the variables with an address whose absence is no error, because the caller does without it."""
    if source.key or source.host_key or source.text:
        return
    for field, name in (("env", source.env), ("hostEnv", source.host_env)):
        if name:
            yield _Read((*place, field), source.component or caller, name, "there would never be such a call")


def _list_of_components(parameters: TwinDefinition) -> Iterator[_Read]:
    for name, model in parameters.components.items():
        here: Place = ("components", name)
        for i, variable in enumerate(model.start.env):
            missing = "nothing is required" if "*" in variable else "every start would fail"
            yield _Read((*here, "start", "env", i), name, variable, missing, filled=True)
        for key in model.start.keys if model.config else ():
            yield _Read((*here, "start", "keys", key), name, key, "every start would fail", key=True)
        for i, port in enumerate(model.ports):
            if port.env and not port.key:
                missing = "its `number` would always count" if port.number else "it would not listen there"
                yield _Read((*here, "ports", i, "env"), name, port.env, missing, spare=bool(port.number))
        for i, login in enumerate(model.logins):
            yield from _list_of_login((*here, "logins", i), name, login, len(model.logins) > 1)


def _list_of_login(place: Place, component: str, login: Login, has_others: bool) -> Iterator[_Read]:
    """List the variables of a login. Of several logins, the manifests may set some only."""
    missing = "nobody would have this login"
    if login.user_env:
        spare = has_others or bool(login.user)
        yield _Read((*place, "userEnv"), component, login.user_env, missing, spare=spare)
    if login.password_env:
        yield _Read((*place, "passwordEnv"), component, login.password_env, missing, spare=has_others)
