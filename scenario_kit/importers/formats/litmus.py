"""Import Litmus ChaosEngines, also those inside Argo Workflows (https://litmuschaos.github.io/litmus/).

The experiments of an engine run one after another, as do the steps of a workflow; the engines of one step run in
parallel. ChaosExperiments provide defaults for settings that an engine omits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.importers.drafting import FaultIntent, ScenarioIntent
from scenario_kit.importers.formats.chaos_experiments import list_questions
from scenario_kit.importers.formats.context import (
    ImportContext,
    explain_chosen_target,
    map_mechanism,
    open_documents,
    refuse_document,
    report_unknown_target,
    take_identity,
)
from scenario_kit.importers.inputs import InputDocument, InputFile
from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.mechanisms import LITMUS, Mechanism, map_field
from scenario_kit.importers.targets import parse_labels
from scenario_kit.load.yaml.document import parse_all
from scenario_kit.model import App, Component

GROUP: Final = "litmuschaos.io/"
ARGO: Final = "argoproj.io/"
#: Settings of every experiment, with the reason why they are refused.
_COMMON: Final = {
    "TOTAL_CHAOS_DURATION": "the fault lasts until it is repaired",
    "CHAOS_DURATION": "the fault lasts until it is repaired",
    "CHAOS_INTERVAL": "the fault is permanent; write `recurrence` if it should recur",
    "RAMP_TIME": "a trial waits until the app is quiet",
    "PODS_AFFECTED_PERC": "the fault acts on all pods of the workload",
    "TARGET_PODS": "the fault is aimed at a workload and acts on all of its pods",
    "SEQUENCE": "the fault acts on all pods at once",
    "CONTAINER_RUNTIME": "a setting of Litmus that does not affect the incident",
    "SOCKET_PATH": "a setting of Litmus that does not affect the incident",
    "NETWORK_INTERFACE": "the fault uses the first network device of the pod",
    "DESTINATION_IPS": "the fault acts on all egress of the workload",
    "DESTINATION_HOSTS": "the fault acts on all egress of the workload",
    "NODE_LABEL": "the fault is aimed at a workload, on any node",
    "LIB": "a setting of Litmus that does not affect the incident",
    "LIB_IMAGE": "a setting of Litmus that does not affect the incident",
    "STATUS_CHECK_TIMEOUT": "a setting of Litmus that does not affect the incident",
    "STATUS_CHECK_DELAY": "a setting of Litmus that does not affect the incident",
}
_FRAMEWORK_FIELDS: Final = {
    "engineState": "stopped engines are drafted too",
    "chaosServiceAccount": "a trial has its own permissions",
    "annotationCheck": "a trial only injects into the app that it deployed",
    "jobCleanUpPolicy": "a trial cleans up everything",
    "terminationGracePeriodSeconds": "a setting of Litmus that does not affect the incident",
    "auxiliaryAppInfo": "a scenario has one app",
    "components": "a setting of Litmus that does not affect the incident",
    "defaultHealthCheck": "a trial waits until the app is quiet",
}
_DEFAULT_DURATION: Final = 60
#: A reference to a parameter of the workflow.
_PARAMETER: Final = re.compile(r"\{\{\s*workflow\.parameters\.([\w.-]+)\s*\}\}")
_MAX_STEPS: Final = 100


class _MappedEngine(NamedTuple):
    faults: list[FaultIntent]
    app: App | None
    seconds: int


def import_litmus(context: ImportContext, files: Sequence[InputFile]) -> None:
    """Import every engine as one draft, and every workflow as one draft with the faults of its engines."""
    nodes = open_documents(context, files)
    defaults = {each.read_text("metadata", "name"): each for each in nodes if _is_of(each, GROUP, "ChaosExperiment")}
    for node in nodes:
        if _is_of(node, GROUP, "ChaosEngine"):
            _write_engine(context, node, defaults)
        elif _is_of(node, ARGO, "Workflow", "CronWorkflow", "WorkflowTemplate"):
            _write_workflow(context, node, defaults)
        elif _is_of(node, GROUP, "ChaosExperiment"):
            _decide_definition(node)
        else:
            refuse_document(node, "an object of Litmus")


def _is_of(node: InputNode, group: str, *kinds: str) -> bool:
    data = node.value if isinstance(node.value, dict) else {}
    return str(data.get("apiVersion", "")).startswith(group) and data.get("kind") in kinds


def _write_engine(context: ImportContext, node: InputNode, defaults: Mapping[str, InputNode]) -> None:
    mapped = _map_engine(context, node, defaults)
    if mapped.app is None or not mapped.faults:
        return
    name = node.read_text("metadata", "name") or mapped.faults[0].fault
    _write(context, name, node, mapped.app, mapped.faults, f"Imported from ChaosEngine {name} of Litmus.")


def _write(
    context: ImportContext, name: str, node: InputNode, app: App, faults: list[FaultIntent], description: str
) -> None:
    intent = ScenarioIntent(name, app, node, faults, description)
    intent.questions += list_questions(faults)
    if any(each.start_seconds for each in faults):
        intent.questions.append(
            "experiments that end before the next one in the source are permanent in this draft; is that intended?"
        )
    context.writer.write(intent)


def _map_engine(context: ImportContext, node: InputNode, defaults: Mapping[str, InputNode]) -> _MappedEngine:
    """Map the experiments of an engine, which run one after another."""
    take_identity(node)
    for name, reason in _FRAMEWORK_FIELDS.items():
        if (part := node.find("spec", name)) is not None:
            part.refuse(reason)
    experiments = node.list_nodes("spec", "experiments")
    if not any(_find_mechanism(each.read_text("name")).fault for each in experiments):
        for each in experiments:
            _refuse_experiment(each)
        node.ledger.mark_undrafted(node.number, node.place)
        return _MappedEngine([], None, 0)
    found = _find_target(context, node)
    if found is None:
        return _MappedEngine([], None, 0)
    app, component = found
    faults, start = [], 0
    for experiment in experiments:
        fault, seconds = _map_experiment(context, experiment, component.name, defaults)
        if fault is not None:
            faults.append(replace(fault, start_seconds=start))
        start += seconds
    return _MappedEngine(faults, app, start)


def _find_target(context: ImportContext, node: InputNode) -> tuple[App, Component] | None:
    """Find the app and the component that an engine names; report it and return None if there is none."""
    info = node.find("spec", "appinfo") or node
    namespace, label = info.read_text("appns"), info.read_text("applabel")
    labels = parse_labels(label)
    names = list(labels.values()) or [label]
    app = context.finder.find_app([namespace], names)
    components = [] if app is None else context.finder.find_by_labels(app, labels)
    component = next(iter(components), context.finder.target)
    if app is None or component is None:
        report_unknown_target(info, app, [namespace], names, node)
        return None
    if (part := info.find("appns")) is not None:
        part.map(f"app: {app.name}")
    part = info.find("applabel")
    if components and part is not None:
        part.map(f"target: {component.workload}")
    elif part is not None:
        part.guess(f"target: {component.workload}", explain_chosen_target(app, names))
    elif not components:
        info.report_guess(f"target: {component.workload}", explain_chosen_target(app, names))
    if (kind := info.find("appkind")) is not None:
        kind.take(component.workload)
    return app, component


def _find_mechanism(name: str) -> Mechanism:
    return LITMUS.get(name) or Mechanism(because=f"no fault is known for the experiment '{name}'")


def _refuse_experiment(node: InputNode) -> None:
    """Refuse an experiment that no fault corresponds to."""
    mechanism = _find_mechanism(node.read_text("name"))
    node.refuse(mechanism.because, mechanism.fix)


def _map_experiment(
    context: ImportContext, node: InputNode, entity: str, defaults: Mapping[str, InputNode]
) -> tuple[FaultIntent | None, int]:
    """Map one experiment; return it with its duration in seconds."""
    name = node.read_text("name")
    mechanism = _find_mechanism(name)
    if not mechanism.fault:
        _refuse_experiment(node)
        return None, 0
    if (head := node.find("name")) is not None:
        head.guess(f"type: {mechanism.fault}", mechanism.because) if mechanism.because else head.map(
            f"type: {mechanism.fault}"
        )
    fault = context.catalog.fault(mechanism.fault)
    own = _list_env(node, "spec", "components", "env")
    missing = {key: each for key, each in _list_defaults(defaults.get(name)).items() if key not in own}
    parameters = dict(mechanism.parameters)
    for key, value in (own | missing).items():
        rule = mechanism.fields.get(key)
        if rule is not None:
            parameters |= map_field(rule, value, fault)
        elif key == "TARGET_CONTAINER":
            _decide_container(value)
        elif key in _COMMON:
            value.refuse(_COMMON[key])
        else:
            value.refuse(f"this setting of {name} has no counterpart")
    intent = map_mechanism(context, mechanism, node.find("name") or node, entity)
    seconds = _read_chaos_duration(own.get("TOTAL_CHAOS_DURATION") or missing.get("TOTAL_CHAOS_DURATION"))
    return None if intent is None else replace(intent, parameters=parameters), seconds


def _list_env(node: InputNode, *steps: str) -> dict[str, InputNode]:
    """List the values of environment variables by name, and take their names."""
    found: dict[str, InputNode] = {}
    for each in node.list_nodes(*steps):
        name, value = each.find("name"), each.find("value")
        if name is None:
            continue
        if value is None:
            if "value" in each.value:  # null
                each.take("empty: the fault's default")
            continue
        name.take("a setting")
        found[str(name.value)] = value
    return found


def _list_defaults(node: InputNode | None) -> dict[str, InputNode]:
    return {} if node is None else _list_env(node, "spec", "definition", "env")


def _decide_definition(node: InputNode) -> None:
    """Refuse the settings of a ChaosExperiment that no engine uses as defaults."""
    take_identity(node)
    for each in node.list_nodes("spec", "definition", "env"):
        for name in ("name", "value"):
            part = each.find(name)
            if part is not None and not part.ledger.is_covered(part.number, part.place):
                part.refuse("no engine in these files omits this setting")
    for each in node.find("spec", "definition") or ():
        if each.name != "env":
            each.refuse("a setting of Litmus that does not affect the incident")


def _decide_container(value: InputNode) -> None:
    if value.value == "":
        value.take("the first container")
    else:
        value.refuse("the app's containers have other names", "set `parameters.container` in the draft")


def _read_chaos_duration(node: InputNode | None) -> int:
    text = "" if node is None else str(node.value)
    return int(text) if text.isdecimal() and len(text) < 7 else _DEFAULT_DURATION


def _write_workflow(context: ImportContext, node: InputNode, defaults: Mapping[str, InputNode]) -> None:
    """Write one draft for an Argo Workflow, with the faults of the engines in its artifacts."""
    take_identity(node)
    base = node.find("spec", "workflowSpec") or node.find("spec") or node
    templates = {each.read_text("name"): each for each in base.list_nodes("templates")}
    parameters = _read_parameters(base)
    nested = {name: list(_open_artifacts(context, each, parameters)) for name, each in templates.items()}
    known = dict(defaults)
    for each in (each for group in nested.values() for each in group):
        if _is_of(each, GROUP, "ChaosExperiment"):
            known[each.read_text("metadata", "name")] = each
    faults: list[FaultIntent] = []
    app: App | None = None
    start = 0
    for level in _list_steps(base, templates):
        length = 0
        for engine in (each for name in level for each in nested.get(name, ())):
            if not _is_of(engine, GROUP, "ChaosEngine"):
                continue
            mapped = _map_engine(context, engine, known)
            if mapped.app is not None and app is not None and mapped.app.name != app.name:
                engine.report_refusal(
                    f"it targets {mapped.app.name}, but the workflow targets {app.name}", "split the workflow"
                )
                continue
            app = app or mapped.app
            faults += [replace(each, start_seconds=start + each.start_seconds) for each in mapped.faults]
            length = max(length, mapped.seconds)
        start += length
    for each in (each for group in nested.values() for each in group):
        if _is_of(each, GROUP, "ChaosExperiment"):
            _decide_definition(each)
        elif not _is_of(each, GROUP, "ChaosEngine"):
            refuse_document(each, "an object of Litmus")
    name = node.read_text("metadata", "name") or node.read_text("metadata", "generateName") or "workflow"
    if app is not None and faults:
        _write(context, name, node, app, faults, f"Imported from workflow {name} of Litmus.")
    elif not faults:
        node.report_refusal("none of its engines could be mapped to a fault", "import its engines one by one", node)


def _list_steps(base: InputNode, templates: Mapping[str, InputNode]) -> Iterator[list[str]]:
    """List the templates of the entry point by step; the templates of a step run in parallel."""
    entry = base.find("entrypoint")
    start = templates.get(str(entry.value)) if entry is not None else None
    if entry is not None:
        entry.take("the first stage") if start is not None else entry.refuse("the template does not exist")
    if start is None or start.find("steps") is None:
        yield list(templates)  # without an order, all start together
        return
    for level in start.list_nodes("steps")[:_MAX_STEPS]:
        names = []
        for step in level:
            for part in (step.find("name"), step.find("template")):
                if part is not None:
                    part.take("the order of stages")
            names.append(step.read_text("template"))
        yield names


def _read_parameters(base: InputNode) -> dict[str, str]:
    """Read the parameters of a workflow, which its artifacts refer to."""
    found: dict[str, str] = {}
    for each in base.list_nodes("arguments", "parameters"):
        name, value = each.find("name"), each.find("value")
        if name is not None and value is not None and not isinstance(value.value, dict | list):
            name.take("a parameter of the artifacts")
            value.take("the value in the artifacts that refer to it")
            found[str(name.value)] = str(value.value)
    return found


def _open_artifacts(context: ImportContext, template: InputNode, parameters: Mapping[str, str]) -> Iterator[InputNode]:
    """Open the documents that the artifacts of a template embed as text, with the workflow's parameters inserted."""
    for part in (template.find("name"),):
        if part is not None:
            part.take("a stage")
    for artifact in template.list_nodes("inputs", "artifacts"):
        raw = artifact.find("raw", "data")
        if raw is None or not isinstance(raw.value, str):
            continue
        try:
            text = _PARAMETER.sub(lambda found: parameters.get(found[1], found[0]), raw.value)
            documents = parse_all(text, raw.position.path)
        except AuthoringError as error:
            raw.refuse(f"the embedded text is not YAML: {error.message}", "replace its template parameters by values")
            continue
        raw.take("the embedded objects, listed below")
        where = raw.ledger.get_value_position(raw.number, raw.place)
        for each in documents:
            if each.data is not None:
                positions = each.positions.shift(where.path, where.line, where.column - 1)
                yield context.ledger.open_document(InputDocument(where.path, each.data, positions))
