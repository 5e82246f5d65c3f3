"""Detect capabilities of a cluster with one cheap API request each."""

from __future__ import annotations

from fnmatch import fnmatchcase

from scenario_kit.errors import NotFound
from scenario_kit.model import Object
from scenario_kit.model.authored.capability import Canary, FieldCondition, Find
from scenario_kit.model.re2 import compile_pattern
from scenario_kit.observe.jsonpath import find
from scenario_kit.ports import Cluster

_ARGUMENT = "{argument}"


def has_capability(canary: Canary, argument: str, cluster: Cluster) -> bool:
    """Return whether a canary finds its objects; False for capabilities independent of the cluster.

    Raises:
        ClusterError: the API server does not answer.
    """
    if canary.served is not None:
        served = {k.kind for k in cluster.kinds() if k.group == canary.served.group}
        return served.issuperset(canary.served.kinds)
    return canary.find is not None and _finds(canary.find, argument, cluster)


def _finds(desired: Find, argument: str, cluster: Cluster) -> bool:
    try:
        objects = cluster.list(desired.kind, desired.namespace, group=desired.group)
    except NotFound:
        return False  # the kind is not served
    names = [n.replace(_ARGUMENT, argument) for n in desired.names]
    found = [
        o
        for o in objects
        if (not names or any(fnmatchcase(o["metadata"]["name"], n) for n in names))
        and all(_holds(c, o) for c in desired.where)
    ]
    return len(found) >= int(desired.at_least.replace(_ARGUMENT, argument))


def _holds(condition: FieldCondition, obj: Object) -> bool:
    values = find(obj, condition.path)
    if condition.absent:
        return not any(values)
    if condition.at_least is not None:
        return any(isinstance(v, int) and v >= condition.at_least for v in values)
    if condition.not_equals is not None:
        return any(v != condition.not_equals for v in values)
    return any(compile_pattern(condition.matches or "").found_in(str(v)) for v in values)
