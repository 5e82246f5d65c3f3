"""Composition root of the lab server: start, run until stopped or a thread dies, shut down."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import LabError, Rejected
from scenario_kit.lab import chaos_manager
from scenario_kit.lab.chaos_daemon import dns_server
from scenario_kit.lab.chaos_daemon.dns_server import ChaosNameServer
from scenario_kit.lab.chaos_daemon.endpoints import build_endpoint_slice
from scenario_kit.lab.chaos_daemon.ledger import EffectStore
from scenario_kit.lab.chaos_daemon.protocol import load_daemon_messages
from scenario_kit.lab.chaos_daemon.server import ChaosDaemonServer, ContainerRuntime, ServerTls
from scenario_kit.lab.control_plane import apiservice, log_access, store_access
from scenario_kit.lab.control_plane.bootstrap_manifests import CHAOS_NAMESPACE
from scenario_kit.lab.control_plane.cluster import TARGETS
from scenario_kit.lab.control_plane.etcd import Etcd
from scenario_kit.lab.control_plane.log_access import locate_kubelet_tls
from scenario_kit.lab.control_plane.webhook_access import locate_webhook_tls
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import ChaosDaemonState as DaemonState
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import locate_pki
from scenario_kit.lab.informers.barrier import Barrier
from scenario_kit.lab.informers.reflector import Informers
from scenario_kit.lab.informers.resource_versions import ApiVersions
from scenario_kit.lab.informers.revisions import WATCHED, Revisions
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER, NAMESPACED, PASSED_BY
from scenario_kit.lab.kubelet import ClusterWriter, Kubelet, KubeletSources, LogFolder
from scenario_kit.lab.server import external_targets
from scenario_kit.lab.server.api import LabServerApi, serve
from scenario_kit.lab.server.chaos_base_times import BaseWriter
from scenario_kit.lab.server.cluster_names import ClusterNames
from scenario_kit.lab.server.container_inspection import RunningPrograms
from scenario_kit.lab.server.containers import RunningContainers
from scenario_kit.lab.server.log_api import LogApi
from scenario_kit.lab.server.log_api import serve as serve_logs
from scenario_kit.lab.server.metrics_api import MetricsApi
from scenario_kit.lab.server.metrics_api import serve as serve_metrics
from scenario_kit.lab.server.threads import Threads
from scenario_kit.lab.settle.hpa_conflict_events import ConflictEventCleaner
from scenario_kit.lab.settle.hpa_pacing import MetricsGate
from scenario_kit.lab.settle.requeue import Requeuer
from scenario_kit.lab.settle.waiter import Settler
from scenario_kit.lab.telemetry.prometheus_access import create_writer
from scenario_kit.lab.twin import Twin
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds import LabContext, Recordings, SampleHorizon, Worlds
from scenario_kit.model import Object, Reference

_LOG = logging.getLogger(__name__)
#: Field managers: for the kubelet's writes, and for everything else.
_KUBELET, _PLATFORM = "kubelet", "platform"


def run(state: LabState, threads: Threads) -> str:
    """Serve until ``threads.stop`` is set; return the failure, empty if none.

    Raises:
        ScenarioKitError: the server cannot start.
    """
    with ExitStack() as stack:
        stack.callback(threads.stop.set)
        _start(state, threads, stack)
        _LOG.info("lab server of %s is ready at %s", state.name, state.server_url)
        threads.stop.wait()
        _LOG.info("stopping")
    return threads.failure


def _start(state: LabState, threads: Threads, stack: ExitStack) -> None:
    cluster = _connect(state, _PLATFORM, stack)
    store, effect_store, worlds = ObjectStore(), EffectStore(), Worlds()
    threads.on_stop = store.wake
    versions = ApiVersions(Path(state.kubeconfig))
    stack.callback(versions.close)
    barrier = Barrier(versions, store)
    etcd = Etcd(state.ports["etcd"], locate_pki(state))
    stack.callback(etcd.close)
    metrics_gate = MetricsGate(store, worlds.read_tick)
    stack.callback(metrics_gate.close)
    stack.callback(barrier.close)
    requeuer, cleaner, containers = Requeuer(cluster), ConflictEventCleaner(cluster), RunningContainers(effect_store)
    recordings = Recordings(Path(state.folder) / "recordings")
    logs = LogFolder(Path(state.folder) / "pods", listener=recordings.add_lines)
    kubelet = _build_kubelet(state, store, worlds, cluster, logs, stack)
    worlds.attach(
        LabContext(
            store=store,
            settler=Settler(store, barrier, requeuer),
            metrics_gate=metrics_gate,
            nodes=kubelet,
            effects=effect_store,
            cluster=cluster,
            twin_of=_build_twin,
            sink_of=partial(create_writer, state),
            epoch=float(state.epoch),
            sample_horizon=SampleHorizon(Path(state.folder) / "worlds.json"),
            set_chaos_base=BaseWriter(cluster, etcd).set_base,
            recordings=recordings,
        )
    )
    store.listen(partial(_pass_pods, kubelet))
    for observer in (containers, requeuer, metrics_gate, cleaner, recordings):
        store.listen(observer.on_event)
    _follow_objects(state, store, threads, stack)
    barrier.prove()

    if state.chaos_daemon is not None:
        runtime = _build_container_runtime(containers, kubelet, worlds, store)
        _start_chaos_daemon(state.chaos_daemon, state, cluster, store, effect_store, runtime, stack)
    threads.spawn("nodes", partial(worlds.run_nodes, threads.stop))
    threads.spawn("cleaner", partial(cleaner.run, threads.stop))
    threads.spawn("ticks", partial(worlds.tick, threads.stop))
    threads.spawn("timers", partial(worlds.renew_timers, threads.stop))
    _start_external_targets(state, store, threads, stack)
    _start_metrics_api(state, cluster, MetricsApi(worlds, store, metrics_gate.pace), threads, stack)
    _start_log_api(state, LogApi(logs, partial(_find_pod, store), worlds.read_clock), threads, stack)
    api = LabServerApi(worlds, state.server_token, lambda: threads.failure)
    _run_server("http", urlsplit(state.server_url).port or 0, partial(serve, api), threads, stack)


def _connect(state: LabState, field_manager: str, stack: ExitStack) -> KubeCluster:
    """Connect to the API server, with a connection pool of its own."""
    cluster = KubeCluster(Path(state.kubeconfig), field_manager=field_manager)
    stack.callback(cluster.close)
    return cluster


def _pass_pods(kubelet: Kubelet, type_: str, kind: str, obj: Object) -> None:
    if kind == "Pod":
        kubelet.observe(type_, obj)  # type: ignore[arg-type]


def _follow_objects(state: LabState, store: ObjectStore, threads: Threads, stack: ExitStack) -> None:
    """Keep the store up to date: watches at the API server, and revisions at etcd."""
    watched = _connect(state, _PLATFORM, stack)  # watches hold connections
    informers = Informers(watched, store, threads.stop, threads.spawn)
    informers.follow(CLUSTER)  # nodes first, for the kubelet
    informers.follow(NAMESPACED)
    informers.follow(PASSED_BY, keep=False)
    tls = store_access.locate_store_tls(locate_pki(state)).build_client_context()
    revisions = Revisions(store_access.build_store_url(state.ports["etcd"]), store, threads.stop, tls)
    stack.callback(revisions.close)
    for key in WATCHED:
        threads.spawn(f"revisions-{key}", partial(revisions.follow, key))


def _build_kubelet(
    state: LabState,
    store: ObjectStore,
    worlds: Worlds,
    cluster: KubeCluster,
    logs: LogFolder,
    stack: ExitStack,
) -> Kubelet:
    writes = _connect(state, _KUBELET, stack)

    def node_of(name: str) -> Object | None:
        ours = not state.nodes or name in state.nodes
        return store.get("", "Node", name) if ours else None

    kubelet = Kubelet(
        _Writer(writes),
        KubeletSources(
            read_clock=worlds.read_clock,
            processes_of=worlds.get_processes,
            lookup_of=lambda namespace: _Lookup(store, cluster, namespace),
            node_of=node_of,
        ),
        logs=logs,
    )
    stack.callback(kubelet.close)
    return kubelet


class _Writer(ClusterWriter):
    """Skip events in a terminating namespace, where nothing can be created."""

    def __init__(self, cluster: KubeCluster) -> None:
        super().__init__(cluster)
        self._api = cluster

    def emit_event(self, event: Object) -> None:
        """See ``ClusterWriter``; for the API server's refusal, the namespace has to be checked."""
        try:
            super().emit_event(event)
        except Rejected:
            namespace = self._api.get(Reference("Namespace", event["metadata"]["namespace"]))
            if namespace is not None and "deletionTimestamp" not in namespace["metadata"]:
                raise


