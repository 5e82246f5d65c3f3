"""Bringing a lab up, telling how it is, and taking it down."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import msgspec

import scenario_kit
from scenario_kit.errors import LabError, UsageError
from scenario_kit.lab import chaos_manager, chaos_webhooks, interactive, process_specs, toolchain
from scenario_kit.lab import (
    reset as emptying,
)
from scenario_kit.lab.chaos_daemon.endpoints import build_endpoint_slice
from scenario_kit.lab.control_plane import bootstrap_manifests, cluster, cluster_dns, kubeconfigs, nodes, prometheus
from scenario_kit.lab.control_plane.bootstrap_client import BootstrapClient
from scenario_kit.lab.host import disk_space, loopback, procfs, supervisor
from scenario_kit.lab.host.addresses import find_host_address
from scenario_kit.lab.host.locks import hold_lock
from scenario_kit.lab.host.state import DEFAULT_NAME, LabState, find_home, find_lab_folder, log_tail
from scenario_kit.model.base import Object, Value

_START_SECONDS = 60.0
#: How often a repair is tried when parts go on dying.
_REPAIRS = 2
_ANSWER_SECONDS = 10.0
_DAY = 86400.0
_CHAOS_GROUP = "chaos-mesh.org/v1alpha1"


class PartReport(Value, frozen=True, kw_only=True):
    """How one part is. ``health`` is empty when it works, else what is wrong; ``tail`` is the log of a dead one."""

    name: str
    pid: int
    alive: bool
    memory_bytes: int
    port: int | None
    health: str
    log: str
    tail: str = ""


def bring_up(
    name: str = DEFAULT_NAME,
    *,
    packs: Sequence[str] = ("default",),
    node_count: int | None = None,
    reporter: toolchain.Reporter | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> LabState:
    """Return a lab that works: at once when it runs, repaired when parts of it died, else created.

    ``packs`` are the alert packs that Prometheus shows in a new lab, ``node_count`` is how many nodes it
    has (three where nothing is said). ``reporter`` is told about missing binaries (by default a person is, on stderr),
    ``say`` about everything else.

    Raises:
        UsageError: there is no such alert pack, or a lab of that name runs with another number of nodes; nothing was
            changed.
        ToolchainError: a binary is missing and cannot be had.
        LabError: the lab does not start; the message has the end of the log that tells why, or says that the disk has
            no room. Or one runs that another version of scenario-kit started.
    """
    prometheus.check(packs)
    try:
        return _bring_up(name, packs, node_count, reporter, say)
    except (LabError, OSError) as error:
        if reported := disk_space.explain_error(error, find_lab_folder(name)):
            raise reported from error
        raise


def _bring_up(
    name: str,
    packs: Sequence[str],
    node_count: int | None,
    reporter: toolchain.Reporter | None,
    say: Callable[[str], None],
) -> LabState:
    if not find_lab_folder(name).exists():
        disk_space.require(find_lab_folder(name))
    with _lock_exclusively(name, say):
        state = LabState.find(name)
        if state is not None and state.complete:
            state.require_version(scenario_kit.__version__)
            if node_count not in (None, len(state.nodes)):
                raise UsageError(
                    f"lab {name!r} runs with {len(state.nodes)} nodes, observed --nodes {node_count}",
                    fix=f"leave --nodes out, or start afresh: scenario-kit lab down --name {name}",
                )
            state = _repair(state, reporter, say)
            if state.resetting:
                say("a reset was interrupted; finishing it")
                state = _empty(state, True, reporter, say)
            return state
        binaries = toolchain.install(reporter)
        if find_lab_folder(name).exists():
            say("an earlier start was interrupted; starting afresh")
            _clear(name)
        state = process_specs.plan(name, tuple(packs), find_host_address(), node_count or nodes.LEAST)
        try:
            return _create(state, binaries, say)
        except BaseException:
            supervisor.kill(state.folder)
            raise


def take_down(name: str = DEFAULT_NAME) -> bool:
    """End every process of a lab and remove its files; False when there was none."""
    with _lock_exclusively(name, lambda _: None):
        existed = find_lab_folder(name).exists()
        _clear(name)
    return existed


def reset(
    name: str = DEFAULT_NAME,
    *,
    force: bool = False,
    reporter: toolchain.Reporter | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> LabState:
    """Empty a running lab: cluster, worlds and samples are as after ``bring_up``, at another epoch.

    Raises:
        UsageError: a campaign runs, and ``force`` is not set; nothing was changed.
        LabError: the lab does not run whole, or its start was not written down.
    """
    with _lock_exclusively(name, say):
        state = LabState.load(name)
        if not state.complete:
            raise LabError(f"lab {name!r} is not up: its start was interrupted", fix="scenario-kit lab up")
        state.require_alive("resetting it")
        return _empty(state, force, reporter, say)


def report_status(state: LabState) -> list[PartReport]:
    """Report how every part is, asked all at once."""
    health = supervisor.HealthProbe(state)
    with ThreadPoolExecutor(len(state.parts) or 1) as pool:
        problems = list(pool.map(health.problem, state.parts))
    return [
        PartReport(
            name=part.name,
            pid=part.pid,
            alive=problem != supervisor.DEAD,
            memory_bytes=procfs.read_resident_bytes(part.pid) if problem != supervisor.DEAD else 0,
            port=part.port,
            health=problem,
            log=part.log,
            tail=log_tail(part.log) if problem == supervisor.DEAD else "",
        )
        for part, problem in zip(state.parts, problems, strict=True)
    ]


def list_worlds(state: LabState) -> list[Object]:
    """List the worlds of the lab, one per trial that is open; raises ``LabError`` when its server does not answer."""
    headers = {"Authorization": f"Bearer {state.server_token}"}
    try:
        with loopback.create_client(headers=headers, timeout=_ANSWER_SECONDS) as client:
            response = client.get(f"{state.server_url}/worlds")
        response.raise_for_status()
    except httpx.HTTPError as error:
        raise LabError(f"the lab server does not tell its worlds: {error}", fix="scenario-kit lab status") from error
    found: list[Object] = response.json()["worlds"]
    return found


def _create(state: LabState, binaries: Mapping[str, Path], say: Callable[[str], None]) -> LabState:
    folder = Path(state.folder)
    folder.mkdir(parents=True, mode=0o700)
    assets = toolchain.chaos_assets()
    daemon = chaos_manager.prepare(
        folder, find_host_address(), state.ports[process_specs.CHAOS_DAEMON], assets / toolchain.CHAOS_PROTO
    )
    state = msgspec.structs.replace(state, chaos_daemon=daemon)
    state.save()
    prometheus.write(state)
    state = _start(state, binaries, prometheus.PART)

    say("starting the control plane")
    state = cluster.create(state, binaries)
    state.save()
    pki = supervisor.locate_pki(state)
    kubeconfigs.write_admin(Path(state.kubeconfig), state.name, process_specs.build_api_server_url(state), pki)
    kubeconfigs.write_operator(Path(state.operator_kubeconfig), process_specs.build_api_server_url(state), pki)
    kubeconfigs.write_manager(
        chaos_manager.locate_kubeconfig(Path(state.folder)), process_specs.build_api_server_url(state), pki
    )
    kubeconfigs.write_solver(Path(state.solver_kubeconfig), process_specs.build_api_server_url(state), pki)

    state = _await_control_plane(state, binaries)

    say("setting up nodes, roles and kinds")
    with BootstrapClient(process_specs.build_api_server_url(state), pki) as api:
        api.apply(
            [
                *bootstrap_manifests.build_namespaces(),
                *bootstrap_manifests.read_own_definitions(),
                *nodes.build_stages(),
                *nodes.build_nodes(state.nodes),
            ]
        )
        api.apply(cluster_dns.build_objects())
        state = _start(state, binaries, nodes.PART, process_specs.SERVER)
        api.apply([*bootstrap_manifests.bind_operator(), *interactive.build_objects()])
        api.apply([*bootstrap_manifests.build_access(), build_endpoint_slice(state.nodes, daemon.address, daemon.port)])
        state = _start(state, binaries, process_specs.OPERATOR)
        definitions = list((assets / toolchain.CHAOS_DEFINITIONS).glob("*.json"))
        api.apply_definitions(definitions)
        api.wait_served(_CHAOS_GROUP, len(definitions))
        state = _start(state, binaries, chaos_manager.PART)

        say("waiting until everything works")
        supervisor.HealthProbe(state).wait([part.name for part in state.parts], _START_SECONDS)
        ports = state.ports[chaos_manager.WEBHOOK], state.ports[chaos_manager.TARGETS]
        api.apply(chaos_webhooks.build_objects(*ports, Path(daemon.ca)))
    emptying.remember(state)
    state = msgspec.structs.replace(state, complete=True)
    state.save()
    return state


def _await_control_plane(state: LabState, binaries: Mapping[str, Path]) -> LabState:
    """Wait for the control plane.

    A controller-manager gives up when the API server is not healthy within ten seconds: no other work is done before
    that, and on a machine that is too busy even so it is started again.
    """
    desired = ["kube-apiserver", "kube-controller-manager"]
    for _ in range(_REPAIRS):
        try:
            supervisor.HealthProbe(state).wait(desired, _START_SECONDS)
        except LabError:
            if {part.name for part in state.dead_parts()} != {"kube-controller-manager"}:
                raise
            supervisor.HealthProbe(state).wait(desired[:1], _START_SECONDS)
            state = cluster.restart(state, binaries)
            state.save()
        else:
            return state
    supervisor.HealthProbe(state).wait(desired, _START_SECONDS)
    return state


def _repair(state: LabState, reporter: toolchain.Reporter | None, say: Callable[[str], None]) -> LabState:
    """Start what is dead, with the data and the ports that it had."""
    age = (time.time() - state.epoch) / _DAY
    if age > prometheus.WINDOW_DAYS - process_specs.EPOCH_DAYS:
        raise LabError(
            f"lab {state.name!r} is too old: its virtual time lies {age:.0f} days back, and only samples of the last "
            f"{prometheus.WINDOW_DAYS} days can be stored",
            fix="scenario-kit lab down, then scenario-kit lab up",
        )
    for _ in range(_REPAIRS):
        state = _restart(state, reporter, say)
        try:
            supervisor.HealthProbe(state).wait([part.name for part in state.parts], _START_SECONDS)
        except LabError:
            # A part may die, or turn out to be dying, between the look and the wait: look again.
            if not state.dead_parts():
                raise
        else:
            return state
    state.require_alive()
    return state


def _empty(state: LabState, force: bool, reporter: toolchain.Reporter | None, say: Callable[[str], None]) -> LabState:
    binaries = toolchain.install(reporter)
    return emptying.empty(state, force, lambda at, *names: _start(at, binaries, *names), say)


def _restart(state: LabState, reporter: toolchain.Reporter | None, say: Callable[[str], None]) -> LabState:
    dead = {part.name for part in state.dead_parts()}
    if dead:
        server = state.part(cluster.API_SERVER)
        if cluster.STORE in dead and server is not None and state.alive(server):
            # It asks for a store that is gone ever more seldom, every two minutes in the end; a fresh one asks at once.
            supervisor.end(server)
            dead.add(server.name)
        for part in state.parts:
            if part.name in dead:
                supervisor.await_free(part)
        binaries = toolchain.install(reporter)
        say(f"starting again: {', '.join(sorted(dead))}")
        if dead & set(cluster.COMPONENTS):
            state = cluster.restart(state, binaries)
            state.save()
        state = _start(state, binaries, *(part for part in process_specs.STARTED if part in dead))
    return state


def _start(state: LabState, binaries: Mapping[str, Path], *names: str) -> LabState:
    """Start parts and write their process ids down."""
    specs = process_specs.list_specs()
    for name in names:
        part = state.part(name)
        assert part is not None, name
        state = state.with_part(supervisor.start(specs[name](state, binaries), part, state.folder))
        state.save()
    return state


def _clear(name: str) -> None:
    folder = find_lab_folder(name)
    supervisor.kill(str(folder))
    if folder.exists():
        shutil.rmtree(folder)


def _lock_exclusively(name: str, say: Callable[[str], None]) -> AbstractContextManager[None]:
    """Lock the lab: one command at a time may start or end it."""
    return hold_lock(_lock(name), f"another command is starting or ending lab {name!r}", say)


def occupy(name: str, say: Callable[[str], None], *, alone: bool) -> AbstractContextManager[None]:
    """Occupy the lab while trials of this command run in it; those that reach beyond their app run alone.

    Commands share a lab as trials of one command do (``campaign.planning.concurrency``): a trial would find the
    cluster changed by what belongs to another command's trial, and blame the scenario.
    """
    because = f"another command runs trials in lab {name!r}, and one of the two reaches beyond its app"
    return hold_lock(_lock(name, ".trials"), because, say, shared=not alone)


def _lock(name: str, what: str = "") -> Path:
    find_lab_folder(name)  # refuses names that are none
    locks = find_home() / "locks"
    locks.mkdir(parents=True, exist_ok=True, mode=0o700)
    return locks / f"{name}{what}"
