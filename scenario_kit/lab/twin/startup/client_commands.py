"""Client commands in containers, and their effects on stores.

A container is a client command if it has the client's image and its command matches one in the app's definition. It
connects like any program. Its effects last as long as the store's process; those limited to the command's run time
(locks, connections, growing data) are computed in each tick.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from scenario_kit.lab.twin.address import Address, parse
from scenario_kit.lab.twin.client_errors.by_store import describe_refusal, explain_rejection
from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.environment import expand
from scenario_kit.lab.twin.network.dialling import dial
from scenario_kit.lab.twin.network.endpoints import Destination, Network
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model import Client, StoreEffect
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.image import normalize_image
from scenario_kit.model.kubernetes.pod_spec import list_words
from scenario_kit.model.runtime.client import fill
from scenario_kit.model.runtime.process import Exit, ProcessStart
from scenario_kit.model.twin.address import AddressSource, Protocol
from scenario_kit.model.twin.edge import Edge

#: The duration of a one-shot command.
SECONDS: Final = 1.0
#: The exit code of a command that is not in the app's definition.
UNKNOWN: Final = 125
_PROTOCOLS: Final[dict[str, Protocol]] = {"redis": "redis", "postgres": "sql", "postgresql": "sql"}
_SHELLS: Final = ("sh", "bash")
_HOLE: Final = re.compile(r"\{\w+\}")


@dataclass(slots=True)
class Session:
    """One run of a command. ``due`` is when its effect applies; ``target`` is the store's process it reached."""

    client: Client
    process: Process
    does: StoreEffect
    edge: Edge
    address: Address
    due: float
    target: ProcessKey | None = None
    port: int = 0
    front: Destination | None = None

    @property
    def repeats(self) -> bool:
        """Whether it is a shell loop that retries after a broken connection."""
        return self.process.spec["command"][0] in _SHELLS


