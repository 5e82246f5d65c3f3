"""SK0: the shape of a contribution."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_rule
from scenario_kit.load.yaml.edit import Put


@register_rule(
    "SK003",
    why="the folder is the registration: catalogues, reports and evidence find a scenario by its name",
    bad="catalog/scenarios/redis1/scenario.yaml with metadata.name cart-oom",
    good="catalog/scenarios/cart-oom/scenario.yaml with metadata.name cart-oom",
    fix="rename the folder or the scenario",
    repair="gives the scenario the name of its folder",
)
def check_folder_name(case: LintContext) -> Iterator[Problem]:
    """The folder and the scenario have different names."""
    folder = case.path.resolve().parent
    if case.merged and folder.name != case.scenario.name:
        message = f"the scenario is called '{case.scenario.name}', its folder '{folder.name}'"
        place, fix = ("metadata", "name"), f"git mv {folder.name} {case.scenario.name}"
        edits = (Put(place, folder.name),)
        yield Problem(place, message, folder.name, case.scenario.name, fix, edits=edits)
