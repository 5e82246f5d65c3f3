"""What the chaos daemon asks about programs before it loads an agent into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from scenario_kit.lab.kubelet.processes import Attaching
from scenario_kit.lab.server.containers import RunningContainers
from scenario_kit.lab.worlds import Worlds
from scenario_kit.model.base import Object


class RunningPrograms:
    """Implements ``chaos_daemon.calls.Programs``: the world of a container's namespace knows what runs in it."""

    def __init__(self, containers: RunningContainers, worlds: Worlds) -> None:
        self._containers = containers
        self._worlds = worlds

    def barred(self, container_id: str) -> Literal["", "NoJava", "NoShell"]:
        """Why no agent can be loaded into the program of a running container; empty where one can."""
        known, spec = self._known(container_id)
        return known.barred(spec) if known is not None else "NoJava"

    def unknown(self, container_id: str, rules: Sequence[Mapping[str, Any]]) -> str:
        """What of these rules nobody knows the consequences of in that program; empty where there is nothing."""
        known, spec = self._known(container_id)
        return known.unknown(spec, rules) if known is not None else ""

    def _known(self, container_id: str) -> tuple[Attaching | None, Object]:
        spec = self._containers.spec_of(container_id)
        processes = self._worlds.processes_of(self._containers.namespace_of(container_id) or "")
        return (processes if spec is not None and isinstance(processes, Attaching) else None), spec or {}
