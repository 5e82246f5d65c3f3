"""Read a problem class: its constructor and injection method are evaluated statement by statement, never executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scenario_kit.importers.decisions import Treatment
from scenario_kit.importers.formats.context import ImportContext
from scenario_kit.importers.formats.python_problems.source import (
    COMPUTED,
    Instance,
    ProblemClass,
    SourceStatement,
    evaluate,
    evaluate_condition,
    format_name,
    has_no_effect,
    read_parameters,
)
from scenario_kit.importers.targets import find_app_name, is_absent_app

#: Calls that start an injection; the mechanism is their argument or part of their name.
GENERIC: Final = ("_inject", "inject_fault", "inject")
#: The reason why methods are refused.
METHOD_NOT_EXECUTED: Final = "code is not executed; repair and evaluation follow from the fault"


@dataclass(slots=True)
class ProblemState:
    """The evaluated state of one problem class. ``conditional`` injections depend on values of the run time."""

    known: dict[str, Any]
    apps: list[str] = field(default_factory=list)
    injections: list[tuple[str, ast.Call]] = field(default_factory=list)
    conditional: list[tuple[str, ast.Call]] = field(default_factory=list)
    description: str = ""
    notes: list[tuple[SourceStatement, Treatment, str, str]] = field(default_factory=list)


def read_problem(
    context: ImportContext, root: ProblemClass, instance: Instance, problems: Mapping[str, ProblemClass]
) -> ProblemState:
    """Read the constructor and the injection method of a class and its base classes."""
    chain, each = [root], root
    while (base := next((b for b in each.bases if b in problems and problems[b] not in chain), None)) is not None:
        each = problems[base]
        chain.append(each)
    init = next((c for c in chain if "__init__" in c.methods), root)
    parameters = read_parameters(init.methods.get("__init__"))
    positional = list(parameters)
    given = {
        positional[int(k[1:])] if k[0] == "#" and int(k[1:]) < len(positional) else k: v
        for k, v in instance.arguments.items()
    }
    problem = ProblemState(
        {
            **{k: v for k, v in parameters.items() if v is not COMPUTED},
            **{k: v for k, v in given.items() if v is not COMPUTED},
        }
    )
    for owner in reversed(chain):
        for name, method in owner.methods.items():
            note = SourceStatement(context.ledger, owner.path, method, f"{owner.name}.{name}")
            if name == "__init__":
                _read_body(context, owner, method, problem)
            elif name in ("inject_fault", "inject"):
                _read_body(context, owner, method, problem, injecting=True)
            else:
                problem.notes.append((note, "Refused", "", METHOD_NOT_EXECUTED))
        for statement in owner.node.body:
            if not isinstance(statement, ast.FunctionDef) and not has_no_effect(statement):
                _read_statement(context, owner, "", statement, problem, False)
    return problem


def _read_body(
    context: ImportContext,
    owner: ProblemClass,
    method: ast.FunctionDef,
    problem: ProblemState,
    *,
    injecting: bool = False,
) -> None:
    for statement in _list_statements(context, owner, method.body, problem):
        if not has_no_effect(statement):
            _read_statement(context, owner, method.name, statement, problem, injecting)


def _list_statements(
    context: ImportContext, owner: ProblemClass, body: Sequence[ast.stmt], problem: ProblemState
) -> Iterator[ast.stmt]:
    """List the executed statements; conditions on literal arguments are evaluated."""
    for statement in body:
        if isinstance(statement, ast.If) and (taken := _choose_branch(statement, problem)) is not None:
            note = SourceStatement(context.ledger, owner.path, statement.test, f"{owner.name}.if")
            problem.notes.append((note, "Taken", "the branch that the arguments select", ""))
            yield from _list_statements(context, owner, taken, problem)
        else:
            yield statement


def _choose_branch(statement: ast.If, problem: ProblemState) -> Sequence[ast.stmt] | None:
    value = evaluate_condition(statement.test, problem.known)
    return None if value is COMPUTED else statement.body if value else statement.orelse


def _read_statement(
    context: ImportContext,
    owner: ProblemClass,
    method: str,
    statement: ast.stmt,
    problem: ProblemState,
    injecting: bool,
) -> None:
    """Read one statement: an assignment of a known value, an injection, or a computation, which is refused."""
    place = ".".join(filter(None, (owner.name, method)))
    note = SourceStatement(context.ledger, owner.path, statement, place)
    name, value = _read_assignment(statement)
    if name and value is not None:
        note.place = f"{place}.{name}"
        known = evaluate(value, problem.known)
        if known is not COMPUTED:
            problem.known[name] = known
            problem.notes.append((note, "Taken", f"{name} = {shown}" if (shown := str(known)[:40]) else name, ""))
            return
        if isinstance(value, ast.Call) and _read_cause(value, problem):
            problem.notes.append((note, "Mapped", "the draft's description and target", ""))
            return
        if isinstance(value, ast.Call) and (made := format_name(value.func).rpartition(".")[2]):
            problem.known[f"new {name}"] = made
            if made[:1].isupper() and (find_app_name(made, context.catalog.apps()) or name in ("app", "self.app")):
                problem.apps.append(made)
                problem.notes.append((note, "Mapped", f"app: {find_app_name(made, context.catalog.apps()) or '-'}", ""))
                return
    calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
    keys = [(key, call) for call in calls if (key := _read_injection(call, problem))] if injecting else []
    if keys and isinstance(statement, ast.If):
        problem.conditional += keys
        problem.notes.append((note, "Refused", "", "its condition is computed at run time"))
        return
    if keys:
        problem.injections += keys
        problem.notes.append((note, "Mapped", f"the injection {', '.join(dict.fromkeys(key for key, _ in keys))}", ""))
        return
    for call in calls:  # super().__init__(app=HotelReservation())
        made = format_name(call.func).rpartition(".")[2]
        if find_app_name(made, context.catalog.apps()) or is_absent_app(made):
            problem.apps.append(made)
    problem.notes.append((note, "Refused", "", "computed at run time; imports execute nothing"))


def _read_cause(call: ast.Call, problem: ProblemState) -> bool:
    """Read component and description of a structured root cause."""
    if not format_name(call.func).endswith("build_structured_root_cause"):
        return False
    given = {each.arg: evaluate(each.value, problem.known) for each in call.keywords if each.arg}
    component, description = given.get("component", COMPUTED), given.get("description", COMPUTED)
    if isinstance(component, str):
        problem.known.setdefault("self.faulty_service", component.rpartition("/")[2])
    if isinstance(description, str):
        problem.description = " ".join(description.split())
    return component is not COMPUTED and description is not COMPUTED


def _read_assignment(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return format_name(statement.targets[0]), statement.value
    if isinstance(statement, ast.AnnAssign):
        return format_name(statement.target), statement.value
    return "", None


def _read_injection(call: ast.Call, problem: ProblemState) -> str:
    """Return the mechanism that a call injects, or empty. Services in its arguments replace the problem's own."""
    method = format_name(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    if not method.startswith(("inject", "_inject")):
        return ""
    arguments = {each.arg: evaluate(each.value, problem.known) for each in call.keywords if each.arg}
    first = evaluate(call.args[0], problem.known) if call.args else COMPUTED
    services = arguments.get(
        "microservices", arguments.get("microservice", first if method not in GENERIC else COMPUTED)
    )
    if services is not COMPUTED and services and "self.faulty_service" not in problem.known:
        problem.known["self.faulty_service"] = services
    if method in GENERIC:
        kind = arguments.get("fault_type", first)
        return kind if isinstance(kind, str) else ""
    return method.removeprefix("_").removeprefix("inject_")
