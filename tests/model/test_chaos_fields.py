"""Every field of every Chaos Mesh kind is implemented by the lab, without effect, or listed as not implemented."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from scenario_kit.model.chaos import fields as chaos_fields
from scenario_kit.schema.chaos import DATA

#: Fields of every kind, read by the manager.
COMMON: Final = frozenset({"action", "mode", "value", "duration", "containerNames", "selector.*"})

#: Fields that the lab implements; ``*`` covers all parts of a field.
MODELLED: Final[Mapping[str, frozenset[str]]] = {
    "BlockChaos": frozenset(),
    "DNSChaos": frozenset({"patterns"}),
    "HTTPChaos": frozenset({"abort", "code", "delay", "method", "path", "port", "replace.code", "target"}),
    "IOChaos": frozenset(
        {
            "attr.perm", "delay", "errno", "methods", "mistake.filling", "mistake.maxLength", "mistake.maxOccurrences",
            "path", "percent", "volumePath",
        }
    ),
    "JVMChaos": frozenset(
        {"class", "cpuCount", "exception", "latency", "memType", "method", "name", "returnValue", "ruleData"}
    ),
    "KernelChaos": frozenset(),
    "NetworkChaos": frozenset(
        {
            "bandwidth.buffer", "bandwidth.limit", "bandwidth.rate", "corrupt.correlation", "corrupt.corrupt",
            "delay.correlation", "delay.jitter", "delay.latency", "delay.reorder.correlation", "delay.reorder.gap",
            "delay.reorder.reorder", "device", "direction", "externalTargets", "loss.correlation", "loss.loss",
            "rate.rate", "target.mode", "target.selector.*", "target.value", "targetDevice",
        }
    ),
    "PodChaos": frozenset({"gracePeriod"}),
    "StressChaos": frozenset(
        {
            "stressors.cpu.load", "stressors.cpu.workers", "stressors.memory.oomScoreAdj", "stressors.memory.size",
            "stressors.memory.workers",
        }
    ),
    "TimeChaos": frozenset({"clockIds", "timeOffset"}),
}  # fmt: skip

#: Fields that change nothing that a simulated program could observe.
WITHOUT_EFFECT: Final[Mapping[str, frozenset[str]]] = {
    "JVMChaos": frozenset({"port", "pid"}),
    "NetworkChaos": frozenset({"duplicate.*"}),
}

#: Kinds and fields that reach outside of the cluster's pods; another rule rejects them.
ELSEWHERE: Final = frozenset({"AWSChaos", "AzureChaos", "GCPChaos", "PhysicalMachineChaos", "remoteCluster"})
EXPERIMENTS = json.loads(DATA.read_text())["experiments"]
KINDS = sorted(set(EXPERIMENTS) - ELSEWHERE)


def fields(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    schema = schema.get("anyOf", [schema])[0]
    if parts := schema.get("properties"):
        for name, part in parts.items():
            yield from fields(part, f"{prefix}{name}.")
    else:
        yield prefix[:-1]


def covers(entry: str, field: str) -> bool:
    return entry == field or (entry.endswith(".*") and field.startswith(entry[:-1]))


def entries(kind: str) -> list[str]:
    tables = (MODELLED, WITHOUT_EFFECT, chaos_fields.UNMODELLED)
    return [entry for table in tables for entry in table.get(kind, ())]


def test_field_table_covers_every_kind() -> None:
    assert set(KINDS) == set(MODELLED)


@pytest.mark.parametrize("kind", KINDS)
def test_field_table_lists_each_field_once(kind: str) -> None:
    known = [*COMMON, *ELSEWHERE, *entries(kind)]
    counts = {field: sum(covers(entry, field) for entry in known) for field in fields(EXPERIMENTS[kind])}
    assert {field: n for field, n in counts.items() if n != 1} == {}


@pytest.mark.parametrize("kind", KINDS)
def test_field_table_has_no_unknown_field(kind: str) -> None:
    there = list(fields(EXPERIMENTS[kind]))
    assert [entry for entry in entries(kind) if not any(covers(entry, field) for field in there)] == []


def blind(kind: str, **spec: Any) -> list[str]:
    return [
        each.field for each in chaos_fields.find_blind_fields({"kind": kind, "metadata": {"name": "x"}, "spec": spec})
    ]


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("StressChaos", {"stressors": {"memory": {"workers": 1, "size": "256MB"}}}, []),
        ("StressChaos", {"stressors": {"memory": {"workers": 1, "size": "80%"}}}, ["stressors.memory.size"]),
        ("StressChaos", {"stressors": {"memory": {"workers": 1}}}, []),
        ("StressChaos", {"stressors": {"cpu": {"workers": 2, "load": 80}}}, []),
        (
            "StressChaos",
            {"stressors": {"cpu": {"workers": 2, "options": ["--cpu-method all"]}}},
            ["stressors.cpu.options"],
        ),
        ("StressChaos", {"stressors": {"memory": {"size": "1GB", "oomScoreAdj": -1000}}}, []),
        ("StressChaos", {"stressors": {"memory": {"size": "1GB", "oomScoreAdj": 500}}}, []),
        ("StressChaos", {"stressngStressors": "--vm 2"}, ["stressngStressors"]),
        ("HTTPChaos", {"target": "Response", "port": 80, "replace": {"code": 503}}, []),
        ("HTTPChaos", {"target": "Response", "port": 80, "replace": {"body": "e30="}}, ["replace.body"]),
        (
            "HTTPChaos",
            {"target": "Response", "port": 80, "patch": {"body": {"type": "JSON", "value": "{}"}}},
            ["patch.*"],
        ),
        ("HTTPChaos", {"target": "Request", "port": 80, "request_headers": {"a": "b"}}, ["request_headers"]),
        ("NetworkChaos", {"action": "delay", "delay": {"latency": "1s", "jitter": "1ms", "correlation": "25"}}, []),
        (
            "NetworkChaos",
            {"action": "delay", "delay": {"latency": "1s", "reorder": {"reorder": "50", "gap": 5}}},
            [],
        ),
        ("NetworkChaos", {"action": "loss", "externalTargets": ["10.0.0.1:80"]}, ["externalTargets"]),
        ("NetworkChaos", {"action": "loss", "externalTargets": ["10.0.0.1", "10.0.0.0/8", "cart.shop"]}, []),
        ("NetworkChaos", {"action": "loss", "device": "eth0"}, []),
        ("NetworkChaos", {"action": "loss", "device": "eth1"}, ["device"]),
        ("IOChaos", {"action": "attrOverride", "attr": {"perm": 72}}, []),
        ("IOChaos", {"action": "attrOverride", "attr": {"size": 0, "uid": 7}}, ["attr.uid"]),
        ("TimeChaos", {"timeOffset": "1h", "clockIds": ["CLOCK_MONOTONIC"]}, ["clockIds"]),
        ("TimeChaos", {"timeOffset": "1h"}, []),
        ("JVMChaos", {"action": "mysql", "mysqlConnectorVersion": "8", "latency": 1000}, ["action"]),
        ("JVMChaos", {"action": "stress", "memType": "stack"}, ["memType"]),
        ("KernelChaos", {"failKernRequest": {"failtype": 0}}, ["failKernRequest.*"]),
        (
            "BlockChaos",
            {"action": "delay", "volumeName": "data", "delay": {"latency": "1s"}},
            ["volumeName", "delay.*"],
        ),
    ],
)
def test_blind_fields_are_listed(kind: str, spec: dict[str, Any], expected: list[str]) -> None:
    assert blind(kind, **spec) == expected


def test_blind_fields_of_a_scheduled_experiment_are_listed() -> None:
    assert blind("Schedule", type="HTTPChaos", httpChaos={"patch": {"queries": [["a", "b"]]}}) == ["patch.*"]
