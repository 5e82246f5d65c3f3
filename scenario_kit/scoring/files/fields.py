"""Typed access to fields of foreign documents that collects all errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Finding, Severity
from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_text
from scenario_kit.scoring.files.source import Source

#: The largest number of a document, in any unit.
LARGEST: Final = 1e15
_TYPES: Final = {
    dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number",
    type(None): "null",
}  # fmt: skip


class Mistakes:
    """Collected findings on a file: errors, which make it unusable, and warnings."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.findings: list[Finding] = []

    def note(
        self, place: Place, message: str, *, fix: str, observed: str = "", expected: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:  # fmt: skip
        """Add a finding on an invalid value."""
        self.findings.append(
            Finding(
                code="SK104", severity=severity, message=message, position=self.source.locate(place),
                observed=observed, expected=expected, fix=fix,
            )
        )  # fmt: skip

    def note_missing(self, place: Place, message: str, *, fix: str, expected: str) -> None:
        """Add a finding on a missing field."""
        position = self.source.locate(place)
        self.findings.append(
            Finding(
                code="SK103", severity=Severity.ERROR, message=message, position=position, expected=expected, fix=fix
            )
        )  # fmt: skip

    def raise_errors(self) -> None:
        """Raise if there are errors.

        Raises:
            AuthoringError: with all findings.
        """
        errors = [finding for finding in self.findings if finding.severity is Severity.ERROR]
        if errors:
            count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
            raise AuthoringError(f"{self.source.path}: {count}", self.findings)


class Fields:
    """The fields of one object of a document; unread fields are not validated."""

    def __init__(self, mistakes: Mistakes, place: Place, data: Any) -> None:
        self.mistakes, self.place = mistakes, place
        self.data: dict[str, Any] = data if isinstance(data, dict) else {}
        if not isinstance(data, dict):
            self._refuse_type(place, data, "an object")

    def __contains__(self, name: str) -> bool:
        return self.data.get(name) is not None

    def read_text(self, name: str, *, required: bool = False, numbers: bool = False) -> str:
        """Read a string; with ``numbers``, numbers are converted. Empty if missing or null."""
        value = self._get(name, required)
        if numbers and isinstance(value, int | float) and not isinstance(value, bool):
            if abs(value) > LARGEST:
                self._refuse_size(name, -LARGEST)
                return ""
            return str(value)
        return value if isinstance(value, str) else self._default(name, value, "a string", "")

    def read_flag(self, name: str, default: bool = False) -> bool:
        """Read a boolean."""
        value = self._get(name)
        return value if isinstance(value, bool) else self._default(name, value, "a boolean", default)

    def read_number(self, name: str, *, required: bool = False, least: float = 0.0) -> float | None:
        """Read a number of at least ``least``; None if missing."""
        value = self._get(name, required)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._default(name, value, "a number", None)
            return None
        if not abs(value) <= LARGEST:
            self._refuse_size(name, least)
            return None
        if value < least:
            self.refuse(
                name, f"`{self.spell(name)}` is {value}", f"a number of at least {least:g}", "correct the number"
            )
        return float(value)

    def read_texts(self, name: str) -> list[str]:
        """Read a list of strings, or a single one."""
        value = self._get(name)
        if isinstance(value, str):
            return [value]
        return [text for i, text in enumerate(self._read_list(name, value)) if self._is_text((name, i), text)]

    def read_list(self, name: str, *, required: bool = False) -> list[Fields]:
        """Read a list of objects."""
        values = self._read_list(name, self._get(name, required))
        return [Fields(self.mistakes, (*self.place, name, i), value) for i, value in enumerate(values)]

    def read_object(self, name: str) -> Fields | None:
        """Read an object; None if missing."""
        value = self._get(name)
        return None if value is None else Fields(self.mistakes, (*self.place, name), value)

    def read_values(self, name: str) -> list[Any]:
        """Read a list of any values."""
        return self._read_list(name, self._get(name))

    def read_choice(self, name: str, *values: str, default: str = "") -> str:
        """Read an enumerated value."""
        value = self.read_text(name) or default
        if value and value not in values:
            self.refuse(name, f"`{self.spell(name)}` is '{shorten_text(value)}'", " or ".join(values), "choose one")
            return default
        return value

    def refuse(self, name: str | int, message: str, expected: str, fix: str) -> None:
        """Add an error on a field."""
        self.mistakes.note((*self.place, name), message, expected=expected, fix=fix)

    def warn(self, name: str | int, message: str, fix: str) -> None:
        """Add a warning on a field that is ignored."""
        self.mistakes.note((*self.place, name), message, fix=fix, severity=Severity.WARNING)

    def spell(self, *steps: str | int) -> str:
        """Format the path of a field for messages."""
        return spell_place((*self.place, *steps))

    def _refuse_size(self, name: str, least: float) -> None:
        """Refuse a number with which sums and products would not be finite."""
        message = f"`{self.spell(name)}` is a number beyond {LARGEST:g}"
        self.refuse(name, message, f"a number from {least:g} to {LARGEST:g}", "correct the number")

    def _get(self, name: str, required: bool = False) -> Any:
        if required and self.data.get(name) is None:
            message = f"`{self.spell(name)}` is missing"
            self.mistakes.note_missing(self.place, message, expected=name, fix=f"add `{name}`")
            self.data = {**self.data, name: None}
        return self.data.get(name)

    def _default(self, name: str, value: Any, expected: str, default: Any) -> Any:
        if value is not None:
            self._refuse_type((*self.place, name), value, expected)
        return default

    def _read_list(self, name: str, value: Any) -> list[Any]:
        result = value if isinstance(value, list) else self._default(name, value, "a list", [])
        return list(result)

    def _is_text(self, steps: Place, value: Any) -> bool:
        if not isinstance(value, str):
            self._refuse_type((*self.place, *steps), value, "a string")
        return isinstance(value, str)

    def _refuse_type(self, place: Place, value: Any, expected: str) -> None:
        observed = _TYPES.get(type(value), type(value).__name__)
        message = f"`{spell_place(place) or 'the document'}` is {observed}, not {expected}"
        self.mistakes.note(place, message, observed=observed, expected=expected, fix=f"write {expected}")


def spell_place(place: Place) -> str:
    """Format a path: ``groups[0].kind``."""
    return "".join(_spell_steps(place)).removeprefix(".")


def _spell_steps(place: Place) -> Iterator[str]:
    for step in place:
        yield f"[{step}]" if isinstance(step, int) else f".{step}"
