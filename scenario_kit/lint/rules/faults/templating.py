"""SK003, SK121, SK123, SK304 of faults and apps: templates that fail, or changes that do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.catalog_context import USE, AppCase, FaultCase, Rendering
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.applied_changes import apply_changes
from scenario_kit.load.yaml.edit import Put
from scenario_kit.model.json_document import Place
from scenario_kit.render import NoChange
from scenario_kit.render.templating.engine import explain_invalid_template

#: Codes by which a fault rejects targets and parameters.
_REFUSALS: Final = frozenset({"SK304", "SK120", "SK110"})
_PARTS: Final = "changes|undo|effect|undone|entities|solutions|decoys"
#: Parameters are rendered with their defaults.
_DEFAULT: Final = "give each parameter a default: a scenario only has to name a target"
#: What messages call a fault that no scenario uses.
_UNNAMED: Final = re.compile(rf"(parameters?(?: '[^']+')?) of fault '{USE}'|fault '{USE}'")
#: Places in messages: ``changes[0].patch.target``.
_SPELLED: Final = re.compile(rf"\b({_PARTS})((?:\[\d+\]|\.[A-Za-z_]+)*)")


@register_check("SK003", "Fault", "App")
def check_folder_name(case: FaultCase | AppCase) -> Iterator[Problem]:
    """Report a folder whose name differs from the entry's."""
    folder, name = case.path.resolve().parent.name, str(case.document.get("name", ""))
    if name != folder:
        message = f"the {case.kind.lower()} is called '{name}', but its folder '{folder}'"
        yield Problem(("name",), message, folder, name, f"git mv {folder} {name}", edits=(Put(("name",), folder),))


@register_check("SK123", "Fault")
def check_expressions(case: FaultCase) -> Iterator[Problem]:
    """Report templates that cannot be parsed, or that fail for a suitable target."""
    wrong = {place: error for place, text in case.positions.texts.items() if (error := explain_invalid_template(text))}
    for place, error in wrong.items():
        text = case.positions.texts[place].strip()[:120]
        yield Problem(
            place, f"the template cannot be parsed: {error}", text, "a Jinja2 expression", "correct the expression"
        )
    reported: set[str] = set()
    for rendering in () if wrong else case.renderings:
        for finding in rendering.error.findings if rendering.error else ():
            if finding.code not in _REFUSALS and finding.message not in reported:
                reported.add(finding.message)
                aimed = f" (aimed at {rendering.use.target} of {rendering.app.name})"
                fix = finding.fix or ("correct the template" if finding.code != "SK109" else _DEFAULT)
                message = _UNNAMED.sub(lambda found: found[1] or "the fault", finding.message) + aimed
                yield Problem(_place(finding.message), message, finding.observed, finding.expected, fix)


def _place(message: str) -> Place:
    match = _SPELLED.search(message)
    if match is None:
        return ("parameters",) if "parameter" in message or "default of" in message else ("name",)
    steps = re.findall(r"\[(\d+)\]|\.([A-Za-z_]+)", match[2])
    return (match[1], *(int(number) if number else name for number, name in steps))


@register_check("SK123", "App")
def check_manifests(case: AppCase) -> Iterator[Problem]:
    """Report templates that do not become objects, each mistake once."""
    reported: set[str] = set()
    for version in case.versions:
        chosen = f" with {version.chosen}" if version.chosen else ""
        for finding in version.error.findings if version.error else ():
            if finding.message not in reported:
                reported.add(finding.message)
                message = f"{finding.message} ({version.app.version}{chosen})"
                yield Problem(
                    ("name",), message, finding.observed, finding.expected, finding.fix, position=finding.position
                )


@register_check("SK304", "Fault")
def check_no_effect(case: FaultCase) -> Iterator[Problem]:
    """Report a change without effect for a target and parameters that the fault accepts."""
    for rendering, index, error in _find_failing_changes(case):
        if isinstance(error, NoChange):
            message = f"{error.message} (aimed at {rendering.use.target} of {rendering.app.name})"
            fix = "add a precondition that excludes such targets and parameters"
            yield Problem(("changes", index), message, "the app as it was", "a change of it", fix)


@register_check("SK121", "Fault")
def check_impossible(case: FaultCase) -> Iterator[Problem]:
    """Report a change that fails on the app's objects."""
    for rendering, index, error in _find_failing_changes(case):
        if not isinstance(error, NoChange):
            message = f"{error.message} (aimed at {rendering.use.target} of {rendering.app.name})"
            yield Problem(("changes", index), message, fix=error.fix)


def _find_failing_changes(case: FaultCase) -> Iterator[tuple[Rendering, int, AuthoringError]]:
    """Yield the changes of each rendering that fail on the app's objects; indices count rendered changes."""
    for rendering, fault in case.list_rendered():
        for i, applied in enumerate(apply_changes(rendering.objects, fault.changes, rendering.app)):
            if applied.error:
                yield rendering, i, applied.error
