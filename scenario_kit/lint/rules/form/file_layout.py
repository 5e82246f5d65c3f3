"""SK003: the folder's name."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Put


@register_check("SK003")
def check_folder_name(case: LintContext) -> Iterator[Problem]:
    folder = case.path.resolve().parent
    if case.merged and folder.name != case.scenario.name:
        message = f"the scenario is called '{case.scenario.name}', but its folder '{folder.name}'"
        place, fix = ("metadata", "name"), f"git mv {folder.name} {case.scenario.name}"
        edits = (Put(place, folder.name),)
        yield Problem(place, message, folder.name, case.scenario.name, fix, edits=edits)
