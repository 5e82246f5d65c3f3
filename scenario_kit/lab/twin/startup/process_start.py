"""Process starts as seen by the kubelet: existence of images, and start-up."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import msgspec

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.lab.twin.startup.client_commands import Sessions
from scenario_kit.lab.twin.startup.debug_pods import run_command
from scenario_kit.lab.twin.startup.init_wait import read_script, waits
from scenario_kit.lab.twin.startup.invalid_ports import find_invalid_port
from scenario_kit.lab.twin.startup.startup_dependencies import StartupDependencies
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.image import is_tool, normalize_image
from scenario_kit.model.runtime.process import Exit, InitState, LogRecord, ProcessStart
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.edge import Edge

_KILLED_AFTER = 1.0
#: How long a Job's program runs that the app's definition does not have; it is assumed to succeed.
_TASK_SECONDS = 5.0


class Startup:
    """Answer the kubelet from the last view. ``lines`` collects the output of starting processes."""

    def __init__(
        self, parameters: TwinDefinition, images: Sequence[str], process_table: ProcessTable, sessions: Sessions
    ) -> None:
        self._parameters = parameters
        self._images = {normalize_image(image) for image in (*images, *parameters.images)}
        self._process_table = process_table
        self._sessions = sessions
        self._dependencies = StartupDependencies(parameters)
        self.lines: list[LogRecord] = []

    def edge(self, caller: str, callee: str) -> Edge:
        """Return the edge between two components."""
        return self._dependencies.edge(caller, callee)

    def image_exists(self, image: str) -> bool:
        """Return whether the image is one of the application's, the platform's, or a pause image."""
        name = normalize_image(image)
        return name in self._images or any(fnmatchcase(name, pattern) for pattern in self._parameters.idle_images)

    def start(self, view: View, network: Network, pod: Object, container: str, now: float) -> ProcessStart:
        """Return how a container's process that starts now comes up."""
        spec = _find_container(pod, container)
        process = self._process_table.start_process(view, pod, spec, now)
        if self._sessions.concern(spec):
            return self._sessions.start(process, network, now)
        if not process.component and is_tool(process.image):
            seen = run_command(view.within(pod["metadata"].get("namespace", view.namespace)), network, process)
            if seen is not None:
                return ProcessStart(seen.seconds, self._exit(process, seen.code, ""), seen.lines)
        if process.idle:
            return ProcessStart(process.ready_at - now)
        if not process.component and not is_tool(process.image) and _is_of_job(pod):
            return ProcessStart(_TASK_SECONDS, self._exit(process, 0, ""))
        refusal = self._refusal(process)
        if refusal is None:
            state = self._dependencies.begin(process, network, now)
            if state.up:
                self._up(process, state.at)
                return ProcessStart(process.ready_at - now)
            process.ready_at = float("inf")
            if state.at == float("inf"):  # it waits; reported by ``run`` later
                return ProcessStart(state.at)
            refusal = state.at - now, self._exit(process, state.code, state.text)
        process.ready_at = float("inf")
        self._print(process, now + refusal[0], refusal[1].text)
        return ProcessStart(*refusal)

    def init(self, view: View, network: Network, pod: Object, container: str, now: float) -> InitState:
        """Return the state of an init container; one that waits for a port or a name runs until that is available."""
        self._process_table.files(view, pod)
        spec = _find_container(pod, container)
        if any(fnmatchcase(normalize_image(spec["image"]), pattern) for pattern in self._parameters.idle_images):
            return InitState("Running")
        found = read_script(view, pod, spec)
        for wait in waits(found):
            state = wait.state(pod, network, now)
            if state is not None:
                return state
        return InitState("Succeeded")

    def run(self, network: Network, now: float) -> tuple[bool, list[Exit]]:
        """Advance waiting processes to ``now``; return whether any started, and those that exited."""
        exits = []
        decided = list(self._dependencies.run(self._process_table.processes, network, now))
        for process, state in decided:
            if state.up:
                self._up(process, state.at)
            else:
                process.ended = True
                self._print(process, state.at, state.text)
                exits.append(self._exit(process, state.code, state.text))
        return bool(decided), exits

    def _up(self, process: Process, t: float) -> None:
        process.ready_at = t + process.start_seconds
        port = next((entry.number for entry in process.listeners), 0)
        for text in process.model.banner if process.model else ():
            self._print(process, process.ready_at, text.replace("{port}", str(port)))

    def _refusal(self, process: Process) -> tuple[float, Exit] | None:
        """Return the failure of a start that is independent of others, and its delay; None if there is none."""
        model = process.model
        if model is None:
            return None
        limit = process.limit("memory")
        if limit is not None and model.memory_mib * 2.0**20 > limit:
            return _KILLED_AFTER, Exit(process.key.pod_uid, process.key.container, 137, "OOMKilled")
        for pattern in model.start.env:
            variable = _find_missing(process, pattern)
            if variable:
                text = model.start.env_text.replace("{variable}", variable)
                return model.start.exit_delay_seconds, self._exit(process, model.start.env_code, text)
        if (failure := find_invalid_port(process)) is not None:
            return model.start.exit_delay_seconds, self._exit(process, failure.code, failure.text)
        for key, text in model.start.keys.items():
            if process.config is not None and not process.config.get(key):
                return model.start.exit_delay_seconds, self._exit(process, model.start.keys_code, text)
        return None

    @staticmethod
    def _exit(process: Process, code: int, text: str) -> Exit:
        return Exit(process.key.pod_uid, process.key.container, code, "Error" if code else "Completed", text)

    def _print(self, process: Process, t: float, text: str) -> None:
        self.lines += [LogRecord(process.name, process.key.container, t, line) for line in text.splitlines()]


def _is_of_job(pod: Object) -> bool:
    return any(owner.get("kind") == "Job" for owner in pod["metadata"].get("ownerReferences") or ())


def _find_missing(process: Process, pattern: str) -> str:
    """Return a required variable that is empty or missing."""
    if "*" not in pattern:
        return "" if process.env.get(pattern) else pattern
    defined = [e["name"] for e in process.spec.get("env") or () if fnmatchcase(e["name"], pattern)]
    return next((name for name in defined if not process.env.get(name)), "")


def _find_container(pod: Object, name: str) -> Object:
    spec = pod["spec"]
    everything = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return msgspec.to_builtins(next(c for c in everything if c["name"] == name))  # type: ignore[no-any-return]
