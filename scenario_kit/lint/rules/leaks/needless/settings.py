"""Variables that no program reads, and data keys that no pod uses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.lint.rules.leaks.needless.surroundings import Needless, ObjectSurroundings, mentions
from scenario_kit.lint.simulation.stages import list_containers, list_pod_specs, walk_leaves
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, list_mappings, walk

#: Variables that language runtimes and clients of stores read.
_RUNTIME: Final = re.compile(
    r"GO(?:GC|MAXPROCS|MEMLIMIT|DEBUG|TRACEBACK)|GODEBUG|GC|JAVA_(?:TOOL_)?OPTIONS|JAVA_OPTS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS"
    r"|NODE_(?:OPTIONS|ENV|EXTRA_CA_CERTS)|UV_THREADPOOL_SIZE|PYTHON[A-Z]+|MALLOC_[A-Z_]+|OMP_NUM_THREADS|RUBYOPT"
    r"|(?:DOTNET|COMPlus|ASPNETCORE)_[A-Za-z_]+|(?:HTTPS?|NO|ALL)_PROXY|(?:https?|no|all)_proxy|TZ|LANG|LC_ALL|PATH|HOME"
    r"|LD_PRELOAD|LD_LIBRARY_PATH|RES_OPTIONS|LOCALDOMAIN|SSL_CERT_(?:FILE|DIR)|TMPDIR|LOG_LEVEL|PORT"
    r"|GRPC_[A-Z_]+|OTEL_(?:SDK_DISABLED|SERVICE_NAME|RESOURCE_ATTRIBUTES|PROPAGATORS|TRACES_SAMPLER(?:_ARG)?"
    r"|(?:TRACES|METRICS|LOGS)_EXPORTER|EXPORTER_OTLP_[A-Z_]+|BSP_[A-Z_]+|BLRP_[A-Z_]+|METRIC_EXPORT_[A-Z]+)"
    r"|PG(?:HOST|PORT|USER|PASSWORD|DATABASE|OPTIONS|SSLMODE|CONNECT_TIMEOUT)|POSTGRES_(?:USER|PASSWORD|DB)"
    r"|MYSQL_(?:HOST|USER|PASSWORD|DATABASE|ROOT_PASSWORD|PWD)|MONGO_INITDB_[A-Z_]+|REDISCLI_AUTH"
)
#: The variable with the attributes of all telemetry of a process, and the namespaces that OpenTelemetry defines
#: (https://opentelemetry.io/docs/specs/semconv/resource/).
_ATTRIBUTES: Final = "OTEL_RESOURCE_ATTRIBUTES"
_STANDARD_ATTRIBUTES: Final = re.compile(
    r"(?:service|deployment|k8s|host|os|process|container|telemetry|cloud|device|faas|webengine)\.\w"
)
_DATA: Final = ("data", "stringData", "binaryData")
_HOLDERS: Final = ("ConfigMap", "Secret")


def find_unused_variables(obj: Object, was: Object | None, world: ObjectSurroundings) -> Iterator[Needless]:
    """Find new variables that neither the app, a runtime nor a command of the pod reads."""
    before = {
        str(v.get("name"))
        for _, c in list_containers(was or {"kind": "", "spec": {}})
        for _, v in list_mappings(c.get("env"))
    }
    for keys, container in list_containers(obj):
        for i, variable in list_mappings(container.get("env")):
            name = str(variable.get("name", ""))
            if name == _ATTRIBUTES:
                yield from _find_free_attributes((*keys, "env", i, "value"), str(variable.get("value", "")), was)
            if name in before or _RUNTIME.fullmatch(name) or world.reads(name) or _is_expanded(obj, name):
                continue
            if _has_known_prefix(name, world):
                continue
            yield Needless((*keys, "env", i, "name"), name, f"variable '{name}': no program of the app reads it")


def _find_free_attributes(keys: Place, value: str, was: Object | None) -> Iterator[Needless]:
    """Find new attributes of telemetry that neither OpenTelemetry defines nor the object had before."""
    for pair in value.split(","):
        name = pair.partition("=")[0].strip()
        former = was is not None and any(name in str(text) for _, text in walk_leaves(was))
        if name and not former and "$(" not in name and not _STANDARD_ATTRIBUTES.match(name):
            yield Needless(keys, value, f"attribute '{name}' of telemetry: nothing reads it")


def _has_known_prefix(name: str, world: ObjectSurroundings) -> bool:
    """Return whether the app has variables with the same first word, and the name is neutral: ``LOCUST_RUN_TIME``."""
    family = name.partition("_")[0]
    return len(family) > 2 and world.neutral(name) and any(v.startswith(f"{family}_") for v in world.known.variables)


def _is_expanded(obj: Object, name: str) -> bool:
    """Return whether a command or another variable of the pod expands the variable."""
    pattern = re.compile(rf"\$(?:\(|{{)?{re.escape(name)}\b")
    return any(
        pattern.search(text)
        for _, spec in list_pod_specs(obj)
        for _, text in walk_leaves(spec)
        if isinstance(text, str)
    )


def find_unused_documents(
    obj: Object, was: Object | None, world: ObjectSurroundings, *, created: bool
) -> Iterator[Needless]:
    """Find new keys that no pod uses, and new fields in JSON documents.

    A pod that mounts a new object uses all its keys, provided that keys and values are neutral.
    """
    if obj["kind"] not in _HOLDERS or (was is None and not created):
        return
    for field in _DATA:
        old = ((was or {}).get(field) or {}) if was is not None else {}
        for key, value in (obj.get(field) or {}).items():
            if key not in old and not _is_read(obj, str(key), world):
                if not (created and _is_meaningless(str(key), value, world)):
                    yield Needless((field, key), value, f"key '{key}': no pod reads it")
            elif key in old and isinstance(value, str) and isinstance(old[key], str) and value != old[key]:
                yield from _find_unused_fields(value, old[key], (field, key), world)


def _is_meaningless(key: str, value: Any, world: ObjectSurroundings) -> bool:
    return world.neutral(key) and ("\n" in str(value) or world.neutral(str(value)))


def _is_read(obj: Object, key: str, world: ObjectSurroundings) -> bool:
    """Return whether a pod reads this key: by name, or because another text names a file or variable of that name."""
    name = str(obj["metadata"]["name"])
    own = (obj["kind"], name)
    readers = [o for o in world.now if (o["kind"], o["metadata"]["name"]) != own and _takes(o, name)]
    if any(mentions(text, key) for o in readers for _, text in walk_leaves(o) if isinstance(text, str)):
        return True
    if any(_is_read_as_variables(o, name) for o in readers) and world.reads(key):
        return True
    siblings = [str(v) for field in _DATA for k, v in (obj.get(field) or {}).items() if k != key]
    return bool(readers) and any(mentions(text, key) for text in siblings)


def _takes(obj: Object, name: str) -> bool:
    return any(text == name for _, spec in list_pod_specs(obj) for _, text in walk_leaves(spec)) or any(
        mentions(text, name) for _, c in list_containers(obj) for _, text in walk_leaves(c) if isinstance(text, str)
    )


def _is_read_as_variables(obj: Object, name: str) -> bool:
    sources = (s for _, c in list_containers(obj) for _, s in list_mappings(c.get("envFrom")))
    return any((s.get(ref) or {}).get("name") == name for s in sources for ref in ("configMapRef", "secretRef"))


def _find_unused_fields(text: str, before: str, keys: tuple[str, ...], world: ObjectSurroundings) -> Iterator[Needless]:
    """Find new fields of a JSON document with names that neither the old document nor the app contains."""
    try:
        new, old = json.loads(text), json.loads(before)
    except ValueError:
        return
    known = set(_list_keys(old))
    for name in dict.fromkeys(_list_keys(new)):
        if name not in known and not name.isdigit() and not world.reads(name) and not world.neutral(name):
            yield Needless(keys, text, f"field '{name}': new in this document")


def _list_keys(value: Any) -> Iterator[str]:
    return (str(place[-1]) for place, _ in walk(value) if place and isinstance(place[-1], str))
