"""SK214: randomness without a seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import RenderedField, find_introduced
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.stages import list_containers
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Object
from scenario_kit.model.json_document import list_mappings

#: Sources of randomness in scripts.
_THROWN: Final = re.compile(
    r"\$\{?RANDOM\b|\bshuf\b(?![^;|&\n]*--random-source)|/dev/u?random\b|\brandom\.(?:choice|random|randint|shuffle|sample)\("
    r"|\bMath\.random\(|\bsort\s+-R\b|\bawk\b[^|;\n]*\bsrand\(\)"
)
_SEEDED: Final = re.compile(r"\bRANDOM=\d+|\bseed\s*\(|--seed\b|--random-source|\bSEED\b")
#: Modes of Chaos Mesh that select pods at random. A whole number of them (``fixed``) is bound to the oldest pods.
_DRAWN: Final = frozenset({"one", "fixed-percent", "random-max-percent"})


@register_check("SK214", "Scenario", "Fault")
def check_nondeterminism(case: LintContext | FaultCase) -> Iterator[Problem]:
    for found in find_introduced(case, _find_chance):
        one = found.spot.value == "one" and found.site.text == "one" and found.spot.keys == ("spec", "mode")
        edits: tuple[Edit, ...] = (Put(found.site.place, "all"),) if one else ()
        message = f"{found.subject} {found.spot.note}"
        yield Problem(found.site.place, message, str(found.spot.value)[:80], "the same in every repeat", edits=edits)


def _find_chance(obj: Object) -> Iterator[RenderedField]:
    for keys, container in list_containers(obj):
        seeds = any(str(v.get("name", "")).upper().endswith("SEED") for _, v in list_mappings(container.get("env")))
        for name in ("command", "args"):
            for i, word in enumerate(container.get(name) or ()):
                if (match := _THROWN.search(str(word))) and not seeds and not _SEEDED.search(str(word)):
                    yield RenderedField((*keys, name, i), word, f"uses randomness without a seed: `{match[0]}`")
    if str(obj.get("apiVersion", "")).startswith("chaos-mesh.org/"):
        mode = (obj.get("spec") or {}).get("mode", "")
        if mode in _DRAWN:
            yield RenderedField(("spec", "mode"), mode, f"selects pods at random: `mode: {mode}`")
