"""Restarts of a documented solution as kubectl commands."""

from __future__ import annotations

import pytest

from scenario_kit.exporters.kubectl_repair import _build_call
from scenario_kit.model import Change

PG = {"kind": "StatefulSet", "metadata": {"name": "pg"}, "spec": {"replicas": 2}}


@pytest.mark.parametrize(
    ("restart", "command"),
    [
        ({"target": "Deployment/web"}, "kubectl rollout restart deployment/web"),
        ({"target": "Deployment/web", "dropOld": True}, "kubectl rollout restart deployment/web"),
        ({"target": "StatefulSet/pg"}, "kubectl rollout restart statefulset/pg"),
        ({"target": "StatefulSet/pg", "dropOld": True}, "kubectl delete pod pg-0 pg-1"),
    ],
)
def test_restart_as_command(restart: dict, command: str) -> None:
    call = _build_call(Change.from_json({"restart": restart}), [PG])
    assert call is not None
    assert call["arguments"]["cmd"] == command
