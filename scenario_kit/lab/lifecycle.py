"""Start, status and end of a lab."""

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
from scenario_kit.lab import admission_webhook, chaos_manager, chaos_webhooks, interactive, process_specs, toolchain
from scenario_kit.lab import reset as emptying
from scenario_kit.lab.chaos_daemon.endpoints import build_endpoint_slice
from scenario_kit.lab.control_plane import (
    bootstrap_manifests,
    cluster,
    cluster_dns,
    kubeconfigs,
    log_access,
    nodes,
    prometheus,
    webhook_access,
)
from scenario_kit.lab.control_plane.bootstrap_client import BootstrapClient
from scenario_kit.lab.host import disk_space, loopback, procfs, supervisor
from scenario_kit.lab.host.addresses import find_host_address
from scenario_kit.lab.host.locks import hold_lock
from scenario_kit.lab.host.state import (
    DEFAULT_NAME,
    ChaosDaemonState,
    LabState,
    ProcessState,
    find_home,
    find_lab_folder,
    read_log_tail,
)
from scenario_kit.model.base import Object, Value

_START_SECONDS = 60.0
#: The maximum number of repairs while components keep dying.
_REPAIRS = 2
_ANSWER_SECONDS = 10.0
_DAY = 86400.0
_CHAOS_GROUP = "chaos-mesh.org/v1alpha1"


class PartReport(Value, frozen=True, kw_only=True):
    """The state of a component. ``health`` is the problem, empty if none; ``tail`` is the log of a dead component.

    The chaos engine is not ``started`` until a command needs it.
    """

    name: str
    pid: int
    started: bool
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
    engine: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> LabState:
    """Return a running lab: create it, or repair it if components died.

    ``packs`` are the alert packs for Prometheus in a new lab, ``node_count`` is its number of nodes (default three).
    Without ``engine``, the chaos engine is neither installed nor started unless it runs already; until a call with
    ``engine`` adds it, the API server refuses chaos objects. ``say`` reports progress; that of obtaining missing
    binaries is on stderr.

    Raises:
        UsageError: an unknown alert pack, or a running lab of that name with another number of nodes; nothing was
            changed.
        ToolchainError: a binary is missing and cannot be obtained.
        LabError: the lab does not start; the message has the end of the relevant log, or says that the disk is full.
            Or another version of scenario-kit started the running lab.
    """
    prometheus.check(packs)
    try:
        return _bring_up(name, packs, node_count, engine, say)
    except (LabError, OSError) as error:
        if reported := disk_space.explain_error(error, find_lab_folder(name)):
            raise reported from error
        raise


