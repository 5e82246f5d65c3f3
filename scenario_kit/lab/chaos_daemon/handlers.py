"""Handlers of the daemon's calls: each changes the ledger and returns the fields of its reply.

Replies have what the manager stores in its status: process IDs and start times in milliseconds.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final, Literal, NamedTuple, Protocol

from scenario_kit.lab.chaos_daemon import byteman, io_chaos
from scenario_kit.lab.chaos_daemon.ledger import EffectKey, EffectStore, strip_scheme
from scenario_kit.lab.chaos_daemon.network import (
    Failed,
    NotSimulated,
    parse_address_set,
    parse_filter_rule,
    parse_traffic_rule,
)
from scenario_kit.model import ContainerEffect
from scenario_kit.model.chaos.times import parse_whole_seconds

#: The real daemon's errors if it cannot load an agent: no JVM responds, or there is no shell to copy files with.
_SILENT: Final = (
    "com.sun.tools.attach.AttachNotSupportedException: Unable to open socket file /tmp/.java_pid: target process "
    "doesn't respond within 10500ms or HotSpot VM not loaded: exit status 1"
)
_BARRED: Final = {"NoJava": _SILENT, "NoShell": "sh: No such file or directory: exit status 1"}


class CallTarget(NamedTuple):
    """The target of a call; empty for calls that name a process or an injection instead."""

    pod_uid: str = ""
    container_id: str = ""


#: The fields of a reply.
Reply = dict[str, Any]
Handler = Callable[[CallTarget, Any], Reply]


class Programs(Protocol):
    """The programs in containers, as far as Java agents and mounts are concerned."""

    def explain_attach_failure(self, container_id: str) -> Literal["", "NoJava", "NoShell", "Unknown"]:
        """Return why no agent can be loaded into a running container's program; empty if one can."""

    def unknown(self, container_id: str, rules: Sequence[Mapping[str, Any]]) -> str:
        """Return which of these rules (see ``byteman.parse_rules``) are not modelled for that program; empty if all
        are.
        """

    def mounts(self, container_id: str) -> Sequence[str]:
        """Return the mount points of a running container: from its pod, and the volumes of its image."""


