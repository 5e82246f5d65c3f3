"""SK142, SK143: fields, values, versions and kinds that the API server does not take, in changes and manifests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from scenario_kit.lint.context.catalog_context import AppCase, FaultCase
from scenario_kit.lint.context.change_source import PARTS, ChangeSource, SourcePlace, list_fault_parts
from scenario_kit.lint.context.parameter_places import find_parameter_place
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.template_lines import find_template_line
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.object_fields.changes import (
    WrongField,
    describe_object,
    find_wrong_kinds,
    find_wrong_steps,
)
from scenario_kit.lint.object_fields.invalid_values import find_invalid_values
from scenario_kit.lint.object_fields.kinds import find_kind_mistake, find_type
from scenario_kit.lint.object_fields.mistake import NO_VALUE, FieldMistake
from scenario_kit.lint.object_fields.objects import Judging, find_mistakes
from scenario_kit.lint.object_fields.templates import find_written_mistakes
from scenario_kit.lint.simulation.applied_changes import find_result
from scenario_kit.load.yaml.edit import Edit, Put, Rename
from scenario_kit.model import App, Change, Object, Position
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.json_document import Place, get_part


@register_check("SK142")
def check_fields(case: LintContext) -> Iterator[Problem]:
    objects = case.objects or ()
    for of_use, use, fault in case.list_rendered():
        changes = fault.changes
        for j, wrong in find_wrong_steps(changes, (_add_created(objects, changes),), case.app):
            place = _find_parameter(of_use, use, get_part(changes[j].to_json(), wrong.place))
            if place == of_use:
                place = find_parameter_place(of_use, use, wrong.mistake.observed)
            problem = _build_problem(wrong, place, ())
            yield problem._replace(message=f"fault '{use.name}': {problem.message}")
    made = [change for fault in case.faults.values() for change in fault.changes]
    for procedure in case.procedures():
        for j, wrong in find_wrong_steps(procedure.changes, _list_states(objects, made, case.app), case.app):
            place = (*procedure.place, "changes", j, *wrong.place)
            at = case.positions.key(*place) if wrong.mistake.of_key else case.positions.value(*place)
            yield _build_problem(wrong, place, _build_edits(place, wrong.mistake), at)


@register_check("SK142", "Fault")
def check_fields_of_type(case: FaultCase) -> Iterator[Problem]:
    seen: set[tuple[object, ...]] = set()
    if not any(rendering.fault for rendering in case.renderings):
        yield from _check_templates(case)
    for rendering, fault in case.list_rendered():
        states = _list_states(rendering.objects, fault.changes, rendering.app)
        for part, changes in list_fault_parts(fault):
            source = ChangeSource(case.document, part)
            for j, wrong in find_wrong_steps(changes, states[: 1 if part == "changes" else 2], rendering.app):
                found = source.find(changes[j], wrong.place, wrong.mistake.of_key)
                if (found, wrong.mistake.message) not in seen:
                    seen.add((found, wrong.mistake.message))
                    yield _build_source_problem(case, wrong, found)


@register_check("SK142", "App")
@report_once("message", "position")
def check_fields_of_app(case: AppCase) -> Iterator[Problem]:
    for obj in _list_manifests(case):
        if (known := find_type(obj)) is None:
            continue
        for mistake in list(find_mistakes(obj, known.type, Judging())) or find_invalid_values(obj):
            wrong = WrongField(describe_object(obj), known.server, mistake.place, mistake)
            yield _build_problem(wrong, ("name",), (), find_template_line(case.templates, obj, mistake.place))


@register_check("SK143")
def check_versions(case: LintContext) -> Iterator[Problem]:
    for of_use, use, fault in case.list_rendered():
        for change in fault.changes:
            for mistake in find_wrong_kinds(change):
                place = _find_parameter(of_use, use, mistake.observed)
                yield _report_mistake(f"fault '{use.name}': ", mistake, place, ())
    for of_change, change in case.list_changes():
        for mistake in find_wrong_kinds(change):
            place = (*of_change, *mistake.place)
            yield _report_mistake("", mistake, place, _build_edits(place, mistake))


@register_check("SK143", "Fault")
@report_once("place", "message")
def check_versions_of_type(case: FaultCase) -> Iterator[Problem]:
    for _, fault in case.list_rendered():
        for part, changes in list_fault_parts(fault):
            source = ChangeSource(case.document, part)
            for change in changes:
                for mistake in find_wrong_kinds(change):
                    found = source.find(change, mistake.place, False)
                    edits = _build_edits(found.place, mistake) if found.exact else ()
                    yield _report_mistake("", mistake, found.place, edits)


@register_check("SK143", "App")
def check_versions_of_app(case: AppCase) -> Iterator[Problem]:
    for obj in _list_manifests(case):
        if (mistake := find_kind_mistake(obj)) is not None:
            at = find_template_line(case.templates, obj, mistake.place)
            yield _report_mistake(f"{describe_object(obj)}: ", mistake, ("name",), (), at)


def _list_manifests(case: AppCase) -> Iterator[Object]:
    """Yield the objects of all versions and choices, equal ones once."""
    seen: set[bytes] = set()
    for version in case.versions:
        for obj in version.objects or version.documents:
            key = msgspec.json.encode(obj)
            if isinstance(obj, dict) and isinstance(obj.get("metadata"), dict) and key not in seen:
                seen.add(key)
                yield obj


def _add_created(objects: Sequence[Object], changes: Iterable[Change]) -> tuple[Object, ...]:
    return (*objects, *(body for change in changes if (body := change.operation.manifest)))


def _list_states(
    objects: Sequence[Object], changes: Sequence[Change], app: App | None
) -> tuple[tuple[Object, ...], tuple[Object, ...]]:
    """Return the objects before and after the changes of faults, which a repair may meet."""
    after = find_result(objects, changes, app) if app is not None else tuple(objects)
    return _add_created(objects, changes), after


def _check_templates(case: FaultCase) -> Iterator[Problem]:
    """Judge the changes of a fault type that fits no app, or that fails for each."""
    for part in PARTS:
        for place, written in ChangeSource(case.document, part).written:
            for wrong in find_written_mistakes(written, case.fault.targets):
                yield _build_source_problem(case, wrong, SourcePlace((*place, *wrong.place), True))


def _build_source_problem(case: FaultCase, wrong: WrongField, found: SourcePlace) -> Problem:
    of_key = wrong.mistake.of_key and found.exact
    at = case.positions.key(*found.place) if of_key else case.positions.value(*found.place)
    edits = _build_edits(found.place, wrong.mistake) if found.exact else ()
    return _build_problem(wrong, found.place, edits, at)


def _build_problem(
    wrong: WrongField, place: Place, edits: tuple[Edit, ...], position: Position | None = None
) -> Problem:
    mistake = wrong.mistake._replace(message=f"{wrong.mistake.message} ({wrong.server})")
    return _report_mistake(f"{wrong.subject}: ", mistake, place, edits, position)


def _report_mistake(
    head: str, mistake: FieldMistake, place: Place, edits: tuple[Edit, ...], position: Position | None = None
) -> Problem:
    message = head + mistake.message
    return Problem(place, message, mistake.observed, mistake.expected, mistake.fix, position=position, edits=edits)


def _build_edits(place: Place, mistake: FieldMistake) -> tuple[Edit, ...]:
    if mistake.name:
        return (Rename(place, mistake.name),)
    return (Put(place, mistake.value),) if mistake.value is not NO_VALUE else ()


def _find_parameter(of_use: Place, use: FaultUse, value: Any) -> Place:
    """Return the place of the parameter that has a value, or else of the fault."""
    named = [name for name, given in use.parameters.items() if type(given) is type(value) and given == value]
    return (*of_use, "parameters", named[0]) if len(named) == 1 else of_use
