from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import grpc
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from scenario_kit.clients.certificates import Authority, KeyPair, issue
from scenario_kit.errors import ToolchainError
from scenario_kit.lab.chaos_daemon.endpoints import SERVER_NAME
from scenario_kit.lab.chaos_daemon.ledger import EffectStore
from scenario_kit.lab.chaos_daemon.protocol import Messages, load_daemon_messages
from scenario_kit.lab.chaos_daemon.server import ChaosDaemonServer, ContainerRuntime, ServerTls
from scenario_kit.lab.toolchain import CHAOS_PROTO, chaos_assets


def pem(authority: Authority) -> bytes:
    return authority.certificate.public_bytes(Encoding.PEM)


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority.create("chaos-mesh")


@pytest.fixture(scope="session")
def messages() -> Messages:
    try:
        return load_daemon_messages(chaos_assets() / CHAOS_PROTO)
    except ToolchainError as error:
        pytest.skip(f"{error.message}: {error.fix}")


class Client:
    """Calls the daemon like the manager does: keyword arguments are fields of the request."""

    def __init__(self, channel: grpc.Channel, messages: Messages) -> None:
        self._channel = channel
        self.messages = messages

    def __call__(self, name: str, about: str = "shop/cart", **fields: object) -> object:
        call = self.messages.calls[name]
        method = self._channel.unary_unary(
            f"/{self.messages.service}/{name}",
            request_serializer=call.request.SerializeToString,
            response_deserializer=call.reply.FromString,
        )
        return method(call.request(**fields), timeout=20, metadata=(("namespaced-name", about),))


class Running(NamedTuple):
    daemon: ChaosDaemonServer
    effect_store: EffectStore
    call: Client
    killed: list[tuple[str, str]]
    port: int


class Java:
    """Container c1 runs a Java program, of which nobody knows what it makes of a method that returns 13.

    It has a volume.
    """

    barring: Literal["NoJava", "NoShell", "Unknown"] = "NoJava"

    def explain_attach_failure(self, container_id: str) -> Literal["", "NoJava", "NoShell", "Unknown"]:
        return "" if container_id == "containerd://c1" else self.barring

    def unknown(self, container_id: str, rules: Sequence[Mapping[str, Any]]) -> str:
        return "13 is not simulated" if any({"returns": "13"} in rule["actions"] for rule in rules) else ""

    def mounts(self, container_id: str) -> Sequence[str]:
        return ("/data",) if container_id == "containerd://c1" else ()


CONTAINERS = {"containerd://c1": "pod-1", "containerd://c2": "pod-2"}


@pytest.fixture
def connect(authority: Authority) -> Iterator[Callable[[int, KeyPair | None], grpc.Channel]]:
    channels = []

    def open_channel(port: int, pair: KeyPair | None) -> grpc.Channel:
        credentials = grpc.ssl_channel_credentials(
            pem(authority), pair.key if pair else None, pair.certificate if pair else None
        )
        options = [("grpc.ssl_target_name_override", SERVER_NAME)]
        channels.append(grpc.secure_channel(f"127.0.0.1:{port}", credentials, options))
        return channels[-1]

    yield open_channel
    for channel in channels:
        channel.close()


@pytest.fixture
def running(
    authority: Authority, messages: Messages, connect: Callable[[int, KeyPair | None], grpc.Channel]
) -> Iterator[Running]:
    effect_store = EffectStore()
    killed: list[tuple[str, str]] = []
    server = issue(authority, SERVER_NAME, hosts=[SERVER_NAME])
    daemon = ChaosDaemonServer(
        messages,
        effect_store,
        ServerTls(server.certificate, server.key, pem(authority)),
        ContainerRuntime(CONTAINERS.get, lambda pod, container: killed.append((pod, container)), Java()),
    )
    port = daemon.start("127.0.0.1")
    yield Running(daemon, effect_store, Client(connect(port, issue(authority, "manager")), messages), killed, port)
    daemon.stop()
