"""Revisions of untracked keys: etcd's watches are established, and restarted when etcd cancels them."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from scenario_kit.lab.informers import revisions as revisions_module
from scenario_kit.lab.informers.revisions import WATCHED, Revisions, is_foreign
from scenario_kit.lab.informers.store import ObjectStore


@pytest.mark.parametrize(
    ("key", "foreign"),
    [
        ("/registry/leases/kube-node-lease/n1", True),
        ("/registry/services/endpoints/shop/cart", True),
        ("/registry/services/specs/shop/cart", False),
        ("/registry/scenariokit.io/scenarios/kit/s1", True),
        ("/registry/chaos-mesh.org/networkchaos/kit/k1", False),
        ("/registry/pods/shop/cart-1", False),
        ("/registry/events/shop/e", False),
        ("/registry/something-new/shop/e", False),
        ("compact_rev_key", True),
    ],
)
def test_is_foreign_matches_untracked_etcd_keys(key: str, foreign: bool) -> None:
    assert is_foreign(key) is foreign


class Gateway(ThreadingHTTPServer):
    """Answers like etcd's: the first request of a body that holds several, and perhaps none of the others."""

    daemon_threads = True

    def __init__(self, cancels: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Watch)
        self.cancels = cancels
        self.watched_keys: list[str] = []
        self.guard = threading.Lock()
        self.over = threading.Event()

    def revision_of(self, key: str) -> int:
        return WATCHED.index(key) + 1


class _Watch(BaseHTTPRequestHandler):
    server: Gateway

    def do_POST(self) -> None:
        create = json.loads(self.rfile.readline())["create_request"]
        key = base64.b64decode(create["key"]).decode()
        with self.server.guard:
            self.server.watched_keys.append(key)
            cancelled = self.server.cancels > 0
            self.server.cancels -= 1
        self.send_response(200)
        self.end_headers()
        self._say({"created": True})
        if cancelled:
            self._say({"canceled": True, "cancel_reason": "compacted"})
        else:
            below = key + "some" if key.endswith("/") else key
            revision = str(self.server.revision_of(key))
            entry = {"key": base64.b64encode(below.encode()).decode(), "mod_revision": revision}
            self._say({"events": [{"kv": entry}]})
        self.server.over.wait(30)

    def _say(self, result: dict[str, Any]) -> None:
        self.wfile.write(json.dumps({"result": result}).encode() + b"\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    server = Gateway()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


def follow_revisions(gateway: Gateway, keys: tuple[str, ...], upto: int) -> bool:
    """Whether a store hears of all revisions up to a number."""
    store, stop = ObjectStore(), threading.Event()
    revisions = Revisions(f"http://127.0.0.1:{gateway.server_port}", store, stop)
    for key in keys:
        threading.Thread(target=partial(revisions.follow, key), daemon=True).start()
    try:
        return store.wait(lambda: store.saw_all(0, upto), 20)
    finally:
        stop.set()
        gateway.over.set()
        revisions.close()


def test_all_paths_are_watched_with_one_request_per_stream(gateway: Gateway) -> None:
    assert follow_revisions(gateway, WATCHED, len(WATCHED))
    assert sorted(gateway.watched_keys) == sorted(WATCHED)


def test_cancelled_watch_is_restarted(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions_module, "_RETRY_SECONDS", 0.0)
    gateway.cancels = 2
    assert follow_revisions(gateway, WATCHED[:1], 1)
    assert gateway.watched_keys == [WATCHED[0]] * 3