def _bring_up(
    name: str, packs: Sequence[str], node_count: int | None, engine: bool, say: Callable[[str], None]
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
            state = _repair(state, engine, say)
            if state.resetting:
                say("a reset was interrupted; finishing it")
                state = _empty(state, True, say)
            return state
        binaries = toolchain.install(engine=engine)
        if find_lab_folder(name).exists():
            say("an earlier start was interrupted; starting afresh")
            _clear(name)
        state = process_specs.plan(name, tuple(packs), find_host_address(), node_count or nodes.MIN_NODES)
        try:
            return _create(state, binaries, say)
        except BaseException:
            supervisor.kill(state.folder)
            raise


def take_down(name: str = DEFAULT_NAME) -> bool:
    """Kill the processes of a lab and remove its files; False if there is no lab."""
    with _lock_exclusively(name, lambda _: None):
        existed = find_lab_folder(name).exists()
        _clear(name)
    return existed


def reset(name: str = DEFAULT_NAME, *, force: bool = False, say: Callable[[str], None] = lambda _: None) -> LabState:
    """Reset a running lab to its state after ``bring_up``: cluster, worlds and samples, with another epoch.

    Raises:
        UsageError: a campaign is running, and ``force`` is not set; nothing was changed.
        LabError: the lab is incomplete, or has no baseline.
    """
    with _lock_exclusively(name, say):
        state = LabState.load(name)
        if not state.complete:
            raise LabError(f"lab {name!r} is not up: its start was interrupted", fix="scenario-kit lab up")
        state.require_alive("resetting it")
        return _empty(state, force, say)


def report_status(state: LabState) -> list[PartReport]:
    """Report the state of all components, checked in parallel."""
    health = supervisor.HealthProbe(state)
    with ThreadPoolExecutor(len(state.parts) or 1) as pool:
        problems = list(pool.map(health.find_problem, state.parts))
    return [
        PartReport(
            name=part.name,
            pid=part.pid,
            started=part.pid != 0,
            alive=problem != supervisor.DEAD,
            memory_bytes=procfs.read_resident_bytes(part.pid) if problem != supervisor.DEAD else 0,
            port=part.port,
            health="" if _is_optional(state, part) else problem,
            log=part.log,
            tail=read_log_tail(part.log) if part.pid and problem == supervisor.DEAD else "",
        )
        for part, problem in zip(state.parts, problems, strict=True)
    ]


def _is_optional(state: LabState, part: ProcessState) -> bool:
    return state.complete and part.name == chaos_manager.PART and not part.pid


def list_worlds(state: LabState) -> list[Object]:
    """List the open worlds of the lab; raises ``LabError`` if its server does not respond."""
    headers = {"Authorization": f"Bearer {state.server_token}"}
    try:
        with loopback.create_client(headers=headers, timeout=_ANSWER_SECONDS) as client:
            response = client.get(f"{state.server_url}/worlds")
        response.raise_for_status()
    except httpx.HTTPError as error:
        raise LabError(f"cannot list the worlds of the lab server: {error}", fix="scenario-kit lab status") from error
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
    _write_kubeconfigs(state)
    state = _await_control_plane(state, binaries)

    say("setting up nodes, roles and kinds")
    with BootstrapClient(process_specs.build_api_server_url(state), supervisor.locate_pki(state)) as api:
        state = _create_objects(state, binaries, daemon, api)
        definitions = list((assets / toolchain.CHAOS_DEFINITIONS).glob("*.json"))
        api.apply_definitions(definitions)
        api.wait_served(_CHAOS_GROUP, len(definitions))
        if chaos_manager.PART in binaries:
            state = _start(state, binaries, chaos_manager.PART)

        say("waiting until everything works")
        supervisor.HealthProbe(state).wait(state.list_started(), _START_SECONDS)
        _register_webhooks(state, daemon, api)  # last: until their servers run, they would refuse every object
    emptying.remember(state)
    state = msgspec.structs.replace(state, complete=True)
    state.save()
    return state


def _write_kubeconfigs(state: LabState) -> None:
    """Write the kubeconfigs of administrator, operator, chaos manager and solver."""
    pki, url = supervisor.locate_pki(state), process_specs.build_api_server_url(state)
    kubeconfigs.write_admin(Path(state.kubeconfig), state.name, url, pki)
    kubeconfigs.write_operator(Path(state.operator_kubeconfig), url, pki)
    kubeconfigs.write_manager(chaos_manager.locate_kubeconfig(Path(state.folder)), url, pki)
    kubeconfigs.write_solver(Path(state.solver_kubeconfig), url, pki)


def _create_objects(
    state: LabState, binaries: Mapping[str, Path], daemon: ChaosDaemonState, api: BootstrapClient
) -> LabState:
    """Create namespaces, kinds, nodes, cluster DNS and roles, and start the parts that need them."""
    api.apply(
        [
            *bootstrap_manifests.build_namespaces(),
            *bootstrap_manifests.read_own_definitions(),
            *nodes.build_stages(state.ports[log_access.PORT]),
            *nodes.build_nodes(state.nodes),
        ]
    )
    api.apply(cluster_dns.build_objects())
    state = _start(state, binaries, nodes.PART, process_specs.SERVER)
    api.apply([*bootstrap_manifests.bind_operator(), *interactive.build_objects()])
    api.apply([*bootstrap_manifests.build_access(), build_endpoint_slice(state.nodes, daemon.address, daemon.port)])
    return _start(state, binaries, process_specs.OPERATOR)


def _register_webhooks(state: LabState, daemon: ChaosDaemonState, api: BootstrapClient) -> None:
    """Register the webhooks of Chaos Mesh, of the resolver of external targets, and of the operator."""
    authority = webhook_access.locate_webhook_tls(supervisor.locate_pki(state)).authority
    manager = state.ports[chaos_manager.WEBHOOK], Path(daemon.ca)
    targets = state.ports[cluster.TARGETS], authority
    own = admission_webhook.build_configuration(state.ports[cluster.ADMISSION], authority)
    api.apply([*chaos_webhooks.build_objects(manager, targets), own])


def _await_control_plane(state: LabState, binaries: Mapping[str, Path]) -> LabState:
    """Wait for the control plane.

    A controller-manager exits if the API server is not healthy within ten seconds: nothing else runs before that, and
    on a busy machine it is restarted.
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


def _repair(state: LabState, engine: bool, say: Callable[[str], None]) -> LabState:
    """Restart dead components with their data and ports; with ``engine``, start the chaos engine."""
    age = (time.time() - state.epoch) / _DAY
    if age > prometheus.WINDOW_DAYS - process_specs.EPOCH_DAYS:
        raise LabError(
            f"lab {state.name!r} is too old: its virtual time is {age:.0f} days ago, and only samples of the last "
            f"{prometheus.WINDOW_DAYS} days can be stored",
            fix="scenario-kit lab down, then scenario-kit lab up",
        )
    for _ in range(_REPAIRS):
        state = _restart(state, say)
        if engine and chaos_manager.PART not in state.list_started():
            say("adding the chaos engine")
            state = _start(state, toolchain.install(), chaos_manager.PART)
        try:
            supervisor.HealthProbe(state).wait(state.list_started(), _START_SECONDS)
        except LabError:
            # A component may die between the check and the wait: check again.
            if not state.dead_parts():
                raise
        else:
            return state
    state.require_alive()
    return state


def _empty(state: LabState, force: bool, say: Callable[[str], None]) -> LabState:
    binaries = _install_started(state)
    return emptying.empty(state, force, lambda at, *names: _start(at, binaries, *names), say)


def _install_started(state: LabState) -> dict[str, Path]:
    return toolchain.install(engine=chaos_manager.PART in state.list_started())


def _restart(state: LabState, say: Callable[[str], None]) -> LabState:
    dead = {part.name for part in state.dead_parts()}
    if dead:
        server = state.part(cluster.API_SERVER)
        if cluster.STORE in dead and server is not None and state.alive(server):
            # Its retries back off up to two minutes while the store is gone; a new process retries at once.
            supervisor.end(server)
            dead.add(server.name)
        for part in state.parts:
            if part.name in dead:
                supervisor.await_free(part)
        binaries = _install_started(state)
        say(f"restarting: {', '.join(sorted(dead))}")
        if dead & set(cluster.COMPONENTS):
            state = cluster.restart(state, binaries)
            state.save()
        state = _start(state, binaries, *(part for part in process_specs.STARTED if part in dead))
    return state


def _start(state: LabState, binaries: Mapping[str, Path], *names: str) -> LabState:
    """Start components and save their process IDs."""
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
    """Lock the lab: only one command may start or end it at a time."""
    return hold_lock(_lock(name), f"another command is starting or ending lab {name!r}", say)


def occupy(name: str, say: Callable[[str], None], *, alone: bool) -> AbstractContextManager[None]:
    """Occupy the lab while this command runs trials; trials that reach beyond their app run alone.

    The rules are those between trials of one command (``campaign.planning.concurrency``): a trial could find changes
    of another command's trial, and blame the scenario.
    """
    because = f"another command runs trials in lab {name!r}, and one of the two reaches beyond its app"
    return hold_lock(_lock(name, ".trials"), because, say, shared=not alone)


def _lock(name: str, what: str = "") -> Path:
    find_lab_folder(name)  # validates the name
    locks = find_home() / "locks"
    locks.mkdir(parents=True, exist_ok=True, mode=0o700)
    return locks / f"{name}{what}"