class _Lookup:
    """Objects of a namespace from the store, or from the API server if missing there."""

    def __init__(self, store: ObjectStore, cluster: KubeCluster, namespace: str) -> None:
        self._store = store
        self._cluster = cluster
        self._namespace = namespace

    def find(self, kind: str, name: str) -> Object | None:
        """Return the object, or None if there is none."""
        held = self._store.get(self._namespace, kind, name)
        return held if held is not None else self._cluster.get(Reference(kind, name, self._namespace))


def _build_twin(spec: WorldSpec) -> Twin:
    return Twin(spec.app, spec.seed, spec.assumptions)


def _build_container_runtime(
    containers: RunningContainers, kubelet: Kubelet, worlds: Worlds, store: ObjectStore
) -> ContainerRuntime:
    def kill(pod_uid: str, container_id: str) -> None:
        namespace = containers.namespace_of(container_id) or ""
        kubelet.container_killed(pod_uid, container_id, worlds.read_clock(namespace))
        store.wake()

    return ContainerRuntime(containers.pod_of, kill, RunningPrograms(containers, worlds))


def _start_chaos_daemon(
    where: DaemonState,
    state: LabState,
    cluster: KubeCluster,
    store: ObjectStore,
    effect_store: EffectStore,
    runtime: ContainerRuntime,
    stack: ExitStack,
) -> None:
    tls = ServerTls(_read_file(where.server_certificate), _read_file(where.server_key), _read_file(where.ca))
    daemon = ChaosDaemonServer(load_daemon_messages(Path(where.proto)), effect_store, tls, runtime)
    daemon.start(where.address, where.port)
    stack.callback(daemon.stop)
    nodes = state.nodes or tuple(store.names("", "Node"))
    cluster.apply(build_endpoint_slice(nodes, where.address, where.port))
    if chaos_manager.NAMES in state.ports:
        _name_server(state, cluster, store, effect_store, stack)


