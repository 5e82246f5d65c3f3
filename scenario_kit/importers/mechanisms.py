"""Map mechanisms of public formats to faults (mechanisms.yaml), and their fields to parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.units import Unit, convert_value
from scenario_kit.load.package_data import read_package_data
from scenario_kit.model import FaultType
from scenario_kit.model.base import Value, convert

#: The fix where no fault corresponds to the input.
CHOOSE_FAULT: Final = "choose a fault that `scenario-kit catalog faults` lists"


class FieldRule(Value, frozen=True, kw_only=True):
    """The mapping of a field of another format: to a parameter, or refused unless it has an ``expected`` value."""

    parameter: str = ""
    unit: Unit = "Text"
    expected: tuple[str, ...] = ()
    because: str = ""


class Mechanism(Value, frozen=True, kw_only=True):
    """A mechanism of another format. Without a ``fault``, ``because`` is why there is none, ``fix`` what to do.

    ``kind``, ``action`` and ``has`` (a required field) distinguish mechanisms of Chaos Mesh.
    """

    fault: str = ""
    because: str = ""
    fix: str = CHOOSE_FAULT
    kind: str = ""
    action: str = ""
    has: str = ""
    fields: dict[str, FieldRule] = {}
    parameters: dict[str, Any] = {}


def describe_unknown(name: str) -> Mechanism:
    """Return the mechanism of a name that no table has."""
    return Mechanism(because=f"no fault is known for '{name}'")


_DATA: Final[Mapping[str, Any]] = read_package_data(__file__)
CHAOS_MESH: Final = tuple(convert(each, Mechanism) for each in _DATA["chaosMesh"])
LITMUS: Final = {name: convert(each, Mechanism) for name, each in _DATA["litmus"].items()}
KRKN: Final = {name: convert(each, Mechanism) for name, each in _DATA["krkn"].items()}
ITBENCH: Final = {name: convert(each, Mechanism) for name, each in _DATA["itbench"].items()}
INJECTIONS: Final = {name: convert(each, Mechanism) for name, each in _DATA["injections"].items()}


def map_fields(mechanism: Mechanism, node: InputNode, fault: FaultType) -> dict[str, Any]:
    """Map the fields below a node to parameters of the fault, with a decision about each."""
    parameters = dict(mechanism.parameters)
    for path, rule in mechanism.fields.items():
        part = node.find_path(path)
        if part is not None:
            parameters |= map_field(rule, part, fault)
    return parameters


def map_field(rule: FieldRule, node: InputNode, fault: FaultType) -> dict[str, Any]:
    """Map one field to a parameter; empty if it maps to none."""
    if not rule.parameter:
        if rule.expected and str(node.value) in rule.expected:
            node.take(f"the behaviour of {fault.name}")
        else:
            node.refuse(rule.because)
        return {}
    if node.value == "":
        node.take(f"empty: the default of {fault.name}")
        return {}
    schema = fault.parameters.get("properties", {}).get(rule.parameter, {})
    try:
        value = convert_value(node.value, rule.unit)
    except ValueError as error:
        node.refuse(f"{error}; {fault.name} uses its default", f"set `parameters.{rule.parameter}` in the draft")
        return {}
    fitted = _fit_value(value, schema)
    result = f"parameters.{rule.parameter}: {fitted}"
    if fitted != value:
        node.guess(result, f"{fault.name} accepts {_format_bounds(schema)}, not {value}")
    elif str(value) == str(node.value):
        node.take(result)
    else:
        node.map(result)
    return {rule.parameter: fitted}


def _fit_value(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the nearest value that the schema allows; strings match case-insensitively."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(max(value, schema.get("minimum", value)), schema.get("maximum", value))
    choices = schema.get("enum", ())
    return next((c for c in choices if str(c).lower() == str(value).lower()), value)


def _format_bounds(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    return f"values from {schema.get('minimum', '-')} to {schema.get('maximum', '-')}"
