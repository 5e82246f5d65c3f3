"""How many objects one run of a solver may create."""

from __future__ import annotations

import pytest

from scenario_kit.solver.gateway.answers import BadCall
from scenario_kit.solver.gateway.created_objects import MOST_OBJECTS, add_objects, count_objects
from scenario_kit.solver.gateway.kubectl_command import parse_kubectl

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("text", "stdin", "count"),
    [
        ("get pods", "", 0),
        ("scale deploy/x --replicas=3", "", 0),
        ("patch deploy/x -p '{}'", "", 0),
        ("delete pod x", "", 0),
        ("create configmap a", "", 1),
        ("run a --image=busybox", "", 1),
        ("autoscale deploy/x --max=3", "", 1),
        ("apply -f -", POD, 1),
        ("apply -f -", "---\n".join([POD] * 3), 3),
        ("create -f -", '{"kind": "List", "items": [{"kind":"Pod"}, {"kind" : "Pod"}]}', 3),
        ("apply -f -", "- {apiVersion: v1, kind: Pod}\n- {kind: Pod}\n", 2),
        ("apply -f -", "'kind': Pod\n", 1),
        ("apply -f -", "note: mankind: no\n", 1),
        ("apply -f - --dry-run=server", POD, 0),
        ("apply -f - --dry-run=none", POD, 1),
    ],
)
def test_created_objects_are_counted(text: str, stdin: str, count: int) -> None:
    assert count_objects(parse_kubectl(text, stdin)) == count


def test_one_run_creates_a_limited_number() -> None:
    created = 0
    for _ in range(MOST_OBJECTS):
        created = add_objects(created, parse_kubectl("create configmap a"))
    with pytest.raises(BadCall) as refused:
        add_objects(created, parse_kubectl("create configmap a"))
    assert str(MOST_OBJECTS) in str(refused.value)
    assert add_objects(created, parse_kubectl("scale deploy/x --replicas=3")) == created


def test_manifest_with_too_many_objects_is_refused_as_a_whole() -> None:
    with pytest.raises(BadCall):
        add_objects(0, parse_kubectl("apply -f -", "---\n".join([POD] * (MOST_OBJECTS + 1))))