def _name_server(
    state: LabState, cluster: KubeCluster, store: ObjectStore, effect_store: EffectStore, stack: ExitStack
) -> None:
    """Serve the Chaos Mesh DNS server, and publish its address to the manager."""

    def uid_of(namespace: str, name: str) -> str | None:
        pod = store.get(namespace, "Pod", name)
        return str(pod["metadata"]["uid"]) if pod is not None else None

    def is_manager(own_port: int, peer_port: int) -> bool:
        part = LabState.load(state.name).part(chaos_manager.PART)  # it starts, and is started again, after this server
        return part is not None and state.alive(part) and procfs.holds_connection(part.pid, own_port, peer_port)

    server = ChaosNameServer(effect_store, uid_of, is_manager)
    server.start(LOOPBACK, state.ports[chaos_manager.NAMES])
    stack.callback(server.stop)
    service, pod = dns_server.build_objects(CHAOS_NAMESPACE)
    cluster.apply(service)
    cluster.apply(pod)
    place = Reference("Pod", pod["metadata"]["name"], CHAOS_NAMESPACE)
    cluster.patch(place, {"status": dns_server.build_status(LOOPBACK)}, subresource="status")


def _start_external_targets(state: LabState, store: ObjectStore, threads: Threads, stack: ExitStack) -> None:
    """Serve the webhook that resolves names for the Chaos Mesh manager."""
    port = state.ports.get(TARGETS)
    if port is None:
        return
    tls = locate_webhook_tls(locate_pki(state)).build_server_context()
    targets = external_targets.ExternalTargets(ClusterNames(store))
    _run_server("external-targets", port, partial(external_targets.serve, targets, tls=tls), threads, stack)


def _start_metrics_api(
    state: LabState, cluster: KubeCluster, api: MetricsApi, threads: Threads, stack: ExitStack
) -> None:
    """Serve the resource metrics API, and register it with the API server."""
    pki, port = locate_pki(state), state.ports.get(apiservice.PORT)
    if port is None:
        _LOG.warning("this lab is from an older version without the metrics API; run lab down, then lab up")
        return
    tls = apiservice.build_server_context(pki)
    _run_server("metrics", port, partial(serve_metrics, api, tls=tls), threads, stack)
    for obj in apiservice.build_objects(pki, port):
        cluster.apply(obj)


def _find_pod(store: ObjectStore, namespace: str, name: str) -> Object | None:
    return store.get(namespace, "Pod", name)


def _start_log_api(state: LabState, api: LogApi, threads: Threads, stack: ExitStack) -> None:
    """Serve the logs of containers to the API server."""
    tls = locate_kubelet_tls(locate_pki(state)).build_server_context()
    _run_server("logs", state.ports[log_access.PORT], partial(serve_logs, api, tls=tls), threads, stack)


def _run_server(
    name: str, port: int, create: Callable[[int], ThreadingHTTPServer], threads: Threads, stack: ExitStack
) -> None:
    """Run a server in a thread until the stack is closed.

    Raises:
        LabError: the port is in use.
    """
    try:
        server = create(port)
    except OSError as error:
        raise LabError(
            f"port {port} of the lab server is not available: {error}",
            fix="stop the process that listens there, or run lab down, then lab up",
        ) from error
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    threads.spawn(name, partial(server.serve_forever, poll_interval=0.2))


def _read_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise LabError(f"{path}: cannot be read: {error.strerror}", fix="lab down, then lab up") from error
