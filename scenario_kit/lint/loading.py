"""SK10x that the loader applies: whether the file can be read, and has the right fields and types."""

from __future__ import annotations

from scenario_kit.lint.rule import Rule, add
from scenario_kit.model import Severity

#: What `lint --fix` does about them.
_REPAIRS = {
    "SK102": "renames the field, where one name is close and free",
    "SK103": "adds the field, where it can have one value only",
    "SK104": "writes the value that is meant: numbers, durations and kinds that are spelled otherwise, and close words",
    "SK105": "writes the version that there is",
    "SK106": "writes the name in kebab case",
}
_UNREAD = "what cannot be read cannot be run; nothing else of the file is judged until it can"

for _code, _title, _why, _bad, _good, _fix in (
    (
        "SK101",
        "The file is not one YAML document",
        _UNREAD,
        "faults: []\nfaults: [{…}]",
        "faults: [{…}]",
        "correct the YAML at the place named",
    ),
    (
        "SK102",
        "Unknown field",
        "a misspelled field would be ignored in silence",
        "expectedAlerts: [{…}]",
        "expect: {alerts: [{…}]}",
        "use the field that is suggested; `docs/scenario-reference.md` lists all",
    ),
    (
        "SK103",
        "A required field is missing",
        "without it nobody knows what to run",
        "faults: [{name: port, type: service-target-port-wrong}]",
        "faults: [{name: port, type: service-target-port-wrong, target: Service/cart}]",
        "add the field",
    ),
    (
        "SK104",
        "Wrong type or value",
        "a value of another type or outside its bounds has no meaning here",
        "class: mustFire",
        "class: MustFire",
        "use one of the values that are named",
    ),
    (
        "SK105",
        "Unknown apiVersion",
        "another version of the format has other fields",
        "apiVersion: v1",
        "apiVersion: scenariokit.io/v1alpha1",
        "write apiVersion: scenariokit.io/v1alpha1",
    ),
    (
        "SK106",
        "A name is not in kebab case, or not unique",
        "names become names of objects, and references must be clear",
        "name: Cart_Down",
        "name: cart-down",
        "use lower-case letters, digits and '-', and each name once",
    ),
):
    add(Rule(_code, _title, Severity.ERROR, _why, _bad, _good, _fix, repair=_REPAIRS.get(_code, ""), by="lint"))
