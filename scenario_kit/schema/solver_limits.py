"""Admission policies for solvers: how many pods one object may ask for, so that no run outgrows the cluster."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from scenario_kit.schema.policies import bound
from scenario_kit.schema.solver import SOLVER

#: The most pods that a solver may ask of one object: twice those of the largest app with its autoscalers.
MOST_REPLICAS: Final = 30


class _Limit(NamedTuple):
    """A limit on fields of some resources: the path to their object, the fields, and how messages call them."""

    name: str
    group: str
    resources: tuple[str, ...]
    path: tuple[str, ...]
    fields: tuple[str, ...]


_LIMITS: Final = (
    _Limit(
        "replicas", "apps",
        ("deployments", "statefulsets", "replicasets", "deployments/scale", "statefulsets/scale", "replicasets/scale"),
        ("spec",), ("replicas",),
    ),
    _Limit(
        "controllers", "", ("replicationcontrollers", "replicationcontrollers/scale"), ("spec",), ("replicas",)
    ),
    _Limit("autoscalers", "autoscaling", ("horizontalpodautoscalers",), ("spec",), ("minReplicas", "maxReplicas")),
    _Limit("jobs", "batch", ("jobs",), ("spec",), ("parallelism",)),
    _Limit("cronjobs", "batch", ("cronjobs",), ("spec", "jobTemplate", "spec"), ("parallelism",)),
)  # fmt: skip


def build_solver_limits() -> list[dict[str, Any]]:
    """Build the policies; a number that is above the limit already may stay or fall."""
    whom = [{"name": "solver", "expression": f"request.userInfo.username == '{SOLVER}'"}]
    found: list[dict[str, Any]] = []
    for each in _LIMITS:
        rule = {
            "apiGroups": [each.group], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
            "resources": list(each.resources),
        }  # fmt: skip
        validations = [_build_validation(each, field) for field in each.fields]
        found += bound(f"{SOLVER}-limits-{each.name}", [rule], validations, whom)
    return found


def _build_validation(limit: _Limit, field: str) -> dict[str, str]:
    at = ".".join((*limit.path, field))
    new, old = f"object.{at}", f"oldObject.{at}"
    kept = f"(request.operation == 'UPDATE' && {_test_presence('oldObject', limit.path, field)} && {new} <= {old})"
    return {
        "expression": f"!({_test_presence('object', limit.path, field)}) || {new} <= {MOST_REPLICAS} || {kept}",
        "messageExpression": f"'{at} is ' + string({new}) + '; a solver may ask for {MOST_REPLICAS} pods of one object "
        f"at most: write {MOST_REPLICAS} or less'",
        "message": f"{at} is too large; a solver may ask for {MOST_REPLICAS} pods of one object at most",
    }


def _test_presence(owner: str, path: tuple[str, ...], field: str) -> str:
    """Return a CEL test whether an object has a field, and everything above it."""
    steps = [".".join((owner, *path[: i + 1])) for i in range(len(path))]
    return " && ".join(f"has({step})" for step in (*steps, f"{steps[-1]}.{field}"))
