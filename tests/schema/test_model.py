"""The schemas and the frozen values describe the same fields, with the same types and defaults."""

from __future__ import annotations

import subprocess
import sys
import types
import typing
from typing import Any, Literal, get_args, get_origin

import msgspec
import pytest

from scenario_kit import model
from scenario_kit.campaign.planning.plans import Plan
from scenario_kit.campaign.planning.sequential_test import Look
from scenario_kit.campaign.planning.spec import EmbeddedScenario, ValidationSpec
from scenario_kit.changes.operations import (
    cordon,
    find_operations,
    patch,
    remove_fault,
    restart,
    run,
    scale,
    set_flag,
    taint,
)  # fmt: skip
from scenario_kit.model.authored import app, change, check, fault, noise, scenario
from scenario_kit.model.authored.effect_check import EFFECT_CHECKS
from scenario_kit.model.base import Value
from scenario_kit.model.results import trial
from scenario_kit.schema import Schema, load_definitions

PAIRS: dict[str, type[Value]] = {
    "AlertExpectation": scenario.AlertExpectation,
    "Aftermath": app.Aftermath,
    "AppChoice": scenario.AppChoice,
    "Author": scenario.Author,
    "BackgroundAlert": scenario.BackgroundAlert,
    "CallEdge": app.CallEdge,
    "Check": check.Check,
    "CheckResult": model.CheckResult,
    "Client": model.Client,
    "ClientCommand": model.ClientCommand,
    "Component": app.Component,
    "Decoy": scenario.Decoy,
    "Edge": scenario.PropagationEdge,
    "EmbeddedScenario": EmbeddedScenario,
    "EndpointsCheck": check.EndpointsCheck,
    "Entity": model.Entity,
    "EventCheck": check.EventCheck,
    "Expect": scenario.Expect,
    "Fault": model.FaultType,
    "FaultUse": scenario.FaultUse,
    "Finding": model.Finding,
    "FlagStore": app.FlagStore,
    "FlagTrait": app.FlagTrait,
    "GroundTruth": scenario.GroundTruth,
    "Jvm": app.Jvm,
    "JvmResult": app.JvmResult,
    "Load": scenario.Load,
    "LoadKnob": app.LoadKnob,
    "LoadKnobs": app.LoadKnobs,
    "LoadProfile": app.LoadProfile,
    "Look": Look,
    "LogCheck": check.LogCheck,
    "Precondition": fault.Precondition,
    "ProbeCheck": check.ProbeCheck,
    "Noise": noise.Noise,
    "NoiseLoad": noise.NoiseLoad,
    "NoiseScale": noise.NoiseScale,
    "ObjectCheck": check.ObjectCheck,
    "OnAlert": scenario.OnAlert,
    "Patch": patch.Patch,
    "Plan": Plan,
    "PolicyException": fault.PolicyException,
    "Position": model.Position,
    "QueryCheck": check.QueryCheck,
    "Recurrence": scenario.Recurrence,
    "RemoveFault": remove_fault.RemoveFault,
    "NodeTarget": cordon.Cordon,
    "Restart": restart.Restart,
    "Rollout": scenario.Rollout,
    "Restore": fault.Restore,
    "RootCause": scenario.RootCause,
    "Run": run.Run,
    "Scale": scale.Scale,
    "ScenarioSpec": scenario.ScenarioSpec,
    "SetFlag": set_flag.SetFlag,
    "Solution": scenario.Solution,
    "Start": scenario.FaultStart,
    "Step": trial.TrialStep,
    "StepStatus": trial.StepStatus,
    "StoreEffect": model.StoreEffect,
    "Suppression": scenario.Suppression,
    "Symptom": fault.Symptom,
    "Taint": taint.Taint,
    "Target": noise.NoiseRestart,
    "TrialSpec": trial.TrialSpec,
    "Until": change.Until,
    "ValidationSpec": ValidationSpec,
}
PAIRS |= {value.__name__: value for value in EFFECT_CHECKS.values()}
#: Definitions without a value of their own: wrappers, states that the operator writes, files of several values, and
#: formats of Prometheus that become rules.
WITHOUT_VALUE = {
    "App", "AppVersion", "Change", "Condition", "EffectCheck", "ObjectMeta", "Pack", "PackRule", "PrometheusRule",
    "PromtoolTest", "PromtoolTests", "RuleGroup", "Scenario", "ScenarioStatus", "TrialStatus", "ValidationFinding",
    "ValidationStatistics", "ValidationStatus", "ValidationTrial",
}  # fmt: skip
JSON_TYPES: dict[type, str] = {str: "string", int: "integer", bool: "boolean", float: "number"}


