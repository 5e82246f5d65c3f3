"""Texts that programs read: variables, commands, files, and Java code that an experiment injects.

The kubelet fills a variable from a ConfigMap, a Secret, a label or an annotation, and writes earlier variables into
later ones and into commands, so each text is read as the program gets it.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.admission.hosts import PUBLIC, find_arguments, find_hosts, is_address_name, parse_registry
from scenario_kit.admission.pods import find_pod_specs, list_actions, list_containers
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import find_spec
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import Place, list_mappings

#: Fields of a JVMChaos that hold Java expressions or rules.
_JAVA: Final = ("ruleData", "exception", "returnValue")
#: Parts of files that no program requests: comments, names of XML namespaces, and those of JSON schemas.
_IDENTIFIERS: Final = re.compile(r"(?m)^[ \t]*#(?!!).*$|\bxmlns(?::\w+)?=\"[^\"\n]*\"|\"\$schema\"\s*:\s*\"[^\"\n]*\"")
_REFERENCE: Final = re.compile(r"\$\((\w+)\)")
#: The same in a command, which may be a shell's.
_SHELL_REFERENCE: Final = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|([A-Za-z_]\w*))")
#: A label or an annotation as the downward API names it.
_MARK: Final = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
#: Kinds whose content variables and volumes show, and the field of a source that names one.
_SOURCES: Final = {"ConfigMap": "configMap", "Secret": "secret"}
#: The most characters that a variable may grow to by references, of which each may double it.
_LONGEST: Final = 100_000

#: An object by kind and name.
Name = tuple[str, str]


class ReadText(NamedTuple):
    """A text that a program reads, its place, and whether it is nothing but an address.

    ``sources`` are the ConfigMaps and Secrets from which it, or a part of it, comes.
    """

    keys: Place
    text: str
    address: bool = False
    sources: frozenset[Name] = frozenset()

    @property
    def hosts(self) -> list[str]:
        """Return the hosts that it names, in lower case, each once."""
        return find_hosts(self.text, address=self.address)


class _Environment:
    """The variables of a container as far as they are known, each with its sources."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, frozenset[Name]]] = {}

    def expand(self, text: str, pattern: re.Pattern[str] = _REFERENCE) -> tuple[str, frozenset[Name]]:
        """Return a text with references to known variables replaced, and the sources of these."""
        found = [each for match in pattern.finditer(text) if (each := self._find(match)) is not None]
        if not found or len(text) + sum(len(value) for value, _ in found) > _LONGEST:
            return text, frozenset()
        sources = frozenset[Name]().union(*(each for _, each in found))
        return pattern.sub(lambda m: m[0] if (each := self._find(m)) is None else each[0], text), sources

    def _find(self, match: re.Match[str]) -> tuple[str, frozenset[Name]] | None:
        return self._known.get(next(group for group in match.groups() if group is not None))

    def add(self, name: str, text: str, sources: frozenset[Name] = frozenset()) -> None:
        self._known[name] = (text, sources)


def list_texts(obj: Object, objects: Iterable[Object] = ()) -> Iterator[ReadText]:
    """List the texts of an object that programs read, each with its place.

    ``objects`` are those that exist beside it: what variables show comes from them.
    """
    yield from list_inputs(obj, objects)
    yield from _list_files(obj)
    yield from _list_java(obj)


def list_inputs(obj: Object, objects: Iterable[Object] = ()) -> Iterator[ReadText]:
    """List the variables, commands and arguments of an object's containers, each with its place."""
    contents = {(o["kind"], o["metadata"]["name"]): o for o in objects if o["kind"] in _SOURCES}
    for keys, spec in find_pod_specs(obj):
        metadata = {**_find_metadata(obj, keys), "namespace": obj["metadata"].get("namespace")}
        for place, volume in _list_downward(spec, keys):
            if text := _read_field(volume, metadata):
                yield ReadText(place, text)
        for place, container in list_containers(spec, keys):
            environment = _Environment()
            yield from _list_variables(container, place, environment, (metadata, contents))
            yield from _list_commands(container, place, environment)


