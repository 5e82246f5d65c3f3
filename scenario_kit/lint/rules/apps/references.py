"""SK107 to SK110, SK120: names in a scenario that do not exist or do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from scenario_kit.catalog import suggest_entry
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.wrong_namespace import find_intended
from scenario_kit.lint.framework.name_fixes import fix_name, fix_reference
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.faults.unknown_containers import find_unknown_containers
from scenario_kit.load.schema.schemas import explain_too_much
from scenario_kit.load.schema.validation import find_mistakes
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Reference, Severity
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.image import is_reference
from scenario_kit.model.spelling import did_you_mean


@register_check("SK107")
def check_app(case: LintContext) -> Iterator[Problem]:
    choice, catalog = case.scenario.spec.app, case.catalog
    if choice.name not in catalog.apps():
        fix = suggest_entry(choice.name, catalog.apps())
        place, message = ("spec", "app", "name"), f"there is no app '{choice.name}' in the catalogue"
        yield Problem(place, message, choice.name, fix=fix, edits=fix_name(place, choice.name, catalog.apps()))
        return
    if problem := _explain_unusable(("spec", "app", "name"), choice.name, lambda: catalog.versions(choice.name)):
        yield problem
        return
    versions = catalog.versions(choice.name)
    if choice.version not in versions:
        message = f"{choice.name} has no version '{choice.version}'"
        place, fix = ("spec", "app", "version"), did_you_mean(choice.version, versions)
        yield Problem(place, message, choice.version, fix=fix, edits=_suggest_version(place, choice.version, versions))
    elif problem := _explain_unusable(
        ("spec", "app", "name"), choice.name, lambda: catalog.app(choice.name, choice.version)
    ):
        yield problem
    if case.app and choice.load.profile not in case.app.loads:
        message = f"{choice.name} has no load profile '{choice.load.profile}'"
        fix = did_you_mean(choice.load.profile, case.app.loads)
        at = ("spec", "app", "load", "profile")
        edits = fix_name(at, choice.load.profile, case.app.loads)
        yield Problem(at, message, choice.load.profile, fix=fix, edits=edits)
    for i, pack in enumerate(choice.alert_packs):
        if pack not in catalog.alert_packs():
            fix = suggest_entry(pack, catalog.alert_packs())
            where = ("spec", "app", "alertPacks", i)
            edits = fix_name(where, pack, catalog.alert_packs())
            yield Problem(where, f"there is no alert pack '{pack}'", pack, fix=fix, edits=edits)
        elif problem := _explain_unusable(("spec", "app", "alertPacks", i), pack, partial(catalog.alert_pack, pack)):
            yield problem


def _explain_unusable(place: Place, name: str, find: Callable[[], object]) -> Problem | None:
    """Report a definition that exists but is invalid; its own findings are in another file."""
    try:
        find()
    except AuthoringError as error:
        first = error.findings[0] if error.findings else None
        reported = f"{first.position}: {first.message}" if first and first.position else error.message
        message = f"the definition of '{name}' cannot be used: {reported}"
        return Problem(place, message, fix=error.fix or "correct the definition; see `scenario-kit lint FILE`")
    return None


def _suggest_version(place: Place, wrong: str, versions: Iterable[str]) -> tuple[Edit, ...]:
    """Return an edit that completes a version, or removes a leading "v"; similar versions are not candidates."""
    bare = wrong.lstrip("vV")
    meant = [version for version in versions if version == bare or version.startswith(f"{bare}.")]
    return (Put(place, meant[0]),) if len(meant) == 1 else ()


@register_check("SK108")
def check_fault_type(case: LintContext) -> Iterator[Problem]:
    folder = case.path.parent / "faults"
    beside = [path.parent.name for path in folder.glob("*/fault.yaml")]
    held = [str(each["name"]) for each in case.scenario.spec.fault_types]
    for i, name in enumerate(held):
        if name in beside or name in held[:i]:
            message = f"the scenario brings two fault types '{name}'"
            yield Problem(("spec", "faultTypes", i, "name"), message, name, "one of that name", "keep one of them")
    own = [*beside, *(name for name in held if case.has_own_fault_type(name))]
    known = {*case.catalog.faults(), *own}
    for i, use in enumerate(case.scenario.spec.faults):
        if use.type in own and use.type in case.catalog.faults():
            yield _explain_two_types(case, ("spec", "faults", i, "type"), use.type, use.type in beside)
            continue
        if use.type not in known:
            fix = suggest_entry(use.type, known)
            place, message = ("spec", "faults", i, "type"), f"there is no fault type '{use.type}'"
            yield Problem(place, message, use.type, fix=fix, edits=fix_name(place, use.type, known))
        elif use.type not in case.types:
            place = ("spec", "faults", i, "type")
            if problem := _explain_unusable(place, use.type, lambda name=use.type: case.catalog.fault(name, case.path)):  # type: ignore[misc]
                yield problem


def _explain_two_types(case: LintContext, place: Place, name: str, beside: bool) -> Problem:
    """Report a name that the catalogue and the scenario both define.

    What travels inside the object comes from another version of the catalogue: it counts, and that is said.
    """
    if beside or case.merged:
        message = f"'{name}' is a fault type of the catalogue and of the scenario itself"
        return Problem(place, message, name, "a name that the catalogue does not have", "rename the scenario's own")
    message = f"the scenario brings a fault type '{name}' that differs from this catalogue's; the scenario's counts"
    fix = "nothing if it is meant; else take it out of spec.faultTypes"
    return Problem(place, message, name, "the same definition in both", fix, severity=Severity.WARNING)


@register_check("SK109")
def check_parameters(case: LintContext) -> Iterator[Problem]:
    for i, use in enumerate(case.scenario.spec.faults):
        if use.type in case.types:
            schema = case.types[use.type].parameters
            yield from _check_values(
                case, use.parameters, schema, ("spec", "faults", i, "parameters"), f"fault '{use.type}'"
            )
            image = use.parameters.get("image")
            if isinstance(image, str) and "image" in schema.get("properties", {}) and not is_reference(image):
                yield _explain_image(("spec", "faults", i, "parameters", "image"), image)
    if case.app:
        options = case.scenario.spec.app.options
        yield from _check_values(case, options, case.app.options, ("spec", "app", "options"), f"app '{case.app.name}'")


def _explain_image(place: Place, image: str) -> Problem:
    """Report an image that is no reference: nothing would be pulled, and a fault would not take effect as described."""
    expected = "an image such as 'registry.example/shop/cart:1.4.0', with at most one tag"
    return Problem(place, f"'{image}' is not the name of an image", image, expected, f"write {expected}")


def _check_values(
    case: LintContext, values: dict[str, object], schema: dict[str, object], place: Place, owner: str
) -> Iterator[Problem]:
    if not values and not schema.get("required"):
        return
    if reported := explain_too_much(values, schema):
        yield Problem(place, f"{reported} ({owner})", fix="give it fewer values")
        return
    closed = {"type": "object", "additionalProperties": False, **schema}
    for finding, edits, follows in find_mistakes(values, closed, case.positions, place):
        if follows:
            continue
        message = f"{finding.message} ({owner})"
        yield Problem(
            place, message, finding.observed, finding.expected, finding.fix, position=finding.position, edits=edits
        )


@register_check("SK110")
def check_target(case: LintContext) -> Iterator[Problem]:
    for i, use in enumerate(case.scenario.spec.faults):
        place, ref = ("spec", "faults", i, "target"), use.target
        kinds = case.types[use.type].targets if use.type in case.types else ()
        if kinds and ref.kind not in [kind.partition(".")[0] for kind in kinds]:
            message = f"fault '{use.type}' breaks {' or '.join(kinds)}, not {ref.kind}"
            parts = (kind.partition(".") for kind in kinds)
            similar = [r for kind, _, group in parts if case.exists(r := Reference(kind, ref.name, group=group))]
            fix = did_you_mean(use.target, similar or case.names(*kinds))
            edits = fix_reference(place, use.target, similar)
            yield Problem(place, message, ref.kind, " or ".join(kinds), fix, edits=edits)
        elif case.objects is not None and not case.exists(use.target):
            fix = did_you_mean(use.target, case.names(*kinds))
            message = f"'{use.target}' is not an object of {case.scenario.spec.app.name}"
            edits = fix_reference(place, use.target, case.names(*kinds))
            yield Problem(place, message, use.target, fix=fix, edits=edits)
        elif own := find_intended(case, use.target):
            message = f"'{use.target}' is in another namespace in {case.scenario.spec.app.name}"
            yield Problem(place, message, use.target, own, f"write `target: {own}`", edits=(Put(place, own),))


@register_check("SK123")
def check_templates(case: LintContext) -> Iterator[Problem]:
    for place, finding in case.unrendered:
        astray = find_intended(case, case.scenario.spec.faults[int(place[2])].target)  # SK110
        if finding.code not in ("SK120", "SK135", "SK304") and not astray:
            yield Problem(place, finding.message, finding.observed, finding.expected, finding.fix)
    for place, text in case.positions.texts.items():
        if "{{" in text or "{%" in text:
            yield Problem(place, f"'{text[:60]}' is a template, but scenarios are not rendered", text[:60])


@register_check("SK120")
def check_parts(case: LintContext) -> Iterator[Problem]:
    for place, finding in case.unrendered:
        if finding.code == "SK120":
            yield Problem(place, finding.message, finding.observed, finding.expected, finding.fix)
    for place, _, fault in case.list_rendered():
        for change in fault.changes:
            for name, known in find_unknown_containers(case, change, breaks=True):
                message = f"{change.target} has no container '{name}', and a new one would need an image"
                fix = did_you_mean(name, known)
                yield Problem((*place, "parameters"), message, name, " or ".join(known), fix)
    for place, change in case.list_changes():
        for name, known in find_unknown_containers(case, change):
            message = f"{change.target} has no container '{name}': the patch would add one"
            fix = did_you_mean(name, known)
            yield Problem((*place, "patch", "patch"), message, name, " or ".join(known), fix)


@register_check("SK135")
def check_hidden(case: LintContext) -> Iterator[Problem]:
    for place, finding in case.unrendered:
        if finding.code == "SK135":
            place = (*place, "visibility")
            yield Problem(place, finding.message, finding.observed, finding.expected, finding.fix)


@register_check("SK131")
def check_fault_names(case: LintContext) -> Iterator[Problem]:
    known = [use.name for use in case.scenario.spec.faults]
    for place, name in _list_named_faults(case):
        if name not in known:
            edits = (Put(place, known[0]),) if len(known) == 1 else fix_name(place, name, known)
            message, fix = f"the scenario has no fault '{name}'", did_you_mean(name, known)
            yield Problem(place, message, name, fix=fix, edits=edits)


def _list_named_faults(case: LintContext) -> Iterator[tuple[Place, str]]:
    spec = case.scenario.spec
    for i, use in enumerate(spec.faults):
        if use.start.after_fault is not None:
            yield ("spec", "faults", i, "start", "afterFault"), use.start.after_fault
    for i, alert in enumerate(spec.expect.alerts):
        if alert.after:
            yield ("spec", "expect", "alerts", i, "after"), alert.after
    for i, cause in enumerate(spec.ground_truth.root_causes):
        yield ("spec", "groundTruth", "rootCauses", i, "fault"), cause.fault
    for i, solution in enumerate(spec.solutions):
        for j, name in enumerate(solution.fixes):
            yield ("spec", "solutions", i, "fixes", j), name
    for place, change in case.list_changes():
        if change.operation.fault:
            yield (*place, "removeFault", "fault"), change.operation.fault


@register_check("SK132")
def check_start_order(case: LintContext) -> Iterator[Problem]:
    after = {use.name: use.start.after_fault for use in case.scenario.spec.faults}
    for i, use in enumerate(case.scenario.spec.faults):
        seen, name = [use.name], use.start.after_fault
        while name is not None and name not in seen:
            seen.append(name)
            name = after.get(name)
        if use.start.on_alert and len(after) == 1:
            message = (
                f"'{use.name}' waits for {use.start.on_alert.name}, but there is no other fault that could raise it"
            )
            yield Problem(
                ("spec", "faults", i, "start", "onAlert"), message, fix="remove `start`, or add the first fault"
            )
        if name == use.name:
            message = f"'{use.name}' waits for itself: {' after '.join([*seen, name])}"
            yield Problem(("spec", "faults", i, "start", "afterFault"), message)