class Sessions:
    """The client commands of one world."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self._clients = tuple(clients)
        self._sessions: dict[tuple[str, str], Session] = {}

    def has_program(self, image: str, program: str) -> bool:
        """Return whether an image is that of a client with commands of this program."""
        return any(program in _list_programs(c) for c in self._of(image))

    def concern(self, spec: Object) -> bool:
        """Return whether a container runs a client's program instead of its image's entrypoint."""
        words = list_words(spec)
        return bool(words) and self.has_program(spec["image"], words[0])

    def start(self, process: Process, network: Network, now: float) -> ProcessStart:
        """Start a command. ``process`` loses its component."""
        process.component, process.model, process.listeners = "", None, ()
        words = list_words(process.spec)
        found = next(((c, m) for c in self._of(process.image) if (m := c.matched(words)) is not None), None)
        if found is None:
            listed = "this command is none that the app's definition lists for a simulated store (real-data-plane)"
            return self._end_session(process, UNKNOWN, f"{words[0]}: {listed}")
        client, (entry, texts) = found
        url = _HOLE.sub("", fill(expand(client.address, dict(process.env)), texts))
        scheme = urlsplit(url).scheme
        edge = Edge(
            caller="",
            callee=client.store,
            protocol=_PROTOCOLS.get(scheme, "tcp"),
            address=AddressSource(text=url),
            reuse_connection=False,
        )
        address = parse(url)
        if not address.database and _PROTOCOLS.get(scheme) == "sql":
            address = address._replace(database=process.env.get("PGDATABASE", ""))
        session = Session(client, process, entry.does.filled(texts), edge, address, now + SECONDS)
        target, outcome, ip = self._reach(session, network, now)
        if target is None:
            code, text = describe_refusal(scheme, outcome, session.address, ip)
            if session.repeats:
                self._sessions[process.key.pod_uid, process.key.container] = session
                return ProcessStart(0.0)
            return self._end_session(process, code, text)
        if text := explain_rejection(scheme, session.does, target):
            return self._end_session(process, 1, text)
        session.target = target.key
        self._sessions[process.key.pod_uid, process.key.container] = session
        if session.does.lasts:
            return ProcessStart(0.0)
        return ProcessStart(SECONDS, Exit(process.key.pod_uid, process.key.container, 0, "Completed"))

    def advance(
        self, view: View, network: Network, process_table: ProcessTable, now: float, dt: float
    ) -> tuple[bool, list[Exit]]:
        """Run what is due by ``now``; return whether new connections may be affected, and the commands that ended."""
        pods = {pod["metadata"]["uid"] for pod in view.list_all("Pod")}
        self._sessions = {key: s for key, s in self._sessions.items() if key[0] in pods}
        changed = False
        for store in _list_stores(process_table):
            store.store_state.most = store.model.max_connections if store.model else 0
        before = {p.key: (set(p.store_state.locked), p.store_state.full) for p in _list_stores(process_table)}
        for store in _list_stores(process_table):
            store.store_state.locked, store.store_state.held = set(), 0.0
        ended: list[Exit] = []
        for key, session in list(self._sessions.items()):
            if not session.does.lasts:
                if session.due <= now:
                    changed |= self._do(session, process_table)
                    del self._sessions[key]
            elif any(p.key[:2] == key for p in process_table.processes.values()):
                ended += self._last(session, network, process_table, now, dt)
        after = {p.key: (set(p.store_state.locked), p.store_state.full) for p in _list_stores(process_table)}
        return changed or before != after, ended

    def _do(self, session: Session, process_table: ProcessTable) -> bool:
        target = process_table.get(session.target) if session.target else None
        if target is None or target.ended:
            return False
        does = session.does
        logins = dict(target.logins)
        if does.drop_user and does.drop_user in logins:
            target.store_state.barred[does.drop_user] = logins.pop(does.drop_user)
        if does.create_user:
            former = target.store_state.barred.pop(does.create_user, logins.get(does.create_user, ""))
            logins[does.create_user] = former if does.set_password is None else does.set_password
        elif does.set_password is not None:
            logins[does.user] = does.set_password
            if not does.user and not does.set_password:
                del logins[""]  # the anonymous user needs no password
        if does.revoke_role:
            target.store_state.refused.add((does.revoke_role, does.table, does.privilege))
        if does.grant_role:
            target.store_state.refused.discard((does.grant_role, does.table, does.privilege))
        target.logins = tuple(logins.items())
        return True

    def _last(
        self, session: Session, network: Network, process_table: ProcessTable, now: float, dt: float
    ) -> list[Exit]:
        target = process_table.get(session.target) if session.target else None
        front = session.front
        if target is None or target.ended or network.wire(session.process, target.pod, session.port, front=front).cut:
            lost = session.target is not None
            session.target = None
            if lost and not session.repeats:
                return [self._exit(session.process, 2, "server closed the connection unexpectedly")]
            target, _, _ = self._reach(session, network, now)
            if target is None:
                return []
            session.target = target.key
        does, store_state = session.does, target.store_state
        if does.lock_table:
            store_state.locked.add(does.lock_table)
        if does.hold_connections:
            desired = store_state.held + float(does.hold_connections)
            store_state.held = (
                min(desired, max(store_state.most - store_state.connected, 0)) if store_state.most else desired
            )
        if does.add_bytes_per_second:
            target.leak += float(does.add_bytes_per_second) * dt
        return []

    def _reach(self, session: Session, network: Network, now: float) -> tuple[Process | None, ConnectionOutcome, str]:
        lanes, ip = dial(session.edge, session.address, session.process, network)
        for lane in lanes:
            if lane.outcome == ConnectionOutcome.OK and lane.target is not None and lane.ready_at <= now:
                session.port, session.front = lane.port, lane.front
                return lane.target, ConnectionOutcome.OK, ip
        outcome = next(
            (lane.outcome for lane in lanes if lane.outcome != ConnectionOutcome.OK),
            ConnectionOutcome.CONNECTION_REFUSED,
        )
        return None, outcome, ip

    def _of(self, image: str) -> Iterator[Client]:
        return (c for c in self._clients if normalize_image(c.image) == normalize_image(image))

    def _end_session(self, process: Process, code: int, text: str) -> ProcessStart:
        process.ready_at = float("inf")
        return ProcessStart(SECONDS, self._exit(process, code, text), tuple(text.splitlines()))

    @staticmethod
    def _exit(process: Process, code: int, text: str) -> Exit:
        return Exit(process.key.pod_uid, process.key.container, code, "Error", text)


def _list_stores(process_table: ProcessTable) -> Iterator[Process]:
    return (p for p in process_table.processes.values() if p.component)


def _list_programs(client: Client) -> set[str]:
    return {entry.command[0] for entry in client.commands}
