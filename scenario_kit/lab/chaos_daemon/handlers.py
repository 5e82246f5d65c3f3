"""What each of the daemon's calls means for the ledger, and what it answers.

Handlers are pure readers of the request: they return an ``CallOutcome`` whose ``change`` is carried out by the server,
unless a knob says otherwise. The replies carry what the manager writes into its status as evidence: process numbers and
start times in milliseconds.
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
from scenario_kit.lab.chaos_daemon.ledger import EffectKey, LedgerBook, strip_scheme
from scenario_kit.lab.chaos_daemon.network import (
    Failed,
    NotSimulated,
    filter_rule,
    parse_address_set,
    parse_traffic_rule,
)
from scenario_kit.model import ContainerEffect

Intent = Literal["Apply", "Recover", ""]

#: How the real daemon ends where it cannot load an agent: nobody answers its tool, or it has no shell to copy files by.
_SILENT: Final = (
    "com.sun.tools.attach.AttachNotSupportedException: Unable to open socket file /tmp/.java_pid: target process "
    "doesn't respond within 10500ms or HotSpot VM not loaded: exit status 1"
)
_BARRED: Final = {"NoJava": _SILENT, "NoShell": "sh: No such file or directory: exit status 1"}


class CallTarget(NamedTuple):
    """Where a call acts. Both are empty for calls that name a process or an injection instead."""

    pod_uid: str = ""
    container_id: str = ""


class CallOutcome(NamedTuple):
    """What a call is to do: the ledger's change, whether that brings or takes an effect, and the reply's fields."""

    intent: Intent
    change: Callable[[], None]
    reply: dict[str, Any] = {}


Handler = Callable[[CallTarget, Any], CallOutcome]


class Programs(Protocol):
    """What runs in the containers: as far as an agent that is to be loaded into a Java program is concerned, and chaos
    in files.
    """

    def barred(self, container_id: str) -> Literal["", "NoJava", "NoShell", "Unknown"]:
        """Return why no agent can be loaded into the program of a running container; empty where one can."""

    def unknown(self, container_id: str, rules: Sequence[Mapping[str, Any]]) -> str:
        """Return what of these rules (see ``byteman.rules``) nobody knows the consequences of in that program; else
        empty.
        """

    def mounts(self, container_id: str) -> Sequence[str]:
        """Return where something is mounted in a running container: what its pod mounts, and the volumes of
        its image.
        """


class DaemonHandlers:
    """The sixteen calls. ``kill`` ends a container's process: it gets the pod's UID and the container id."""

    def __init__(self, book: LedgerBook, kill: Callable[[str, str], None], programs: Programs) -> None:
        self._book = book
        self._kill = kill
        self._programs = programs
        # Process numbers go on growing over restarts of the daemon: an old one must never name a new process.
        self._numbers = itertools.count(int(time.time()))

    def handlers(self) -> dict[str, Handler]:
        """Return handlers by the name of the call; a ``ValueError`` from one means that the real daemon would refuse,
        too.
        """
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

    def _flush_ip_sets(self, target: CallTarget, request: Any) -> CallOutcome:
        sets = {message.name: parse_address_set(message) for message in request.ipsets}
        # Sets do nothing by themselves: neither an injection nor a recovery.
        return CallOutcome("", lambda: self._book.set_address_sets(target.pod_uid, sets))

    def _set_iptables_chains(self, target: CallTarget, request: Any) -> CallOutcome:
        rules = [filter_rule(target.pod_uid, message) for message in request.chains]
        before, _ = self._book.rule_counts(target.pod_uid)
        return CallOutcome(_choose_intent(before, len(rules)), lambda: self._book.set_filters(target.pod_uid, rules))

    def _set_tcs(self, target: CallTarget, request: Any) -> CallOutcome:
        rules = [parse_traffic_rule(target.pod_uid, message) for message in request.tcs]
        _, before = self._book.rule_counts(target.pod_uid)
        return CallOutcome(_choose_intent(before, len(rules)), lambda: self._book.set_traffic(target.pod_uid, rules))

    def _container_kill(self, target: CallTarget, request: Any) -> CallOutcome:
        _demand_action(request, "KILL")
        return CallOutcome("Apply", lambda: self._kill(target.pod_uid, target.container_id))

    def _container_get_pid(self, target: CallTarget, request: Any) -> CallOutcome:
        _demand_action(request, "GETPID")
        return CallOutcome(
            "", _do_nothing, {"pid": int(hashlib.sha256(target.container_id.encode()).hexdigest()[:4], 16) + 2}
        )

    def _exec_stressors(self, target: CallTarget, request: Any) -> CallOutcome:
        effects: list[tuple[EffectKey, ContainerEffect]] = []
        reply: dict[str, Any] = {}
        for resource, flags in (("cpu", request.cpuStressors), ("memory", request.memoryStressors)):
            if not flags.strip():
                continue  # zero workers: nothing runs, and the manager reports success all the same
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

        def change() -> None:
            for key, effect in effects:
                self._book.put(key, effect)

        return CallOutcome("Apply", change, reply)

    def _cancel_stressors(self, _: CallTarget, request: Any) -> CallOutcome:
        # The manager sends the numbers only; the UIDs of the reply are not in its status.
        numbers = [request.cpuInstance or request.cpuInstanceUid.removeprefix("cpu-")]
        numbers += [request.memoryInstance or request.memoryInstanceUid.removeprefix("memory-")]

        def change() -> None:
            for number in filter(None, numbers):
                self._book.remove(EffectKey("Stress", number))

        return CallOutcome("Recover", change)

    def _apply_io(self, target: CallTarget, request: Any) -> CallOutcome:
        found = _parse_json_list(request.actions, "actions")
        key = EffectKey("IO", strip_scheme(target.container_id))
        if not found:
            return CallOutcome("Recover", lambda: self._book.remove(key), {"instance": 0, "startTime": 0})
        volume = io_chaos.demand_mount(request.volume, self._programs.mounts(target.container_id))
        effect = _build_effect(target, "IO", {"volume": volume, "actions": io_chaos.parse_actions(found)})
        return CallOutcome("Apply", lambda: self._book.put(key, effect), self._process(request))

    def _apply_http(self, target: CallTarget, request: Any) -> CallOutcome:
        rules = _parse_json_list(request.rules, "rules")
        key = EffectKey("HTTP", strip_scheme(target.container_id))
        reply = {**self._process(request), "statusCode": 200}
        if not rules:
            return CallOutcome("Recover", lambda: self._book.remove(key), reply)
        arguments = {"rules": rules, "proxyPorts": list(request.proxy_ports), "tls": bool(request.tls)}
        effect = _build_effect(target, "HTTP", arguments)
        return CallOutcome("Apply", lambda: self._book.put(key, effect), reply)

    def _apply_block(self, target: CallTarget, request: Any) -> CallOutcome:
        number = next(self._numbers) % 2**31
        delay = {name: getattr(request.delay, name) for name in ("delay", "jitter", "correlation")}
        effect = _build_effect(target, "Block", {"volume": request.volume_path, "delay": delay})
        return CallOutcome(
            "Apply", lambda: self._book.put(EffectKey("Block", str(number)), effect), {"injection_id": number}
        )

    def _recover_block(self, _: CallTarget, request: Any) -> CallOutcome:
        return CallOutcome("Recover", lambda: self._book.remove(EffectKey("Block", str(request.injection_id))))

    def _set_dns_server(self, target: CallTarget, request: Any) -> CallOutcome:
        key = EffectKey("DNS", strip_scheme(target.container_id))
        if not request.enable:
            return CallOutcome("Recover", lambda: self._book.remove(key))
        ip_address(request.dns_server)
        effect = _build_effect(target, "DNS", {"server": request.dns_server})
        return CallOutcome("Apply", lambda: self._book.put(key, effect))

    def _set_time_offset(self, target: CallTarget, request: Any) -> CallOutcome:
        clocks = [clock for clock in range(64) if request.clk_ids_mask >> clock & 1]
        effect = _build_effect(target, "Time", {"seconds": request.sec, "nanoseconds": request.nsec, "clocks": clocks})
        return CallOutcome("Apply", lambda: self._book.put(_make_time_key(request), effect))

    def _recover_time_offset(self, _: CallTarget, request: Any) -> CallOutcome:
        return CallOutcome("Recover", lambda: self._book.remove(_make_time_key(request)))

    def _install_jvm_rules(self, target: CallTarget, request: Any) -> CallOutcome:
        if barred := self._programs.barred(target.container_id):
            # Of a container that is just going nobody knows what it runs: the next one may well be a Java program.
            raise Failed(_SILENT) if barred == "Unknown" else ValueError(_BARRED[barred])
        rules = byteman.parse_rules(request.rule)
        if unknown := self._programs.unknown(target.container_id, rules):
            raise NotSimulated(unknown)
        effect = _build_effect(target, "JVM", {"port": request.port, "rules": rules})
        return CallOutcome("Apply", lambda: self._book.put(_make_jvm_key(target, request), effect))

    def _uninstall_jvm_rules(self, target: CallTarget, request: Any) -> CallOutcome:
        return CallOutcome("Recover", lambda: self._book.remove(_make_jvm_key(target, request)))

    def _process(self, request: Any) -> dict[str, Any]:
        """Return the helper process of a call that may already have one: HTTP and IO."""
        number = request.instance or next(self._numbers)
        return {
            "instance": number,
            "startTime": request.startTime or _read_milliseconds(),
            "instance_uid": request.instance_uid or f"helper-{number}",
        }


def _do_nothing() -> None:
    """Stand for the change of a call that changes nothing."""


def _choose_intent(before: int, after: int) -> Intent:
    """Choose by length: a shorter list takes rules back; a longer or equally long one brings them."""
    return "Recover" if after < before else "Apply"


def _build_effect(target: CallTarget, kind: str, arguments: dict[str, Any]) -> ContainerEffect:
    return ContainerEffect(pod_uid=target.pod_uid, container_id=target.container_id, kind=kind, arguments=arguments)


def _make_time_key(request: Any) -> EffectKey:
    return EffectKey("Time", f"{request.pod_container_name}/{request.uid}")


def _make_jvm_key(target: CallTarget, request: Any) -> EffectKey:
    rule = hashlib.sha256(request.rule.encode()).hexdigest()
    return EffectKey("JVM", f"{strip_scheme(target.container_id)}/{request.port}/{rule}")


def _parse_flags(text: str) -> dict[str, Any]:
    """Parse flags of a stressor by name, numbers as numbers: ``--cpu 2 --cpu-load 80`` is ``{cpu: 2,
    cpu-load: 80}``.
    """
    result: dict[str, Any] = {}
    name = ""
    for word in shlex.split(text):
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            result[name] = _parse_number(value) if value else True
        elif name:
            result[name] = _parse_number(word)
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


def _demand_action(request: Any, desired: str) -> None:
    action = request.action.DESCRIPTOR.enum_types_by_name["Action"].values_by_number[request.action.action].name
    if action != desired:
        raise ValueError(f"container action is {action}, expected {desired}")


def _read_milliseconds() -> int:
    return int(time.time() * 1000)
