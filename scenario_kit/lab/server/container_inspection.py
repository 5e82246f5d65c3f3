"""What the chaos daemon asks about programs before it loads an agent into one, or gets between it and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from scenario_kit.lab.kubelet.image.processes import Attaching, Mounting
from scenario_kit.lab.server.containers import RunningContainers
from scenario_kit.lab.worlds import Worlds
from scenario_kit.model.base import Object


class RunningPrograms:
    """Implements ``chaos_daemon.calls.Programs``: the world of a container's namespace knows what runs in it."""

    def __init__(self, containers: RunningContainers, worlds: Worlds) -> None:
        self._containers = containers
        self._worlds = worlds

    def barred(self, container_id: str) -> Literal["", "NoJava", "NoShell", "Unknown"]:
        """Return why no agent can be loaded into the program of a running container; empty where one can."""
        known, spec = self._known(container_id)
        return known.barred(spec) if known is not None else "Unknown"

    def unknown(self, container_id: str, rules: Sequence[Mapping[str, Any]]) -> str:
        """Return what of these rules nobody knows the consequences of in that program; empty where there is nothing."""
        known, spec = self._known(container_id)
        return known.unknown(spec, rules) if known is not None else ""

    def mounts(self, container_id: str) -> Sequence[str]:
        """Return where something is mounted in a running container: what its pod mounts, and the volumes of
        its image.
        """
        spec = self._containers.spec_of(container_id) or {}
        processes = self._worlds.processes_of(self._containers.namespace_of(container_id) or "")
        # A part of a volume may be a single file, over which nothing can be mounted.
        own = [str(each["mountPath"]) for each in spec.get("volumeMounts") or () if "subPath" not in each]
        return [*own, *(processes.volumes(spec) if isinstance(processes, Mounting) and spec.get("image") else ())]

    def _known(self, container_id: str) -> tuple[Attaching | None, Object]:
        spec = self._containers.spec_of(container_id)
        processes = self._worlds.processes_of(self._containers.namespace_of(container_id) or "")
        return (processes if spec is not None and isinstance(processes, Attaching) else None), spec or {}
