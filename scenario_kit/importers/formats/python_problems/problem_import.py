"""Import problem classes of SREGym and AIOpsLab, which share their injectors, as faults at the faulty service."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.importers.decisions import Treatment
from scenario_kit.importers.drafting import FaultIntent, ScenarioIntent, make_name
from scenario_kit.importers.formats.context import ImportContext, explain_chosen_target
from scenario_kit.importers.formats.python_problems.problem_reader import (
    GENERIC,
    METHOD_NOT_EXECUTED,
    ProblemState,
    read_problem,
)
from scenario_kit.importers.formats.python_problems.source import (
    Instance,
    ProblemClass,
    SourceStatement,
    format_name,
    has_no_effect,
    list_classes,
    list_instances,
    parse_module,
)
from scenario_kit.importers.inputs import InputDocument, InputFile
from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.mechanisms import CHOOSE_FAULT, INJECTIONS, Mechanism
from scenario_kit.importers.targets import find_app_name, find_component
from scenario_kit.load.yaml.document import Positions
from scenario_kit.model import App

#: Attributes of a problem that hold its target or its flag.
_TARGETS: Final = ("faulty_service", "faulty_deployment", "target_service", "service_name")
_FLAGS: Final = ("feature_flag", "flag", "faulty_flag")
_BY_HAND: Final = "if it matters, write it into the draft by hand"
#: The name of a constant, as of a list of problems.
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_HARMLESS: Final = ("no_op", "noop")


class ProblemForm(NamedTuple):
    """The form of a benchmark's problems: base classes, and class name suffixes of the levels of one problem."""

    title: str
    bases: tuple[str, ...]
    levels: tuple[str, ...] = ()


#: https://github.com/SREGym/SREGym
SREGYM: Final = ProblemForm("SREGym", bases=("Problem",))
#: https://github.com/microsoft/AIOpsLab: one class for each task of an incident, which become one draft.
AIOPSLAB: Final = ProblemForm(
    "AIOpsLab",
    bases=("DetectionTask", "LocalizationTask", "AnalysisTask", "MitigationTask"),
    levels=("Detection", "Localization", "Analysis", "Mitigation"),
)


def import_problems(context: ImportContext, files: Sequence[InputFile], form: ProblemForm) -> None:
    """Import every problem: those that a registry instantiates, and other classes with their defaults."""
    modules: list[tuple[str, ast.Module]] = []
    for file in files:
        with context.ledger.refuse_unreadable(alone=len(files) == 1):
            modules.append((file.path, parse_module(file)))
    classes = {each.name: each for path, module in modules for each in list_classes(path, module)}
    problems = {name: each for name, each in classes.items() if _is_problem(each, classes, form)}
    instances = [i for path, module in modules for i in list_instances(path, module)]
    made = _choose_instances(problems, instances, form)
    used = {_find_root(problems[instance.class_name], problems, form).name for instance in made}
    for path, module in modules:
        _refuse_other_statements(context, path, module, problems)
    for name, each in problems.items():
        if name not in used and not _is_abstract(each, problems):
            made.append(Instance(name, name, {}, each.node, each.path))
    reported: set[str] = set()
    for instance in made:
        _import_problem(context, instance, problems, form, reported)
    _refuse_levels(context, problems, form)
    for instance in instances:
        note = SourceStatement(context.ledger, instance.path, instance.node, instance.id)
        if instance.class_name in classes:
            if instance.class_name not in problems:
                note.refuse(f"{instance.class_name} is not the class of a problem", "leave it out")
        elif _CONSTANT.fullmatch(instance.class_name):
            note.refuse(f"{instance.class_name} is a constant, and not the class of a problem", "leave it out")
        else:
            note.refuse(
                f"the class {instance.class_name} is not in the imported files", "import the folder that holds it"
            )


def _refuse_levels(context: ImportContext, problems: Mapping[str, ProblemClass], form: ProblemForm) -> None:
    """Refuse the code of level classes, which only define tasks and evaluation; their base class injects the fault."""
    for each in problems.values():
        root = _find_root(each, problems, form)
        if root is each:
            continue
        note = SourceStatement(context.ledger, each.path, each.node, each.name)
        note.record("Taken", f"a level of {root.name}")
        for name, method in each.methods.items():
            note = SourceStatement(context.ledger, each.path, method, f"{each.name}.{name}")
            note.refuse(METHOD_NOT_EXECUTED)


