"""Properties of programs in containers for the chaos daemon: Java agents and mounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from scenario_kit.lab.kubelet.image.processes import Attaching, Mounting
from scenario_kit.lab.server.containers import RunningContainers
from scenario_kit.lab.worlds import Worlds
from scenario_kit.model.base import Object


class RunningPrograms:
    """Implements ``chaos_daemon.handlers.Programs`` with the world of a container's namespace."""

    def __init__(self, containers: RunningContainers, worlds: Worlds) -> None:
        self._containers = containers
        self._worlds = worlds

    def explain_attach_failure(self, container_id: str) -> Literal["", "NoJava", "NoShell", "Unknown"]:
        """Return why no agent can be loaded into a running container's program; empty if one can."""
        known, spec = self._known(container_id)
        return known.explain_attach_failure(spec) if known is not None else "Unknown"

    def unknown(self, container_id: str, rules: Sequence[Mapping[str, Any]]) -> str:
        """Return which of these rules are not modelled for that program; empty if all are."""
        known, spec = self._known(container_id)
        return known.unknown(spec, rules) if known is not None else ""

    def mounts(self, container_id: str) -> Sequence[str]:
        """Return the mount points of a running container: from its pod, and the volumes of its image."""
        spec = self._containers.spec_of(container_id) or {}
        processes = self._worlds.get_processes(self._containers.namespace_of(container_id) or "")
        # A subPath may be a single file, which is not a mount point for the injector.
        own = [str(each["mountPath"]) for each in spec.get("volumeMounts") or () if "subPath" not in each]
        return [*own, *(processes.volumes(spec) if isinstance(processes, Mounting) and spec.get("image") else ())]

    def _known(self, container_id: str) -> tuple[Attaching | None, Object]:
        spec = self._containers.spec_of(container_id)
        processes = self._worlds.get_processes(self._containers.namespace_of(container_id) or "")
        return (processes if spec is not None and isinstance(processes, Attaching) else None), spec or {}