class DaemonHandlers:
    """The sixteen calls. ``kill`` ends a container's process, given the pod's UID and the container ID."""

    def __init__(self, effect_store: EffectStore, kill: Callable[[str, str], None], programs: Programs) -> None:
        self._effect_store = effect_store
        self._kill = kill
        self._programs = programs
        # Process IDs keep increasing over restarts of the daemon: an old one must never name a new process.
        self._numbers = itertools.count(int(time.time()))

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by call name; a handler raises ``ValueError`` where the real daemon fails, too."""
        return {
            "FlushIPSets": self._flush_ip_sets,
            "SetIptablesChains": self._set_iptables_chains,
            "SetTcs": self._set_tcs,
            "ContainerKill": self._container_kill,
            "ContainerGetPid": self._container_get_pid,
            "ExecStressors": self._exec_stressors,
            "CancelStressors": self._cancel_stressors,
            "ApplyIOChaos": self._apply_io,
            "ApplyHttpChaos": self._apply_http,
            "ApplyBlockChaos": self._apply_block,
            "RecoverBlockChaos": self._recover_block,
            "SetDNSServer": self._set_dns_server,
            "SetTimeOffset": self._set_time_offset,
            "RecoverTimeOffset": self._recover_time_offset,
            "InstallJVMRules": self._install_jvm_rules,
            "UninstallJVMRules": self._uninstall_jvm_rules,
        }

    def _flush_ip_sets(self, target: CallTarget, request: Any) -> Reply:
        sets = {message.name: parse_address_set(message) for message in request.ipsets}
        self._effect_store.set_address_sets(target.pod_uid, sets)
        return {}

    def _set_iptables_chains(self, target: CallTarget, request: Any) -> Reply:
        rules = [parse_filter_rule(target.pod_uid, message) for message in request.chains]
        self._effect_store.set_filters(target.pod_uid, rules)
        return {}

    def _set_tcs(self, target: CallTarget, request: Any) -> Reply:
        rules = [parse_traffic_rule(target.pod_uid, message) for message in request.tcs]
        self._effect_store.set_traffic(target.pod_uid, rules)
        return {}

    def _container_kill(self, target: CallTarget, request: Any) -> Reply:
        _require_action(request, "KILL")
        self._kill(target.pod_uid, target.container_id)
        return {}

    def _container_get_pid(self, target: CallTarget, request: Any) -> Reply:
        _require_action(request, "GETPID")
        return {"pid": int(hashlib.sha256(target.container_id.encode()).hexdigest()[:4], 16) + 2}

    def _exec_stressors(self, target: CallTarget, request: Any) -> Reply:
        effects: list[tuple[EffectKey, ContainerEffect]] = []
        reply: Reply = {}
        for resource, flags in (("cpu", request.cpuStressors), ("memory", request.memoryStressors)):
            if not flags.strip():
                continue  # zero workers: nothing runs, yet the manager reports success
            arguments: dict[str, Any] = {"resource": resource, **_parse_flags(flags)}
            if resource == "memory":
                arguments["oomScoreAdj"] = request.oomScoreAdj
            number = str(next(self._numbers))
            effects.append((EffectKey("Stress", number), _build_effect(target, "Stress", arguments)))
            reply |= {
                f"{resource}Instance": number,
                f"{resource}StartTime": _read_milliseconds(),
                f"{resource}InstanceUid": f"{resource}-{number}",
            }
        for key, effect in effects:
            self._effect_store.put(key, effect)
        return reply

    def _cancel_stressors(self, _: CallTarget, request: Any) -> Reply:
        # The manager sends process IDs only; the UIDs of the reply are not in its status.
        numbers = [request.cpuInstance or request.cpuInstanceUid.removeprefix("cpu-")]
        numbers += [request.memoryInstance or request.memoryInstanceUid.removeprefix("memory-")]
        for number in filter(None, numbers):
            self._effect_store.remove(EffectKey("Stress", number))
        return {}

    def _apply_io(self, target: CallTarget, request: Any) -> Reply:
        found = _parse_json_list(request.actions, "actions")
        key = EffectKey("IO", strip_scheme(target.container_id))
        if not found:
            self._effect_store.remove(key)
            return {"instance": 0, "startTime": 0}
        volume = io_chaos.require_mount(request.volume, self._programs.mounts(target.container_id))
        effect = _build_effect(target, "IO", {"volume": volume, "actions": io_chaos.parse_actions(found)})
        self._effect_store.put(key, effect)
        return self._describe_process(request)

    def _apply_http(self, target: CallTarget, request: Any) -> Reply:
        rules = _parse_json_list(request.rules, "rules")
        key = EffectKey("HTTP", strip_scheme(target.container_id))
        reply = {**self._describe_process(request), "statusCode": 200}
        if not rules:
            self._effect_store.remove(key)
            return reply
        if misread := _find_misread_delay(rules):
            return {**reply, "statusCode": 400, "error": misread}
        arguments = {"rules": rules, "proxyPorts": list(request.proxy_ports), "tls": bool(request.tls)}
        effect = _build_effect(target, "HTTP", arguments)
        self._effect_store.put(key, effect)
        return reply

    def _apply_block(self, target: CallTarget, request: Any) -> Reply:
        number = next(self._numbers) % 2**31
        delay = {name: getattr(request.delay, name) for name in ("delay", "jitter", "correlation")}
        effect = _build_effect(target, "Block", {"volume": request.volume_path, "delay": delay})
        self._effect_store.put(EffectKey("Block", str(number)), effect)
        return {"injection_id": number}

    def _recover_block(self, _: CallTarget, request: Any) -> Reply:
        self._effect_store.remove(EffectKey("Block", str(request.injection_id)))
        return {}

    def _set_dns_server(self, target: CallTarget, request: Any) -> Reply:
        key = EffectKey("DNS", strip_scheme(target.container_id))
        if not request.enable:
            self._effect_store.remove(key)
            return {}
        ip_address(request.dns_server)
        effect = _build_effect(target, "DNS", {"server": request.dns_server})
        self._effect_store.put(key, effect)
        return {}

    def _set_time_offset(self, target: CallTarget, request: Any) -> Reply:
        clocks = [clock for clock in range(64) if request.clk_ids_mask >> clock & 1]
        effect = _build_effect(target, "Time", {"seconds": request.sec, "nanoseconds": request.nsec, "clocks": clocks})
        self._effect_store.put(_make_time_key(request), effect)
        return {}

    def _recover_time_offset(self, _: CallTarget, request: Any) -> Reply:
        self._effect_store.remove(_make_time_key(request))
        return {}

    def _install_jvm_rules(self, target: CallTarget, request: Any) -> Reply:
        if barred := self._programs.explain_attach_failure(target.container_id):
            # The program of a terminating container is unknown: the next one may be a Java program.
            raise Failed(_SILENT) if barred == "Unknown" else ValueError(_BARRED[barred])
        rules = byteman.parse_rules(request.rule)
        if unknown := self._programs.unknown(target.container_id, rules):
            raise NotSimulated(unknown)
        effect = _build_effect(target, "JVM", {"port": request.port, "rules": rules})
        self._effect_store.put(_make_jvm_key(target, request), effect)
        return {}

    def _uninstall_jvm_rules(self, target: CallTarget, request: Any) -> Reply:
        self._effect_store.remove(_make_jvm_key(target, request))
        return {}

    def _describe_process(self, request: Any) -> Reply:
        """Describe the helper process of an HTTP or IO call, which may already exist."""
        number = request.instance or next(self._numbers)
        return {
            "instance": number,
            "startTime": request.startTime or _read_milliseconds(),
            "instance_uid": request.instance_uid or f"helper-{number}",
        }


def _find_misread_delay(rules: Sequence[Mapping[str, Any]]) -> str:
    """Return the proxy's error for a delay that it cannot parse; empty if it can parse all."""
    for rule in rules:
        delay = (rule.get("actions") or {}).get("delay")
        if delay is None:
            continue
        try:
            parse_whole_seconds(str(delay))
        except ValueError as error:
            return str(error)
    return ""


