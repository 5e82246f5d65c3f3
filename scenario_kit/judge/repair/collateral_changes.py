"""Find what a repair changes beyond the fault (docs/validator.md), by comparing the app's objects. Pure.

After a repair, objects may differ only where a fault changed them. Workloads that have a part in the incident may also
run differently: an operator may work around a fault. Service selectors, feature flags, probes, files, routes, RBAC and
the names under which programs report must be unchanged everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.judge.repair.api_defaults import COMPLETED, complete_object, is_assigned
from scenario_kit.judge.repair.invariants import read_effective
from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.difference import Path, find_paths, get_at, meets
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.pod_template import list_containers
from scenario_kit.model.kubernetes.quantity import is_same_quantity, parse_quantity
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.runtime.flag import read_flags
from scenario_kit.model.shortening import cut_text

#: An object by kind and name.
Name = tuple[str, str]
#: Kinds whose objects end by themselves or are filled in by controllers.
_ENDING: Final = ("Job", "Pod", "Namespace")
_PROBES: Final = ("readinessProbe", "livenessProbe", "startupProbe")
#: Fields of workloads with bounds of their own (`judge.repair.invariants`), or that a resync writes.
_BOUNDED: Final = ("resources", "replicas", "minReplicas", "maxReplicas", "revisionHistoryLimit", "storage")
#: Fields of autoscalers that a repair may raise.
_SCALES: Final = ("minReplicas", "maxReplicas")
_REPLICAS: Final[Path] = ("spec", "replicas")
#: Factor up to which replicas may grow before a repair counts as masking; a surge may need several times as many.
REPLICA_FACTOR: Final = 10
#: How long a rollout may take: with more time, the alert about one that is stuck does not fire.
_DEADLINE: Final = "progressDeadlineSeconds"
#: Where the API server and controllers add entries of their own.
_TEMPLATE_METADATA: Final[Path] = ("spec", "template", "metadata")
#: Fields in which additions count too, whatever the kind; elsewhere the API server and controllers add defaults.
_CLOSED: Final = ("selector", "containers", "initContainers", "env", "envFrom", "command", "args", "nodeSelector")
_MAX_CHARACTERS: Final = 60
_FIELD_PATH: Final = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
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
            spared.setdefault(_name(known), []).extend(_list_written(write))
    problems: list[str] = []
    for name, obj in former.items():
        if name in present and present[name] is not obj and name[0] not in _ENDING:
            problems += _find_differences(app, obj, present[name], spared.get(name, []), around=name in involved)
            problems += _check_observed(obj, present[name], spared.get(name, []))
    return [*problems, *_check_selectors(former, present, spared), *_check_flags(app, former, present, written)]


def _list_written(write: Write) -> list[Path]:
    """List the paths of what a write changed; the whole object if it was made or deleted."""
    if write.before is None or write.after is None:
        return [()]
    return list(find_paths(complete_object(write.before), complete_object(write.after)))


def find_restrictions(made: Iterable[Object], known: Iterable[Object]) -> list[str]:
    """Describe objects that only restrict the app, made by a repair of an app without any such object.

    Where there is one, another one may make up for it: an allowing policy, a default for a limit that a quota demands.
    A budget that allows no eviction makes up for nothing: no node can be drained any more. Nor does a pod to which a
    Service of the app forwards.
    """
    new, old = list(made), list(known)
    problems = [f"{'/'.join(_name(obj))} allows no eviction" for obj in new if _forbids_evictions(obj, old)]
    problems += _find_captured(new, old)
    if any(obj["kind"] in _RESTRICTING for obj in old):
        return problems
    return problems + [f"{'/'.join(_name(obj))} restricts the app" for obj in new if obj["kind"] in _RESTRICTING]


def _find_captured(made: Iterable[Object], known: Iterable[Object]) -> list[str]:
    """Describe Services that also select pods of new objects; workloads are compared with the app's, not here.

    A Service whose selector a fault changed is known with several selectors, and left out.
    """
    chosen: dict[Name, list[Mapping[str, Any]]] = {}
    for obj in known:
        if obj["kind"] == "Service":
            chosen.setdefault(_name(obj), []).append((obj.get("spec") or {}).get("selector") or {})
    return [
        f"{'/'.join(name)} also selects the pods of {'/'.join(_name(obj))}"
        for obj in made
        if obj["kind"] not in WORKLOADS
        for name, selectors in chosen.items()
        if selectors[0] and all(s == selectors[0] for s in selectors) and selects_pods(dict(selectors[0]), obj)
    ]


def _forbids_evictions(obj: Object, objects: Iterable[Object]) -> bool:
    """Return whether an object is a disruption budget by which no pod of the app may be evicted."""
    if obj["kind"] != "PodDisruptionBudget":
        return False
    spec = obj.get("spec") or {}
    labels = (spec.get("selector") or {}).get("matchLabels") or {}
    chosen = [o for o in objects if o["kind"] in WORKLOADS and selects_pods(labels, o)]
    pods = max(sum(int((o.get("spec") or {}).get("replicas", 1)) for o in chosen), 1)
    kept = _read_share(spec.get("minAvailable"), pods)
    return _read_share(spec.get("maxUnavailable"), pods) == 0 or (kept is not None and kept >= pods)


def _read_share(value: Any, pods: int) -> int | None:
    """Return a number of pods; percentages are rounded up, as Kubernetes does. None without a number."""
    text = str(value)
    if text.endswith("%") and text[:-1].isdigit():
        return -(-int(text[:-1]) * pods // 100)
    return int(text) if text.isdigit() else None


def _index_by_name(objects: Iterable[Object]) -> dict[Name, Object]:
    return {_name(obj): obj for obj in objects}


def _name(obj: Object) -> Name:
    return str(obj["kind"]), str(obj["metadata"]["name"])


def _find_differences(app: App, before: Object, now: Object, spared: Iterable[Path], *, around: bool) -> Iterator[str]:
    kind, name = _name(before)
    own, old, new = list(spared), *(_strip_to_spec(complete_object(obj)) for obj in (before, now))
    reports = _find_reported(before)
    load = any(c.workload.bare == (kind, name) for c in app.components if c.role == "Load")
    for path in find_paths(old, new):
        baseline, current = get_at(old, path), get_at(new, path)
        if _is_equal(baseline, current) or any(meets(path, other) for other in own):
            continue
        if not baseline and not _is_new(old, path) and _is_filled_by_cluster(kind, path):
            continue
        if any(part.startswith(_OBSERVED) for part in path):
            continue  # checked wherever they are, and whoever has them
        if (load and "env" in path) or _is_flags(app, kind, name, path):
            continue
        bounded = any(part in _BOUNDED for part in path)
        if bounded and _is_within_bounds(path, baseline, current, around=around):
            continue
        works_around = around and kind in WORKLOADS and path[:1] == ("spec",)
        if works_around and not bounded and not _is_guarded(path, reports):
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


def _is_filled_by_cluster(kind: str, path: Path) -> bool:
    """Return whether the cluster may add a value by itself; the defaults of completed kinds are known."""
    return kind not in COMPLETED or is_assigned(path) or meets(path, _TEMPLATE_METADATA)


def _is_within_bounds(path: Path, baseline: Any, current: Any, *, around: bool) -> bool:
    """Return whether a repair may give a capacity this value.

    It may give more, though not without bounds; less only where the incident is, and never to an autoscaler.
    """
    if path[-1] in _SCALES:
        return not _is_less(current, baseline)
    if path == _REPLICAS:
        return not _is_less(REPLICA_FACTOR * max(int(baseline or 0), 1), current)
    return around or "limits" not in path or not _is_less(current, baseline)


def _is_less(current: Any, baseline: Any) -> bool:
    try:
        return parse_quantity(current) < parse_quantity(baseline)
    except (TypeError, ValueError):  # one of them is missing, or part of a larger change
        return False


def _is_guarded(path: Path, reports: Collection[Path]) -> bool:
    """Return whether a field must be unchanged even where the incident is.

    These are probes, the deadline of rollouts, and what a program reports.
    """
    if any(part in _PROBES or part == _DEADLINE or part.startswith(_TELEMETRY) for part in path):
        return True
    return any(meets(path, place) for place in reports)


def _find_reported(obj: Object) -> list[Path]:
    """Find the labels, annotations and variables that the variables of the OpenTelemetry SDK refer to."""
    if obj["kind"] not in WORKLOADS:
        return []
    found: list[Path] = []
    for container in list_containers(obj):
        env = [each for each in container.get("env") or () if str(each.get("name")).startswith(_TELEMETRY)]
        home: Path = ("spec", "template", "spec", "containers", container["name"], "env")
        for each in env:
            field = str(((each.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", ""))
            if match := _FIELD_PATH.fullmatch(field):
                found.append((*_TEMPLATE_METADATA, match[1], match[2]))
            found += [(*home, name) for name in _REFERENCE.findall(str(each.get("value", "")))]
    return found


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
    return cut_text("gone" if value is None else str(value), _MAX_CHARACTERS)
