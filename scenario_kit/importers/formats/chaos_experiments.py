"""Map experiments and Schedules of Chaos Mesh (https://chaos-mesh.org/docs/) to faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from scenario_kit.importers.drafting import FaultIntent
from scenario_kit.importers.formats.chaos_selectors import PodSelection, read_selection, select_components
from scenario_kit.importers.formats.context import ImportContext, map_mechanism, report_unknown_target
from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.mechanisms import CHAOS_MESH, Mechanism
from scenario_kit.importers.units import parse_go_duration
from scenario_kit.model import App, Component

#: Bounds of the period of a recurrence, in seconds.
MIN_PERIOD, MAX_PERIOD = 30, 1800
_EVERY: Final = re.compile(r"@every\s+(\S+)")
_MINUTES: Final = re.compile(r"\*(?:/([0-9]+))? \* \* \* \*")
_ONE_SHOT: Final = ("pod-kill", "container-kill", "jvm-gc")
_LEAVE_OUT: Final = "leave it out"
#: Kinds of Chaos Mesh that inject nothing.
_NOT_EXPERIMENTS: Final = {
    "StatusCheck": Mechanism(because="it injects nothing", fix="write it into `expect.checks` of the draft"),
    "RemoteCluster": Mechanism(because="a trial has one cluster", fix=_LEAVE_OUT),
    "PhysicalMachine": Mechanism(because="it is a machine outside the cluster", fix=_LEAVE_OUT),
}
_FRAMEWORK_FIELDS: Final = {
    "remoteCluster": "a trial has one cluster",
    "historyLimit": "a recurrence has no history",
    "concurrencyPolicy": "occurrences of a recurrence do not overlap",
    "startingDeadlineSeconds": "occurrences of a recurrence always start on time",
}


class MappedExperiment(NamedTuple):
    """The faults that an experiment maps to (none if it cannot be mapped), their app, and its duration in seconds."""

    faults: list[FaultIntent]
    app: App | None
    seconds: int | None = None


def map_schedule(context: ImportContext, spec: InputNode) -> MappedExperiment:
    """Map the spec of a Schedule to its experiment with a recurrence."""
    kind, key = spec.find("type"), find_kind_key(spec)
    inner = None if key is None else spec.find(key)
    if kind is None or inner is None or not isinstance(inner.value, dict):
        spec.report_refusal("it has no `type` with a matching experiment", "import a complete object", spec)
        return MappedExperiment([], None)
    kind.take("the kind of experiment")
    refuse_framework_fields(spec)
    mapped = map_experiment(context, inner, str(kind.value))
    if not mapped.faults:
        return mapped
    schedule, duration = spec.find("schedule"), inner.find("duration")
    period = None if schedule is None else read_period(str(schedule.value))
    if schedule is None or period is None:
        if schedule is not None:
            schedule.guess("a permanent fault", "only `@every` and periods of minutes can be converted")
        refuse_duration(inner)
        return mapped
    fitted = min(max(period, MIN_PERIOD), MAX_PERIOD)
    recurrence = {"everySeconds": fitted}
    if duration is not None and mapped.seconds is not None and 0 < mapped.seconds < fitted:
        recurrence["forSeconds"] = mapped.seconds
        duration.map(f"recurrence.forSeconds: {mapped.seconds}")
    else:
        refuse_duration(inner)
    if fitted == period:
        schedule.map(f"recurrence.everySeconds: {fitted}")
    else:
        bounds = f"a period must be between {MIN_PERIOD} and {MAX_PERIOD} seconds"
        schedule.guess(f"recurrence.everySeconds: {fitted}", bounds)
    return mapped._replace(faults=[replace(each, recurrence=recurrence) for each in mapped.faults])


def map_experiment(context: ImportContext, spec: InputNode, kind: str) -> MappedExperiment:
    """Map the spec of an experiment to one fault per selected workload."""
    mechanism = find_mechanism(spec, kind)
    if mechanism is None or not mechanism.fault:
        unknown = f"no fault corresponds to {kind}" + (
            f" with action '{text}'" if (text := spec.read_text("action")) else ""
        )
        known = mechanism or _NOT_EXPERIMENTS.get(kind, Mechanism(because=unknown))
        spec.report_refusal(known.because, known.fix, spec)
        return MappedExperiment([], None)
    selection = read_selection(spec.find("selector"))
    app = context.finder.find_app(selection.namespaces, selection.names)
    components = [] if app is None else select_components(context, app, selection, context.finder.target)
    if app is None or not components:
        report_unknown_target(spec.find("selector") or spec, app, selection.namespaces, selection.names, spec)
        return MappedExperiment([], app)
    if (action := spec.find("action")) is not None:
        action.map(f"type: {mechanism.fault}")
    replicas = _decide_mode(context, spec, app, components)
    refuse_framework_fields(spec)
    more = _map_containers(context, spec, app, components, mechanism) | _map_peer(context, spec, app, mechanism)
    first = map_mechanism(context, mechanism, spec, components[0].name, more)
    faults = [] if first is None else [replace(first, entity=each.name, replicas=replicas) for each in components]
    return MappedExperiment(faults, app, read_seconds(spec.find("duration")))


def find_mechanism(spec: InputNode, kind: str) -> Mechanism | None:
    """Find the first mechanism that matches kind, action and fields of an experiment."""
    action = spec.read_text("action")
    for each in CHAOS_MESH:
        present = not each.has or spec.find_path(each.has) is not None
        if each.kind == kind and each.action in ("", action) and present:
            return each
    return None


def find_kind_key(node: InputNode) -> str | None:
    """Find the field that holds an experiment: its kind in lower camel case, such as ``networkChaos``."""
    return next((key for key in node.value if isinstance(key, str) and key.endswith("Chaos")), None)


def read_period(schedule: str) -> int | None:
    """Read the period in seconds from ``@every 10m`` or ``*/10 * * * *``; None for other schedules."""
    try:
        if match := _EVERY.fullmatch(schedule.strip()):
            return round(parse_go_duration(match[1]))
    except ValueError:
        return None
    match = _MINUTES.fullmatch(" ".join(schedule.split()))
    return None if match is None else 60 * int(match[1] or 1)


def read_seconds(node: InputNode | None) -> int | None:
    """Read a duration in seconds; None if it is absent or invalid."""
    try:
        return None if node is None else round(parse_go_duration(node.value))
    except ValueError:
        return None


def refuse_duration(spec: InputNode) -> None:
    """Refuse the duration of an experiment: a fault without recurrence is permanent."""
    if (duration := spec.find("duration")) is not None:
        duration.refuse("the fault lasts until it is repaired", "if it should end by itself, write `recurrence`")


def refuse_framework_fields(spec: InputNode) -> None:
    """Refuse settings of Chaos Mesh that do not affect the incident."""
    for name, reason in _FRAMEWORK_FIELDS.items():
        if (part := spec.find(name)) is not None:
            part.refuse(reason)


def list_questions(faults: Iterable[FaultIntent]) -> list[str]:
    """List open decisions about one-shot faults."""
    if any(each.fault in _ONE_SHOT and not each.recurrence for each in faults):
        return ["the app recovers from this one-shot fault at once; should it recur, or be a permanent fault?"]
    return []


def _decide_mode(context: ImportContext, spec: InputNode, app: App, components: Sequence[Component]) -> int | None:
    """Decide how many pods of each workload a fault hits; None for all of them."""
    mode, value = spec.find("mode"), spec.find("value")
    pods = [context.finder.count_replicas(app, each) for each in components]
    number = _read_replicas(mode, value)
    if mode is not None and number is not None and number < min(pods):
        mode.map(f"replicas: {number}")
        if value is not None:
            value.map(f"replicas: {number}")
        return number
    if mode is not None and (mode.value == "all" or (number is not None and number >= max(pods))):
        alone = "; for one bad pod of several, give it more by the app's options, and write `replicas: 1`"
        mode.take("every pod of the workload" + (alone if mode.value == "one" else ""))
    elif mode is not None:
        mode.guess(
            "every pod of the workload", f"a share of the pods is no number of them, as '{mode.value}' would be here"
        )
    if value is not None:
        value.refuse("the draft's fault acts on all pods of a workload")
    return None


def _read_replicas(mode: InputNode | None, value: InputNode | None) -> int | None:
    """Read the number of pods of a mode; None for all pods or a share."""
    if mode is None or mode.value not in ("one", "fixed"):
        return None
    text = "1" if mode.value == "one" else str(value.value if value is not None else "")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _map_containers(
    context: ImportContext, spec: InputNode, app: App, components: Sequence[Component], mechanism: Mechanism
) -> dict[str, Any]:
    node = spec.find("containerNames")
    if node is None:
        return {}
    names = [str(each) for each in node.value] if isinstance(node.value, list) else []
    known = context.finder.list_containers(app, components[0])
    takes = "container" in context.catalog.fault(mechanism.fault).parameters.get("properties", {})
    if len(names) == 1 and names[0] in known and takes and len(components) == 1:
        node.map(f"parameters.container: {names[0]}")
        return {"container": names[0]}
    node.guess(f"container {known[0] if known else '-'}", f"the workload has the containers {', '.join(known)}")
    return {}


def _map_peer(context: ImportContext, spec: InputNode, app: App, mechanism: Mechanism) -> dict[str, Any]:
    """Map the peer of a network experiment; only ``network-partition`` has one."""
    for name in ("externalTargets", "targetDevice"):
        if (part := spec.find(name)) is not None:
            part.refuse("a fault acts between workloads of the app, or on all egress of a workload")
    target = spec.find("target")
    if target is None or not isinstance(target.value, dict):
        return {}
    if mechanism.fault != "network-partition":
        target.refuse(f"{mechanism.fault} acts on all egress of the workload", "use network-partition for one peer")
        return {}
    selection: PodSelection = read_selection(target.find("selector"))
    peers = select_components(context, app, selection)
    if (mode := target.find("mode")) is not None:
        mode.take("every pod of the peer")
    if len(peers) != 1:
        target.report_refusal("the peer is not one workload of the app", "set `parameters.peer` in the draft")
        return {}
    return {"peer": peers[0].workload}