def resolve_schema(schema: Schema) -> Schema:
    return {**load_definitions()[schema["$ref"]], **schema} if "$ref" in schema else schema


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_schema_and_value_fields_match(name: str) -> None:
    schema, value = load_definitions()[name], PAIRS[name]
    fields = {field.encode_name: field for field in msgspec.structs.fields(value)}

    moved = {n for n, part in schema["properties"].items() if "former place" in part.get("description", "")}
    assert set(schema["properties"]) - moved == set(fields)
    assert set(schema.get("required", ())) == {n for n, f in fields.items() if f.required}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_schema_and_value_types_and_defaults_match(name: str) -> None:
    hints = typing.get_type_hints(PAIRS[name])
    for field in msgspec.structs.fields(PAIRS[name]):
        schema = load_definitions()[name]["properties"][field.encode_name]
        wrong = mismatch(schema, hints[field.name])
        assert not wrong, f"{name}.{field.encode_name}: {wrong}"
        if field.default not in (msgspec.NODEFAULT, None, "", (), {}) and not isinstance(field.default, Value):
            default = list(field.default) if isinstance(field.default, tuple) else field.default
            assert resolve_schema(schema)["default"] == default, f"{name}.{field.encode_name}"


def mismatch(schema: Schema, hint: Any) -> str:
    """Why the schema does not describe values of the type; empty if it does."""
    if get_origin(hint) is types.UnionType:
        hint = next(part for part in get_args(hint) if part is not type(None))
    part = resolve_schema(schema)
    if hint is Any:
        return ""  # templates and free values are described in more detail than they are typed
    if get_origin(hint) is Literal:
        return "" if set(part["enum"]) == set(get_args(hint)) else f"{part['enum']} is not {get_args(hint)}"
    if get_origin(hint) in (tuple, list):
        return mismatch(part["items"], get_args(hint)[0]) if part["type"] == "array" else "not a list"
    if hint is change.Change:
        return "" if schema["$ref"] == "Change" else f"{schema['$ref']} is not Change"
    if isinstance(hint, type) and issubclass(hint, Value):
        return "" if PAIRS.get(schema["$ref"]) is hint else f"{schema['$ref']} is not {hint.__name__}"
    if hint is dict or get_origin(hint) is dict:
        return "" if part["type"] == "object" else f"{part['type']} is not an object"
    if isinstance(hint, type) and issubclass(hint, str):
        return "" if part["type"] == "string" else f"{part['type']} is not text"
    return "" if part["type"] == JSON_TYPES[hint] else f"{part['type']} is not {hint}"


def test_change_schema_has_every_operation() -> None:
    assert set(load_definitions()["Change"]["properties"]) == {*find_operations(), "until"}


def test_no_definition_is_forgotten() -> None:
    with_fields = {name for name, schema in load_definitions().items() if "properties" in schema}

    assert with_fields == set(PAIRS) | WITHOUT_VALUE


def test_app_file_has_everything_except_version() -> None:
    both = set(load_definitions()["App"]["properties"]) | set(load_definitions()["AppVersion"]["properties"])
    fields = {field.encode_name for field in msgspec.structs.fields(model.App)}

    # Digests stand in a lock file of their own, which a machine writes.
    assert both - {"versions"} == fields - {"version", "locks"}


def test_first_value_is_read_thread_safely():
    program = (
        "from threading import Barrier, Thread\n"
        "from scenario_kit.model import App, Scenario\n"
        "gate = Barrier(8)\n"
        "def read(cls):\n"
        "    gate.wait()\n"
        "    try:\n"
        "        cls.from_json({})\n"
        "    except ValueError:\n"
        "        pass\n"
        "threads = [Thread(target=read, args=(cls,)) for cls in (App, Scenario) * 4]\n"
        "[t.start() for t in threads]\n"
        "[t.join() for t in threads]\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