@cache_by_identity(maxsize=1024)
def find_sources(obj: Object) -> frozenset[Name]:
    """Find the ConfigMaps and Secrets from which an object's containers take variables."""
    containers = [container for keys, spec in find_pod_specs(obj) for _, container in list_containers(spec, keys)]
    groups = [source for container in containers for _, source in list_mappings(container.get("envFrom"))]
    single = [each.get("valueFrom") for container in containers for _, each in list_mappings(container.get("env"))]
    return frozenset(
        (kind, _read_name(ref))
        for kind, field in _SOURCES.items()
        for ref in (
            *(source.get(f"{field}Ref") for source in groups),
            *(source.get(f"{field}KeyRef") for source in single if isinstance(source, Mapping)),
        )
        if isinstance(ref, Mapping)
    )


def _find_metadata(obj: Object, keys: Place) -> Mapping[str, Any]:
    """Return the metadata beside a pod spec."""
    part: Any = obj
    for key in keys[:-1]:
        part = part[key]
    metadata = part.get("metadata") if isinstance(part, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}


def _list_downward(spec: Mapping[str, Any], keys: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """List the fields of its pod that a volume shows, each with its place."""
    for i, volume in list_mappings(spec.get("volumes")):
        shown: list[tuple[Place, Any]] = [(("downwardAPI",), volume.get("downwardAPI"))]
        projected = volume.get("projected")
        for j, source in list_mappings(projected.get("sources") if isinstance(projected, Mapping) else None):
            shown.append((("projected", "sources", j, "downwardAPI"), source.get("downwardAPI")))
        for place, part in shown:
            for k, item in list_mappings(part.get("items") if isinstance(part, Mapping) else None):
                yield (*keys, "volumes", i, *place, "items", k, "fieldRef"), item


def _list_variables(
    container: Mapping[str, Any],
    keys: Place,
    environment: _Environment,
    known: tuple[Mapping[str, Any], Mapping[Name, Object]],
) -> Iterator[ReadText]:
    """List a container's variables, with references to earlier ones expanded as the kubelet does."""
    metadata, contents = known
    for i, source in list_mappings(container.get("envFrom")):
        for kind, field in _SOURCES.items():
            name = _read_name(source.get(f"{field}Ref"))
            for key, text in _read_content(contents.get((kind, name))).items():
                variable, sources = f"{source.get('prefix') or ''}{key}", frozenset({(kind, name)})
                environment.add(variable, text, sources)
                yield ReadText((*keys, "envFrom", i), text, is_address_name(variable), sources)
    for i, each in list_mappings(container.get("env")):
        name, value = str(each.get("name")), each.get("value")
        place: Place = (*keys, "env", i, "value")
        if isinstance(value, str):
            text, sources = environment.expand(value)
        else:
            place, (text, sources) = (*keys, "env", i, "valueFrom"), _read_source(each, metadata, contents)
        if isinstance(value, str) or text:
            environment.add(name, text, sources)
            yield ReadText(place, text, is_address_name(name), sources)


def _read_source(
    variable: Mapping[str, Any], metadata: Mapping[str, Any], contents: Mapping[Name, Object]
) -> tuple[str, frozenset[Name]]:
    """Return what a variable takes from elsewhere, and the object it comes from; empty if that is not known."""
    source = variable.get("valueFrom")
    if not isinstance(source, Mapping):
        return "", frozenset()
    for kind, field in _SOURCES.items():
        ref = source.get(f"{field}KeyRef")
        if isinstance(ref, Mapping):
            name = (kind, _read_name(ref))
            return _read_content(contents.get(name)).get(str(ref.get("key")), ""), frozenset({name})
    return _read_field(source, metadata), frozenset()


def _read_name(ref: Any) -> str:
    return str(ref.get("name")) if isinstance(ref, Mapping) else ""


def _read_field(source: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Return the label, annotation or namespace that the downward API shows; empty for other fields."""
    ref = source.get("fieldRef")
    path = str(ref.get("fieldPath")) if isinstance(ref, Mapping) else ""
    if path == "metadata.namespace":
        return str(metadata.get("namespace") or "")
    match = _MARK.fullmatch(path)
    marks = metadata.get(match[1]) if match else None
    return str(marks.get(match[2]) or "") if match and isinstance(marks, Mapping) else ""


def _list_commands(container: Mapping[str, Any], keys: Place, environment: _Environment) -> Iterator[ReadText]:
    """List the words of all commands of a container; those of probes and hooks are not expanded."""
    yield from _list_words(container, keys, ("command", "args"), environment)
    for place, action in list_actions(container, keys):
        if isinstance(action.get("exec"), Mapping):
            yield from _list_words(action["exec"], (*place, "exec"), ("command",), _Environment())


def _list_words(
    value: Mapping[str, Any], keys: Place, fields: Iterable[str], environment: _Environment
) -> Iterator[ReadText]:
    for field in fields:
        words = [
            environment.expand(str(word), _SHELL_REFERENCE)
            for word in value.get(field) or ()
            if isinstance(word, str | int)
        ]
        for i, (word, sources) in enumerate(words):
            yield ReadText((*keys, field, i), word, sources=sources)
        every = frozenset[Name]().union(*(sources for _, sources in words))
        for host in find_arguments(" ".join(word for word, _ in words)):
            yield ReadText((*keys, field), host, address=True, sources=every)


def _list_files(obj: Object) -> Iterator[ReadText]:
    """List the texts of a ConfigMap or a Secret."""
    for key, (field, text) in _list_content(obj).items():
        yield ReadText((field, key), _IDENTIFIERS.sub("", text), is_address_name(key))


def _read_content(obj: Object | None) -> Mapping[str, str]:
    return {key: text for key, (_, text) in _list_content(obj).items()} if obj is not None else {}


def _list_content(obj: Object) -> Mapping[str, tuple[str, str]]:
    """Return the decoded texts of a ConfigMap or a Secret by their keys, each with its field."""
    fields = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}.get(obj["kind"], ())
    found: dict[str, tuple[str, str]] = {}
    for field in fields:
        data = obj.get(field)
        for key, text in data.items() if isinstance(data, Mapping) else ():
            encoded = (obj["kind"], field) in (("ConfigMap", "binaryData"), ("Secret", "data"))
            if isinstance(text, str):
                found[str(key)] = field, _decode(text) if encoded else text
    return found


def _decode(text: str) -> str:
    try:
        return b64decode(text).decode(errors="replace")
    except ValueError:
        return text  # the API server rejects it


def _list_java(obj: Object) -> Iterator[ReadText]:
    """List the Java code that a JVMChaos, or one that a Schedule starts, adds to a program."""
    keys, spec = find_spec(obj, "JVMChaos") or ((), {})
    for field in _JAVA:
        if isinstance(text := spec.get(field), str):
            yield ReadText((*keys, field), text)


@cache_by_identity(maxsize=16)
def collect_hosts(objects: tuple[Object, ...]) -> frozenset[str]:
    """Collect the hosts that the objects of an app name."""
    return frozenset(host for obj in objects for read in list_texts(obj, objects) for host in read.hosts)


@cache_by_identity(maxsize=16)
def collect_registries(objects: tuple[Object, ...]) -> frozenset[str]:
    """Collect the public registries, and those of the images of an app's objects."""
    pods = (found for obj in objects for found in find_pod_specs(obj))
    images = (str(c.get("image") or "") for keys, spec in pods for _, c in list_containers(spec, keys))
    return PUBLIC | {parse_registry(image) for image in images}
