"""SK220, SK226, SK235 to SK239: objects that no change may reach or write, regardless of declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scenario_kit.admission.amounts import MAX_DISK, MAX_HISTORY, MAX_PODS, MIN_PERIOD
from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import Judged
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.security.admission_findings import list_needed, report_problems
from scenario_kit.load.yaml.edit import Drop, Put

#: The value nearest to an excessive one, by what is expected.
_ADMITTED: Final[Mapping[str, int | str]] = {
    **{f"at most {most}": most for most in (MAX_PODS, MAX_DISK, MAX_HISTORY)},
    f"at least {MIN_PERIOD} s": f"@every {MIN_PERIOD}s",
}

_LEAVE_OUT: Final = "leave it out: neither the app nor what runs in the lab may depend on it"


@register_check("SK220", "Scenario", "Fault", "App")
def check_reserved(case: Judged) -> Iterator[Problem]:
    yield from report_problems(case, "SK220")


@register_check("SK226", "Scenario", "Fault")
def check_amounts(case: LintContext | FaultCase) -> Iterator[Problem]:
    known = {**case.positions.raw, **case.positions.texts}
    for problem in report_problems(case, "SK226"):
        # What several changes request together has no one number that would be right.
        admitted = _ADMITTED.get(problem.expected) if known.get(problem.place) == problem.observed else None
        yield problem._replace(edits=() if admitted is None else (Put(problem.place, admitted),))


@register_check("SK235", "Scenario", "Fault", "App")
def check_kinds(case: Judged) -> Iterator[Problem]:
    for problem in report_problems(case, "SK235"):
        fix = problem.fix
        if case.kind == "App":
            former = problem.expected.startswith("apiVersion: ")
            fix = f"write `{problem.expected}`, as current releases of Kubernetes have it" if former else _LEAVE_OUT
        yield problem._replace(fix=fix)


@register_check("SK236", "Scenario", "Fault", "App")
def check_outside(case: Judged) -> Iterator[Problem]:
    for problem in report_problems(case, "SK236"):
        name = problem.observed
        if case.kind == "App":
            declare = "" if name.startswith("kube-") else f"declare `namespaces: {{{name}: …}}` in app.yaml, or "
            problem = problem._replace(fix=f"{declare}leave the namespace out")
        yield problem


@register_check("SK237", "Scenario", "Fault", "App")
def check_foreign(case: Judged) -> Iterator[Problem]:
    yield from report_problems(case, "SK237")


@register_check("SK238", "Scenario", "Fault", "App")
def check_reserved_keys(case: Judged) -> Iterator[Problem]:
    yield from report_problems(case, "SK238")


@register_check("SK239", "Fault")
def check_needless(case: FaultCase) -> Iterator[Problem]:
    if not case.fault.exceptions or not any(rendering.fault for rendering in case.renderings):
        return
    used, all_ = list_needed(case), case.fault.exceptions
    for i, each in enumerate(all_):
        if each.allow not in used or each.allow in [other.allow for other in all_[:i]]:
            edit = Drop(("exceptions",) if len(all_) == 1 else ("exceptions", i))
            message = f"no change of the fault needs the exception '{each.allow}'"
            yield Problem(("exceptions", i, "allow"), message, each.allow, edits=(edit,))
