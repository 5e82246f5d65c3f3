"""SK214: the same scenario does the same twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import Spot, find_fresh
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.stages import list_containers, list_mappings
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Object

#: What scripts throw dice with.
_THROWN: Final = re.compile(
    r"\$\{?RANDOM\b|\bshuf\b(?![^;|&\n]*--random-source)|/dev/u?random\b|\brandom\.(?:choice|random|randint|shuffle|sample)\("
    r"|\bMath\.random\(|\bsort\s+-R\b|\bawk\b[^|;\n]*\bsrand\(\)"
)
_SEEDED: Final = re.compile(r"\bRANDOM=\d+|\bseed\s*\(|--seed\b|--random-source|\bSEED\b")
#: Modes of Chaos Mesh that draw pods; one pod of one is no draw.
_DRAWN: Final = frozenset({"one", "fixed", "fixed-percent", "random-max-percent"})


@register_check("SK214", "Scenario", "Fault")
def check_nondeterminism(case: LintContext | FaultCase) -> Iterator[Problem]:
    for found in find_fresh(case, _find_chance):
        one = found.spot.value == "one" and found.site.text == "one" and found.spot.keys == ("spec", "mode")
        edits: tuple[Edit, ...] = (Put(found.site.place, "all"),) if one else ()
        message = f"{found.subject} {found.spot.note}"
        yield Problem(found.site.place, message, str(found.spot.value)[:80], "the same in every repeat", edits=edits)


def _find_chance(obj: Object) -> Iterator[Spot]:
    for keys, container in list_containers(obj):
        seeds = any(str(v.get("name", "")).upper().endswith("SEED") for _, v in list_mappings(container.get("env")))
        for name in ("command", "args"):
            for i, word in enumerate(container.get(name) or ()):
                if (match := _THROWN.search(str(word))) and not seeds and not _SEEDED.search(str(word)):
                    yield Spot((*keys, name, i), word, f"throws dice without a seed: `{match[0]}`")
    if str(obj.get("apiVersion", "")).startswith("chaos-mesh.org/"):
        mode = (obj.get("spec") or {}).get("mode", "")
        if mode in _DRAWN:
            yield Spot(("spec", "mode"), mode, f"draws pods at random: `mode: {mode}`")
