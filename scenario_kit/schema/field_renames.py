"""Former names of fields: files and objects with them are rejected, and ``lint --fix`` renames them in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: kubectl reads YAML 1.1, in which ``on`` is true: objects that it stored have that as the field's name.
_ON: Final = {"on": "entity", "true": "entity"}
#: By the definition that has the field: its name by the former one.
RENAMED_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "AlertExpectation": _ON,
    "BackgroundAlert": _ON,
    "EventCheck": _ON,
    "LogCheck": _ON,
    "OnAlert": _ON,
    "Symptom": _ON,
}


def explain_renaming(old: str, new: str) -> str:
    """Return a message with the current name of a field."""
    shown = "`on`, which kubectl reads as `true`," if old == "true" else f"`{old}`"
    return f"{shown} is now `{new}`"


#: The fix of every former name in a file.
FIX_RENAMED: Final = "run `scenario-kit lint --fix` on the file, which writes the new name"