def _choose_instances(
    problems: Mapping[str, ProblemClass], instances: Sequence[Instance], form: ProblemForm
) -> list[Instance]:
    """Choose one instance per problem: the levels of a problem are one scenario."""
    found: dict[tuple[str, str], Instance] = {}
    for each in instances:
        if each.class_name in problems:
            base = _find_root(problems[each.class_name], problems, form)
            found.setdefault((base.name, repr(sorted(each.arguments.items(), key=str))), each)
    return list(found.values())


def _find_root(problem: ProblemClass, problems: Mapping[str, ProblemClass], form: ProblemForm) -> ProblemClass:
    """Find the common base class of the levels of a problem."""
    if not form.levels or "inject_fault" in problem.methods:
        return problem
    return next((_find_root(problems[base], problems, form) for base in problem.bases if base in problems), problem)


def _is_problem(each: ProblemClass, classes: Mapping[str, ProblemClass], form: ProblemForm, depth: int = 0) -> bool:
    if "inject_fault" in each.methods or any(base.rpartition(".")[2] in form.bases for base in each.bases):
        return each.name not in form.bases
    return depth < 10 and any(
        base in classes and base != each.name and _is_problem(classes[base], classes, form, depth + 1)
        for base in each.bases
    )


def _is_abstract(each: ProblemClass, problems: Mapping[str, ProblemClass]) -> bool:
    """Return whether a class is only a base class, or a level of another problem."""
    decorators = (format_name(name) for method in each.methods.values() for name in method.decorator_list)
    if any(name.rpartition(".")[2] == "abstractmethod" for name in decorators):
        return True
    derived = any(each.name in other.bases for other in problems.values() if other is not each)
    return (derived and "inject_fault" not in each.methods) or ("inject_fault" not in each.methods and bool(each.bases))


def _import_problem(
    context: ImportContext,
    instance: Instance,
    problems: Mapping[str, ProblemClass],
    form: ProblemForm,
    reported: set[str],
) -> None:
    level = problems[instance.class_name]
    root = _find_root(level, problems, form)
    problem = read_problem(context, root, instance, problems)
    app = _find_app(context, problem)
    if root.name not in reported:
        reported.add(root.name)
        for note, treatment, result, reason in problem.notes:
            note.record(treatment, result, reason, _BY_HAND if treatment == "Refused" else "")
    at = SourceStatement(context.ledger, instance.path, instance.node, instance.id)
    if app is None:
        at.refuse(
            f"the catalogue does not have the app {problem.apps[0] if problem.apps else 'of this class'}",
            "choose one with --app",
        )
        return
    intent = _build_intent(context, problem, app, instance, at, form)
    if intent is None:
        return
    if context.writer.write(intent) is not None:
        at.record("Taken", f"the draft {context.writer.files[-1].name}")


def _build_intent(
    context: ImportContext, problem: ProblemState, app: App, instance: Instance, at: SourceStatement, form: ProblemForm
) -> ScenarioIntent | None:
    name = _name_problem(instance, form)
    node = _open_statement(context, at)
    description = f"Imported from the {form.title} problem {instance.id}. {problem.description}".strip()
    keys = list(dict.fromkeys(key for key, _ in problem.injections))
    if any(key in _HARMLESS for key in keys):
        return ScenarioIntent(name, app, node, [], description)
    intent = ScenarioIntent(name, app, node, description=description)
    if not keys and problem.conditional:
        keys = list(dict.fromkeys(key for key, _ in problem.conditional))
        intent.questions.append("the source injects this fault under a condition that was not evaluated: is it met?")
    mechanisms = _find_mechanisms(keys, instance.class_name, problem)
    for mechanism in mechanisms:
        if not mechanism.fault:
            at.refuse(mechanism.because, mechanism.fix)
            continue
        intent.faults += _map_faults(context, problem, app, mechanism, at, node)
        intent.questions += [mechanism.because] if mechanism.because else []
    for key in keys if mechanisms else ():
        if len(keys) > 1 and key not in INJECTIONS and key not in GENERIC:
            at.refuse(f"no fault is known for {key}", CHOOSE_FAULT)
    if not mechanisms:
        at.refuse(f"no fault is known for {', '.join(keys) or 'custom code'}", CHOOSE_FAULT)
    return intent if intent.faults else None


