"""SK140: values that YAML 1.1, and so kubectl, parses differently."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Edit, Put, Rename


@register_check("SK140")
def check_yaml11(case: LintContext) -> Iterator[Problem]:
    positions = case.positions
    for place, yaml11 in positions.yaml11_values.items():
        text = positions.texts.get(place, positions.raw.get(place, ""))
        is_text = place in positions.texts
        edits: tuple[Edit, ...] = (Put(place, text),) if is_text else ()
        fix = f'write "{text}"' if is_text else f"write the intended number: {float(text):g} or {yaml11}"
        yield Problem(place, f"kubectl reads `{text}` as {yaml11}", yaml11, text, fix, edits=edits)
    for place, yaml11 in positions.yaml11_keys.items():
        name, key = str(place[-1]), positions.key(*place)
        message = f"kubectl reads the name `{name}` as {yaml11}"
        yield Problem(place, message, yaml11, name, f'write "{name}"', position=key, edits=(Rename(place, name),))
