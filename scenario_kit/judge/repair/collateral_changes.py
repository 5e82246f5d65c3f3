"""Find what a repair changes beyond the fault (docs/validator.md), by comparing the app's objects. Pure.

After a repair, objects may differ only where a fault changed them. Workloads that have a part in the incident may also
run differently: an operator may work around a fault. Service selectors, feature flags, probes, files, routes and RBAC
must be unchanged everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.judge.repair.invariants import read_effective
from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.difference import Path, find_paths, get_at, meets
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.quantity import is_same_quantity
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.runtime.flag import read_flags

#: An object by kind and name.
Name = tuple[str, str]
#: Kinds whose objects end by themselves or are filled in by controllers.
_ENDING: Final = ("Job", "Pod", "Namespace")
_PROBES: Final = ("readinessProbe", "livenessProbe", "startupProbe")
#: Fields of workloads with bounds of their own (`judge.repair.invariants`), or that a resync writes.
_BOUNDED: Final = ("resources", "replicas", "minReplicas", "maxReplicas", "revisionHistoryLimit", "storage")
#: Fields in which additions count too; elsewhere the API server and controllers add defaults.
_CLOSED: Final = ("selector", "containers", "initContainers", "env", "envFrom", "command", "args", "nodeSelector")
_MAX_CHARACTERS: Final = 60
#: Kinds that only take something away from an app that has none of them.
_RESTRICTING: Final = ("NetworkPolicy", "ResourceQuota", "LimitRange")
#: Variables of the OpenTelemetry SDK: what it reports, as whom, and to whom. Without reports, alerts end.
_TELEMETRY: Final = "OTEL_"
#: Domains of annotations by which collectors and Prometheus choose what they read, and under which name.
_OBSERVED: Final = ("prometheus.io/", "resource.opentelemetry.io/", "instrumentation.opentelemetry.io/")
#: Where the metadata of an object and of its pods is.
_METADATA: Final[tuple[Path, ...]] = (("metadata",), ("spec", "template", "metadata"))


class Write(NamedTuple):
    """An object before and after a write; None where it did not exist."""

    before: Object | None
    after: Object | None


def find_alterations(
    app: App, before: Iterable[Object], now: Iterable[Object], writes: Iterable[Write], involved: Collection[Name] = ()
) -> list[str]:
    """Describe every difference that neither a fault nor a workaround explains.

    Args:
        app: the app.
        before: the app's rendered objects.
        now: the live objects.
        writes: the faults' writes.
        involved: objects that have a part in the incident; their pods may run differently.
    """
    former, present = _index_by_name(before), _index_by_name(now)
    written = list(writes)
    spared: dict[Name, list[Path]] = {}
    for write in written:
        known = write.before or write.after
        if known is not None:
            whole = [()] if write.before is None or write.after is None else find_paths(write.before, write.after)
            spared.setdefault(_name(known), []).extend(whole)
    problems: list[str] = []
    for name, obj in former.items():
        if name in present and present[name] is not obj and name[0] not in _ENDING:
            problems += _find_differences(app, obj, present[name], spared.get(name, []), around=name in involved)
            problems += _check_observed(obj, present[name], spared.get(name, []))
    return [*problems, *_check_selectors(former, present, spared), *_check_flags(app, former, present, written)]


def find_restrictions(made: Iterable[Object], known: Iterable[Object]) -> list[str]:
    """Describe objects that only restrict the app, made by a repair of an app without any such object.

    Where there is one, another one may make up for it: an allowing policy, a default for a limit that a quota demands.
    """
    if any(obj["kind"] in _RESTRICTING for obj in known):
        return []
    return [f"{'/'.join(_name(obj))} restricts the app" for obj in made if obj["kind"] in _RESTRICTING]


def _index_by_name(objects: Iterable[Object]) -> dict[Name, Object]:
    return {_name(obj): obj for obj in objects}


def _name(obj: Object) -> Name:
    return str(obj["kind"]), str(obj["metadata"]["name"])


def _find_differences(app: App, before: Object, now: Object, spared: Iterable[Path], *, around: bool) -> Iterator[str]:
    kind, name = _name(before)
    own, old, new = list(spared), _strip_to_spec(before), _strip_to_spec(now)
    load = any(c.workload.bare == (kind, name) for c in app.components if c.role == "Load")
    for path in find_paths(old, new):
        baseline, current = get_at(old, path), get_at(new, path)
        if _is_equal(baseline, current) or any(meets(path, other) for other in own):
            continue
        if not baseline and not _is_new(old, path):  # defaults and bookkeeping
            continue
        if any(part.startswith(_OBSERVED) for part in path):
            continue  # checked wherever they are, and whoever has them
        if any(part in _BOUNDED for part in path) or (load and "env" in path) or _is_flags(app, kind, name, path):
            continue
        if around and kind in WORKLOADS and path[:1] == ("spec",) and not _is_guarded(path):
            continue
        reported = "" if kind == "Secret" else f" is {_shorten(current)}, its baseline is {_shorten(baseline)}"
        yield f"{kind}/{name}: {'.'.join(path)}{reported or ' differs from its baseline'}"


def _check_observed(before: Object, now: Object, spared: Collection[Path]) -> Iterator[str]:
    """Report annotations by which telemetry is no longer read, or under another name, unless a fault wrote them."""
    for place in _METADATA:
        old, new = (get_at(obj, (*place, "annotations")) or {} for obj in (before, now))
        for key in sorted({*old, *new}):
            path = (*place, "annotations", key)
            if key.startswith(_OBSERVED) and old.get(key) != new.get(key) and not any(meets(path, o) for o in spared):
                says = f"is {_shorten(new.get(key))}, its baseline is {_shorten(old.get(key))}"
                yield f"{'/'.join(_name(before))}: the annotation {key} {says}"


def _is_guarded(path: Path) -> bool:
    """Return whether a field must be unchanged even where the incident is: probes, and what a program reports."""
    return any(part in _PROBES or part.startswith(_TELEMETRY) for part in path)


def _strip_to_spec(obj: Object) -> Object:
    """Return an object without status and metadata."""
    found = {k: v for k, v in obj.items() if k not in ("status", "metadata", "apiVersion", "kind", "stringData")}
    if obj.get("kind") == "ServiceAccount":
        found.pop("secrets", None)
    return found


def _is_equal(baseline: Any, current: Any) -> bool:
    """Return whether values are equivalent: the API server drops empty ones and rewrites quantities."""
    return (not baseline and not current) or is_same_quantity(baseline, current)


def _is_new(before: Object, path: Path) -> bool:
    """Return whether a value was added in a closed field; below an existing value it is a default."""
    return any(part in _CLOSED and get_at(before, path[: i + 2]) is None for i, part in enumerate(path))


def _is_flags(app: App, kind: str, name: str, path: Path) -> bool:
    return app.flags is not None and (kind, name, path[1:2]) == ("ConfigMap", app.flags.config_map, (app.flags.key,))


def _check_selectors(
    before: Mapping[Name, Object], now: Mapping[Name, Object], spared: Mapping[Name, list[Path]]
) -> Iterator[str]:
    """Report Services that select other workloads than before, unless a fault changed selector or labels."""
    for name in (n for n in before if n[0] == "Service" and n in now):
        baseline, current = list_selected(before[name], before.values()), list_selected(now[name], now.values())
        for workload in sorted(baseline ^ current):
            labels = ("spec", "template", "metadata", "labels")
            own = any(meets(path, ("spec", "selector")) for path in spared.get(name, []))
            theirs = any(meets(path, labels) for path in spared.get(workload, []))
            if workload in now and not (own or theirs):
                says = "no longer selects" if workload in baseline else "also selects"
                yield f"Service/{name[1]} {says} the pods of {'/'.join(workload)}"


def list_selected(service: Object, objects: Iterable[Object]) -> set[Name]:
    """List the workloads whose pods a Service selects."""
    selector = (service.get("spec") or {}).get("selector") or {}
    home = service["metadata"].get("namespace")
    near = (obj for obj in objects if obj["kind"] in WORKLOADS and obj["metadata"].get("namespace") == home)
    return {_name(obj) for obj in near if selector and selects_pods(selector, obj)}


def _check_flags(
    app: App, before: Mapping[Name, Object], now: Mapping[Name, Object], writes: Iterable[Write]
) -> Iterator[str]:
    """Report feature flags that evaluate differently, except for those of faults and load."""
    store = app.flags
    if store is None or (name := ("ConfigMap", store.config_map)) not in before or name not in now:
        return
    loads = {c.name for c in app.components if c.role == "Load"}
    free = {flag for flag, trait in store.effects.items() if trait.component in loads}
    for write in (w for w in writes if _name(w.before or w.after or before[name]) == name):
        one, other = (_read_answers(obj, store.key) for obj in write)
        free |= {flag for flag in {*one, *other} if one.get(flag) != other.get(flag)}
    baseline, current = _read_answers(before[name], store.key), _read_answers(now[name], store.key)
    for flag in sorted(baseline):
        if flag not in free and baseline[flag] != current.get(flag):
            change = f"flag {flag} is {current.get(flag, 'gone')}, its baseline is {baseline[flag]}"
            yield f"ConfigMap/{store.config_map}: {change}"


def _read_answers(obj: Object | None, key: str) -> dict[str, str]:
    try:
        return {name: read_effective(flag) for name, flag in read_flags(obj or {}, key).items()}
    except ValueError:
        return {}


def _shorten(value: Any) -> str:
    text = "gone" if value is None else str(value)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
