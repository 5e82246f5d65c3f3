"""The running processes, with the configuration each read at its start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.environment import build_environment, expand
from scenario_kit.lab.twin.cluster.files import parse_configuration, read_mounted
from scenario_kit.lab.twin.process.process import Process, ProcessKey, identify, list_listeners
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.status import list_serving_statuses, rank_by_age
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.model.re2 import compile_pattern
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.model.twin.definition import TwinDefinition

#: A login that no client has: a store with only this one requires authentication and rejects every client.
NO_LOGIN: Final = ("\0", "")


class ProcessTable:
    """Track processes across views, from the first view that shows a process to the first that does not.

    The configuration is read when the kubelet requests the start, or else at the first view that shows the process.
    """

    def __init__(self, parameters: TwinDefinition) -> None:
        self._parameters = parameters
        self._born: dict[tuple[str, str], Process] = {}
        self._files: dict[str, Mapping[str, str]] = {}
        self._version: int | None = None
        self.processes: dict[ProcessKey, Process] = {}
        self.by_component: dict[str, list[Process]] = {}
        self.by_ip: dict[str, list[Process]] = {}

    def get(self, key: ProcessKey) -> Process | None:
        """Return the running process with that key."""
        return self.processes.get(key)

    def find(self, pod_uid: str, container: str) -> Process | None:
        """Return the running, or last started, process of a container."""
        born = self._born.get((pod_uid, container))
        return born or next((p for k, p in self.processes.items() if k[:2] == (pod_uid, container)), None)

    def of(self, component: str) -> list[Process]:
        """Return the running processes of a component by ordinal: by age of the pod, then by name."""
        return self.by_component.get(component, [])

    def program(self, component: str) -> str:
        """Return a component's program; empty if no other component runs the same."""
        model = self._parameters.components.get(component)
        return model.program if model is not None else ""

    def start_process(self, view: View, pod: Object, spec: Object, now: float) -> Process:
        """Start a container's process: it reads its environment and the files in its pod's volumes."""
        uid = str(pod["metadata"]["uid"])
        view = view.within(pod["metadata"].get("namespace", view.namespace))
        env = build_environment(view, pod, spec)
        identity = identify(self._parameters, spec)
        config = _read_config(view, identity.model, pod, spec)
        process = Process(
            key=ProcessKey(uid, spec["name"], ""),
            pod=pod,
            spec=spec,
            image=spec["image"],
            component=identity.component,
            model=identity.model,
            idle=identity.idle,
            env=env,
            started_at=now,
            ready_at=now,
            start_cpu=identity.model.start_cpu_seconds * self._parameters.constants.cpu_scale
            if identity.model
            else 0.0,
            logins=_read_logins(view, identity.model, spec, env),
            databases=frozenset(_find_databases(view, identity.model, env)),
            files=self.files(view, pod),
            listeners=list_listeners(identity, spec, env, config),
            config=config,
        )
        process.ready_at = now + process.start_seconds
        self._born[uid, spec["name"]] = process
        return process

    def files(self, view: View, pod: Object) -> Mapping[str, str]:
        """Return the flag document that a pod copied at its initialisation; container restarts keep the copy."""
        uid = pod["metadata"]["uid"]
        flags = self._parameters.flags
        if uid not in self._files and flags is not None:
            data = (view.kind("ConfigMap").get(flags.config_map) or {}).get("data") or {}
            self._files[uid] = {flags.key: str(data.get(flags.key, ""))}
        return self._files.get(uid, {})

    def observe(self, view: View, t: float) -> bool:
        """Update to a view; return whether anything may have changed."""
        if self._version == view.version:
            return False
        self._version = view.version
        found: dict[ProcessKey, Process] = {}
        for pod in view.list_all("Pod"):
            for process in self._of_pod(view, pod, t):
                found[process.key] = process
        self.processes = found
        uids = {pod["metadata"]["uid"] for pod in view.list_all("Pod")}
        self._files = {uid: files for uid, files in self._files.items() if uid in uids}
        self._born = {key: process for key, process in self._born.items() if key[0] in uids}
        self._index()
        return True

    def _of_pod(self, view: View, pod: Object, t: float) -> list[Process]:
        uid = str(pod["metadata"]["uid"])
        statuses = {s["name"]: s for s in list_serving_statuses(pod)}
        result = []
        for spec in list_serving_containers(pod["spec"]):
            status = statuses.get(spec["name"]) or {}
            running = (status.get("state") or {}).get("running")
            if running is None:
                continue
            instance = status.get("containerID") or f"run-{status.get('restartCount', 0)}"
            key = ProcessKey(uid, spec["name"], str(instance))
            process = self.processes.get(key)
            if process is None:
                process = self._born.get((uid, spec["name"]))
                # A start of another image without a request leaves the record of an older, failed start behind.
                if process is None or process.image != spec["image"]:
                    process = self.start_process(view, pod, spec, read_start(running, t))
                del self._born[uid, spec["name"]]
                process.key = key
            process.pod = pod
            result.append(process)
        return result

    def _index(self) -> None:
        self.by_component = {}
        self.by_ip = {}
        for process in sorted(self.processes.values(), key=_age):
            self.by_component.setdefault(process.component, []).append(process)
            if process.ip:
                self.by_ip.setdefault(process.ip, []).append(process)
        for group in self.by_component.values():
            for ordinal, process in enumerate(group):
                process.ordinal = ordinal


def _read_config(view: View, model: ComponentModel | None, pod: Object, spec: Object) -> Mapping[str, str] | None:
    text = read_mounted(view, pod, spec, model.config) if model and model.config else None
    return None if text is None else parse_configuration(text)


def _age(process: Process) -> tuple[str, ...]:
    return (*rank_by_age(process.pod), process.key.container)


def _read_logins(
    view: View, model: ComponentModel | None, spec: Object, env: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    result: list[tuple[str, str]] = []
    words = [expand(str(word), dict(env)) for word in (*(spec.get("command") or ()), *(spec.get("args") or ()))]
    for login in model.logins if model else ():
        if login.flag in words:
            following = [w for w in words[words.index(login.flag) + 1 :][:1] if not w.startswith("-")]
            result.append(("", following[0]) if following else NO_LOGIN)
        if login.password_env:
            user, password = env.get(login.user_env, login.user or None), env.get(login.password_env)
            if user is not None and password is not None:
                result.append((user, password))
        if login.config_map:
            text = _read_text(view, login.config_map, login.key)
            result += [(m["user"], m["password"]) for m in compile_pattern(login.pattern).groups(text)]
    return tuple(result)


def read_start(running: Object, now: float) -> float:
    """Return the start time of a running container by its status; at most ``now``."""
    text = running.get("startedAt")
    if not text:
        return now if math.isfinite(now) else 0.0
    return min(now, parse_timestamp(str(text)))


def _find_databases(view: View, model: ComponentModel | None, env: Mapping[str, str]) -> Iterator[str]:
    for database in model.databases if model else ():
        yield from filter(None, (database.name, next((env[name] for name in database.env if env.get(name)), "")))
        if database.config_map:
            text = _read_text(view, database.config_map, database.key)
            yield from (m["name"] for m in compile_pattern(database.pattern).groups(text))


def _read_text(view: View, config_map: str, key: str) -> str:
    """Return one value of a ConfigMap; empty if there is none."""
    return str(((view.kind("ConfigMap").get(config_map) or {}).get("data") or {}).get(key, ""))