def _map_faults(
    context: ImportContext, problem: ProblemState, app: App, mechanism: Mechanism, at: SourceStatement, node: InputNode
) -> list[FaultIntent]:
    """Map a mechanism to one fault for each faulty service."""
    if mechanism.fault == "feature-flag-changed":
        flag = next((str(v) for k in _FLAGS if isinstance(v := problem.known.get(f"self.{k}"), str)), "")
        keys = (key for key, _ in problem.injections)
        flag = flag or next((key for key in keys if key not in INJECTIONS and key not in GENERIC), "")
        entity = f"ConfigMap/{app.flags.config_map}" if app.flags else ""
        if not entity:
            at.refuse(f"{app.name} has no feature flags", "choose another app with --app")
            return []
        return [_map_fault(mechanism, entity, {"flag": flag} if flag else {}, "", at, node)]
    faults = []
    for service in _list_services(problem) or [""]:
        guess, component = "", find_component(app, service) if service else None
        if component is None and context.finder.target is not None:
            component, guess = context.finder.target, explain_chosen_target(app, [service])
        if component is None:
            named = f"'{service}'" if service else "a computed value"
            at.refuse(
                f"{app.name} has no component for {named}", "choose a component of the app with --app and --target"
            )
            continue
        faults.append(_map_fault(mechanism, component.name, dict(mechanism.parameters), guess, at, node))
    return faults


def _map_fault(
    mechanism: Mechanism, entity: str, parameters: dict[str, Any], guess: str, at: SourceStatement, node: InputNode
) -> FaultIntent:
    """Map a mechanism to a fault at an entity. ``guess`` is why the entity is one."""
    because = ". ".join(filter(None, (mechanism.because, guess)))
    treatment: Treatment = "Guessed" if because else "Mapped"
    fix = "confirm or correct it in the draft" if because else ""
    at.record(treatment, f"type: {mechanism.fault}, at {entity}", because, fix)
    return FaultIntent(mechanism.fault, entity, node, parameters)


def _find_mechanisms(keys: Sequence[str], class_name: str, problem: ProblemState) -> list[Mechanism]:
    """Find the mechanism of the class, or those of the known injections."""
    if class_name in INJECTIONS:
        return [INJECTIONS[class_name]]
    if found := [INJECTIONS[key] for key in keys if key in INJECTIONS]:
        return found
    flags = any(kind.endswith("OtelFaultInjector") for kind in _list_injectors(problem))
    return [Mechanism(fault="feature-flag-changed")] if flags else []


def _list_injectors(problem: ProblemState) -> Iterator[str]:
    yield from (str(value) for key, value in problem.known.items() if key.startswith("new "))


def _list_services(problem: ProblemState) -> list[str]:
    """List the faulty services of a problem, in its order."""
    for name in _TARGETS:
        value = problem.known.get(f"self.{name}")
        named = value if isinstance(value, list) else [value]
        if services := [each for each in named if isinstance(each, str) and each]:
            return list(dict.fromkeys(services))
    return []


def _find_app(context: ImportContext, problem: ProblemState) -> App | None:
    words = [*problem.apps]
    chosen = problem.known.get("app_name", problem.known.get("self.app_name"))
    if isinstance(chosen, str):
        words = [chosen, *words]
        if find_app_name(chosen, context.catalog.apps()) == "" and not context.finder.app:
            return None
    return context.finder.find_app(words)


def _name_problem(instance: Instance, form: ProblemForm) -> str:
    name = instance.id
    for level in (*form.levels, *(("BaseTask",) if form.levels else ())):
        name = name.replace(f"-{level.lower()}", "").removesuffix(level)
    return make_name(name)


def _refuse_other_statements(
    context: ImportContext, path: str, module: ast.Module, problems: Mapping[str, ProblemClass]
) -> None:
    """Refuse the statements of a module other than its problem classes."""
    for statement in module.body:
        if has_no_effect(statement) or (isinstance(statement, ast.ClassDef) and statement.name in problems):
            continue
        name = getattr(statement, "name", "") or "module"
        if isinstance(statement, ast.ClassDef) and any(True for _ in list_instances(path, ast.Module([statement], []))):
            continue  # a registry
        SourceStatement(context.ledger, path, statement, name).refuse("code is not executed")


def _open_statement(context: ImportContext, at: SourceStatement) -> InputNode:
    """Open a node for a statement, to which later decisions about its draft refer."""
    positions = Positions(at.path)
    positions.note((), (at.position.line - 1, at.position.column - 1))
    node = context.ledger.open_document(InputDocument(at.path, at.place, positions))
    context.ledger.cover(node.number, ())
    return node
