"""The name server of Chaos Mesh: the manager's two calls, and the resulting ledger."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import grpc
import pytest

from scenario_kit.lab.chaos_daemon.dns_server import ChaosNameServer, build_objects, build_status
from scenario_kit.lab.chaos_daemon.ledger import EffectStore
from scenario_kit.lab.chaos_daemon.protocol import load_name_server_messages
from scenario_kit.lab.host.procfs import holds_connection

MESSAGES = load_name_server_messages()
UIDS = {("shop", "cart-1"): "u1", ("shop", "cart-2"): "u2"}


class Manager:
    """Calls as the manager does: one pod at a time."""

    def __init__(self, port: int) -> None:
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")

    def call(self, called: str, **fields: Any) -> Any:
        call = MESSAGES.calls[called]
        method = self._channel.unary_unary(
            f"/{MESSAGES.service}/{called}",
            request_serializer=call.request.SerializeToString,
            response_deserializer=call.reply.FromString,
        )
        return method(call.request(**fields), timeout=10)

    def set(self, name: str, pod: str, action: str = "error", patterns: tuple[str, ...] = ()) -> Any:
        pods = [{"namespace": "shop", "name": pod}]
        return self.call("SetDNSChaos", name=name, action=action, pods=pods, patterns=patterns)

    def close(self) -> None:
        self._channel.close()


@pytest.fixture
def effect_store() -> EffectStore:
    return EffectStore()


@pytest.fixture
def manager(effect_store: EffectStore) -> Iterator[Manager]:
    mine = partial(holds_connection, os.getpid())
    server = ChaosNameServer(effect_store, lambda namespace, name: UIDS.get((namespace, name)), mine)
    manager = Manager(server.start("127.0.0.1", 0))
    yield manager
    manager.close()
    server.stop()


def _held(effect_store: EffectStore) -> dict[str, Any]:
    return {e.pod_uid: e.arguments for e in effect_store.snapshot(["u1", "u2"]).containers}


def test_dns_rules_are_kept_per_pod_and_cancelled_per_experiment(manager: Manager, effect_store: EffectStore) -> None:
    assert manager.set("one", "cart-1", "random", ("cart.*",)).result
    assert manager.set("two", "cart-2").result
    assert _held(effect_store) == {
        "u1": {"action": "random", "patterns": ["cart.*"]},
        "u2": {"action": "error", "patterns": []},
    }
    assert manager.call("CancelDNSChaos", name="one").result
    assert set(_held(effect_store)) == {"u2"}
    assert manager.call("CancelDNSChaos", name="one").result, "a second time, too"


def test_the_last_rules_of_a_pod_hold(manager: Manager, effect_store: EffectStore) -> None:
    manager.set("one", "cart-1", "random")
    manager.set("two", "cart-1", "error")
    assert _held(effect_store) == {"u1": {"action": "error", "patterns": []}}


def test_unknown_pod_is_refused(manager: Manager, effect_store: EffectStore) -> None:
    answer = manager.set("one", "gone")
    assert (answer.result, answer.msg) == (False, "no such pod: shop/gone")
    assert _held(effect_store) == {}


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (("cart*", "ca?t", "cart.shop", "[a-c]art*"), ""),
        (("*cart",), "insert into schema selector: pattern *cart not valid"),
        (("ca*t*",), "insert into schema selector: pattern ca*t* not valid"),
        (("cart", "cart"), "insert into schema selector: pattern cart already exists"),
        (("cart", "cart."), "insert into schema selector: pattern cart. already exists"),
        (("cart*", "cart*"), "insert into schema selector: pattern cart* already exists"),
        (("",), "schema pattern  or rule true can't be empty"),
    ],
)
def test_patterns_that_the_server_refuses(
    manager: Manager, effect_store: EffectStore, patterns: tuple[str, ...], message: str
) -> None:
    answer = manager.set("one", "cart-1", "error", patterns)
    assert (answer.result, answer.msg) == (not message, message)
    assert bool(_held(effect_store)) is not bool(message)


def test_rules_outlive_a_container_and_end_with_the_pod(manager: Manager, effect_store: EffectStore) -> None:
    manager.set("one", "cart-1")
    effect_store.forget_container("u1", "containerd://a")
    assert set(_held(effect_store)) == {"u1"}
    effect_store.forget_pod("u1")
    assert _held(effect_store) == {}


def test_service_selects_the_name_server_pod() -> None:
    service, pod = build_objects("chaos-mesh")
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert build_status("127.0.0.1")["podIP"] == "127.0.0.1"


def test_call_of_another_process_is_rejected(effect_store: EffectStore) -> None:
    parent = partial(holds_connection, os.getppid())
    server = ChaosNameServer(effect_store, lambda namespace, name: UIDS.get((namespace, name)), parent)
    stranger = Manager(server.start("127.0.0.1", 0))
    with pytest.raises(grpc.RpcError) as refused:
        stranger.set("one", "cart-1")
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert _held(effect_store) == {}
    stranger.close()
    server.stop()
