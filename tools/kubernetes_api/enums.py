"""Reads the enumerations of fields from the generated OpenAPI definitions of Kubernetes, in Go.

The committed OpenAPI document omits them, as the API server adds them when it serves it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

_MODEL: Final = re.compile(r'^\t\t"([^"]+)":\s+(schema_\w+)\(ref\),$')
_FUNCTION: Final = re.compile(r"^func (schema_\w+)\(")
_PROPERTY: Final = re.compile(r'^\t{5}"([^"]+)": \{$')
_VALUES: Final = re.compile(r"^\t+Enum:\s+\[\]interface\{\}\{(.*)\},$")

#: Values by name of the definition, as the OpenAPI document spells it, and field; of a list, those of its items.
Enums = dict[tuple[str, str], tuple[str, ...]]


def read_enums(source: str) -> Enums:
    """Read the enumerations from the text of ``zz_generated.openapi.go``."""
    models: dict[str, str] = {}
    found: Enums = {}
    function = field = ""
    for line in source.splitlines():
        if match := _MODEL.match(line):
            models[match[2]] = _name_definition(match[1])
        elif match := _FUNCTION.match(line):
            function, field = match[1], ""
        elif match := _PROPERTY.match(line):
            field = match[1]
        elif (match := _VALUES.match(line)) and function in models and field:
            found[models[function], field] = tuple(_read_texts(match[1]))
    return found


def _name_definition(path: str) -> str:
    """Return the definition's name of a Go type: ``k8s.io/api/core/v1.Pod`` is ``io.k8s.api.core.v1.Pod``."""
    host, _, rest = path.partition("/")
    return ".".join([*reversed(host.split(".")), *rest.split("/")])


def _read_texts(items: str) -> Iterator[str]:
    values = json.loads(f"[{items}]")
    yield from (str(value) for value in values)
