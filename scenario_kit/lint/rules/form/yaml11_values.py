"""SK140: what kubectl reads otherwise than everything else does."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Edit, Put, Rename


@register_check("SK140")
def check_yaml11(case: LintContext) -> Iterator[Problem]:
    positions = case.positions
    for place, there in positions.elsewhere.items():
        here = positions.texts.get(place, positions.raw.get(place, ""))
        text = place in positions.texts
        edits: tuple[Edit, ...] = (Put(place, here),) if text else ()
        fix = f'write "{here}"' if text else f"write the number that is meant: {float(here):g} or {there}"
        yield Problem(place, f"kubectl reads `{here}` as {there}", there, here, fix, edits=edits)
    for place, there in positions.elsewhere_keys.items():
        name, key = str(place[-1]), positions.key(*place)
        message = f"kubectl reads the name `{name}` as {there}"
        yield Problem(place, message, there, name, f'write "{name}"', position=key, edits=(Rename(place, name),))