def _build_effect(target: CallTarget, kind: str, arguments: dict[str, Any]) -> ContainerEffect:
    return ContainerEffect(pod_uid=target.pod_uid, container_id=target.container_id, kind=kind, arguments=arguments)


def _make_time_key(request: Any) -> EffectKey:
    return EffectKey("Time", f"{request.pod_container_name}/{request.uid}")


def _make_jvm_key(target: CallTarget, request: Any) -> EffectKey:
    rule = hashlib.sha256(request.rule.encode()).hexdigest()
    return EffectKey("JVM", f"{strip_scheme(target.container_id)}/{request.port}/{rule}")


def _parse_flags(text: str) -> dict[str, Any]:
    """Parse a stressor's flags, with numbers as numbers: ``--cpu 2 --cpu-load 80`` is ``{cpu: 2, cpu-load: 80}``."""
    result: dict[str, Any] = {}
    name = ""
    for word in shlex.split(text):
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            result[name] = _parse_number(value) if value else True
        elif name:
            result[name] = _parse_number(word)
            name = ""  # a flag has one value: of `--size 256 MB`, the stressor reads 256
    return result


def _parse_number(word: str) -> int | str:
    return int(word) if word.lstrip("-").isdecimal() else word


def _parse_json_list(text: str, what: str) -> list[dict[str, Any]]:
    value = json.loads(text or "null")
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"{what}: expected a JSON list of objects, found {text}")
    return value


def _require_action(request: Any, desired: str) -> None:
    action = request.action.DESCRIPTOR.enum_types_by_name["Action"].values_by_number[request.action.action].name
    if action != desired:
        raise ValueError(f"container action is {action}, expected {desired}")


def _read_milliseconds() -> int:
    return int(time.time() * 1000)
