"""Forms of names, ports and addresses, as the validation of Kubernetes writes them down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.object_fields.mistake import FieldMistake, format_field
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.label_selector import check_key, check_value

LABEL_KEY: Final = "letters, digits, '-', '_' and '.', at most 63, perhaps behind a domain and '/'"
LABEL_VALUE: Final = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
DNS_LABEL: Final = "at most 63 lower-case letters, digits and '-', with a letter or digit at both ends"
_DNS_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_PORT_NAME: Final = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
#: What an environment variable may be called since Kubernetes 1.34: printable ASCII without '='.
_VARIABLE: Final = re.compile(r"[ -<>-~]+")
_FILE_KEY: Final = re.compile(r"(?!\.\.?\Z|\.\.)[-._a-zA-Z0-9]{1,253}")
HIGHEST_PORT: Final = 65535


def is_label_key(key: Any) -> bool:
    """Return whether the API server takes a text as the key of a label."""
    try:
        check_key(key)
    except ValueError:
        return False
    return True


def is_label_value(value: Any) -> bool:
    """Return whether the API server takes a text as the value of a label."""
    try:
        check_value(value)
    except ValueError:
        return False
    return True


def is_dns_label(name: Any) -> bool:
    """Return whether a text is a DNS label (RFC 1123)."""
    return isinstance(name, str) and _DNS_LABEL.fullmatch(name) is not None


def is_port(port: Any, *, named: bool = True) -> bool:
    """Return whether a value is a port, or the name of one; 0 is none."""
    if isinstance(port, str):
        return named and _PORT_NAME.fullmatch(port) is not None
    return isinstance(port, int) and 1 <= port <= HIGHEST_PORT


def is_variable(name: Any) -> bool:
    """Return whether an environment variable may have this name."""
    return isinstance(name, str) and _VARIABLE.fullmatch(name) is not None


def is_file_key(key: Any) -> bool:
    """Return whether an entry of a ConfigMap or a Secret may have this key."""
    return isinstance(key, str) and _FILE_KEY.fullmatch(key) is not None


def report(place: Place, must: str, observed: Any, expected: str, fix: str = "") -> FieldMistake:
    """Report that a value is not as it must be; ``must`` follows the name of the field."""
    message = f"`{format_field(place)}` {must}"
    return FieldMistake(place, message, str(observed), expected, fix or f"write {expected}")


def find_wrong_labels(labels: Any, place: Place) -> Iterator[FieldMistake]:
    """Yield what is wrong with a mapping of labels, as objects have and selectors name them."""
    for key, value in labels.items() if isinstance(labels, Mapping) else ():
        if not is_label_key(key):
            yield report(place, f"has '{key}', which is no key of a label", key, LABEL_KEY)
        elif value is not None and not is_label_value(value):
            yield report((*place, key), f"is '{value}', which is no value of a label", value, LABEL_VALUE)
