"""A client that is made anew, under a lock, whenever it lost its connection: cart and valkey.

Sources: ``ValkeyCartStore.EnsureRedisConnected`` and ``Program.cs`` of the demo (the instrumentation gets the client of
the start, and no other), ``ConnectionMultiplexer.ReconfigureAsync`` of StackExchange.Redis (so many attempts, one after
another), ``RedisProfilerEntryToActivityConverter`` (no status is set), and ITBench's fault of a changed password, which
expects HighRequestLatency from fifty users.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from scenario_kit.model import App
from tests.lab.twin.shop import started
from tests.lab.twin.twin_cluster import TwinCluster

COMMANDS = ("HGET", "HSET", "EXPIRE")


def assumed(app: App, **values: float) -> App:
    """The app with other values of its assumptions, as a repeat of a validation has them."""
    assert app.twin is not None
    return msgspec.structs.replace(app, twin=app.twin.with_assumptions(values))


def test_only_the_first_connection_is_traced(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    assert all(shop.run(60.0).calls("cart", span=command) for command in COMMANDS)
    shop.restart("valkey-cart")
    shop.run(60.0)
    after = shop.run(120.0)
    assert after.calls("cart", kind="SERVER") > 300
    assert after.share("cart", kind="SERVER") == 0.0
    assert after.calls("cart", kind="CLIENT") == 0
    shop.restart("cart")
    shop.run(60.0)
    assert all(shop.run(60.0).calls("cart", span=command) for command in COMMANDS)


def test_unsent_commands_leave_no_spans(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    shop.scale("valkey-cart", 0)
    after = shop.run(300.0)
    assert after.share("cart", kind="SERVER") > 0.9
    assert after.calls("cart", kind="CLIENT") == 0
    reported = {line.text for line in shop.logs if line.pod.startswith("cart") and "FailedPrecondition" in line.text}
    assert len(reported) == 1
    assert "Can't access cart storage. System.ApplicationException: Wasn't able to connect to redis" in reported.pop()


def test_no_command_is_an_error_in_traces(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    shop.chaos("valkey-cart", delay=6.0)
    after = shop.run(300.0)
    assert after.calls("cart", kind="SERVER", error=True) > 10, "commands give up after five seconds"
    assert after.calls("cart", kind="CLIENT") > 10
    assert after.calls("cart", kind="CLIENT", error=True) == 0


def close_port(little: TwinCluster) -> None:
    """Point the store's Service to a closed port: the pod itself refuses."""
    little.change("Service", "valkey-cart", lambda o: o["spec"]["ports"][0].update(targetPort=6380))
    little.restart("valkey-cart")


def open_port(little: TwinCluster) -> None:
    little.change("Service", "valkey-cart", lambda o: o["spec"]["ports"][0].update(targetPort=6379))


@pytest.mark.parametrize(
    ("break_store", "repair", "milliseconds", "late"),
    [
        pytest.param(close_port, open_port, 100.0, False, id="each attempt is refused by the pod"),
        pytest.param(close_port, open_port, 800.0, True, id="and slowly"),
        pytest.param(
            lambda little: little.scale("valkey-cart", 0),
            lambda little: little.scale("valkey-cart", 1),
            100.0,
            True,
            id="the kernel refuses one attempt a second",
        ),
    ],
)
def test_connection_attempts_are_serialised(
    shop: App,
    shop_objects: list[dict[str, Any]],
    break_store: Callable[[TwinCluster], None],
    repair: Callable[[TwinCluster], None],
    milliseconds: float,
    late: bool,
) -> None:
    """Whether callers notice rests on how long attempts take, of which only the part of the kernel is published."""
    little = started(assumed(shop, valkeyRefusedMs=milliseconds), shop_objects, 60.0)
    break_store(little)
    little.run(120.0)
    after = little.run(300.0)
    for service in ("cart", "checkout", "frontend", "frontend-proxy"):
        assert (after.quantile(0.95, service) > 1500) is late, service
    repair(little)
    little.run(60.0)
    assert little.run(60.0).quantile(0.95, "frontend-proxy") < 200, "whoever waits passes once one has connected"
