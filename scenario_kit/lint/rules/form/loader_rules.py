"""SK10x that the loader applies: whether the file can be read, and has the right fields and types."""

from __future__ import annotations

from scenario_kit.lint.framework.rule import Rule, add
from scenario_kit.model import Severity

#: What `lint --fix` does about them.
_REPAIRS = {
    "SK102": "renames the field, where exactly one close name is still free",
    "SK103": "adds the field, where only one value is possible",
    "SK104": "writes the intended value: numbers, durations and kinds spelled differently, and close words",
    "SK105": "writes the only version there is",
    "SK106": "writes the name in kebab case",
}
_UNREAD = "a file that cannot be read cannot be run; nothing else in it is checked until it can"

for _code, _title, _why, _bad, _good, _fix in (
    (
        "SK101",
        "The file is not a single YAML document",
        _UNREAD,
        "faults: []\nfaults: [{…}]",
        "faults: [{…}]",
        "correct the YAML at the position shown",
    ),
    (
        "SK102",
        "Unknown field",
        "a misspelled field would be silently ignored",
        "expectedAlerts: [{…}]",
        "expect: {alerts: [{…}]}",
        "use the suggested field; `docs/scenario-reference.md` lists them all",
    ),
    (
        "SK103",
        "A required field is missing",
        "without it, the scenario is incomplete and cannot be run",
        "faults: [{name: port, type: service-target-port-wrong}]",
        "faults: [{name: port, type: service-target-port-wrong, target: Service/cart}]",
        "add the field",
    ),
    (
        "SK104",
        "Wrong type or value",
        "a value of the wrong type or out of bounds has no meaning here",
        "class: mustFire",
        "class: MustFire",
        "use one of the values listed",
    ),
    (
        "SK105",
        "Unknown apiVersion",
        "other versions of the format have other fields",
        "apiVersion: v1",
        "apiVersion: scenariokit.io/v1alpha1",
        "write `apiVersion: scenariokit.io/v1alpha1`",
    ),
    (
        "SK106",
        "A name is not in kebab case, or not unique",
        "these names become names of objects, and references to them must be unambiguous",
        "name: Cart_Down",
        "name: cart-down",
        "use lower-case letters, digits and '-', and use each name only once",
    ),
):
    add(Rule(_code, _title, Severity.ERROR, _why, _bad, _good, _fix, repair=_REPAIRS.get(_code, ""), by="lint"))
