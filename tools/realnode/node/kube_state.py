"""The series of kube-state-metrics, of all objects of a cluster, for Prometheus to scrape.

kube-state-metrics itself is not published as a Go module that could be verified, so these are the series that a lab
makes of the same objects (``scenario_kit.lab.telemetry``); everything in them is what the API server says.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Final, Protocol

from operators.http import QuietHandler, serve_in_thread
from scenario_kit.errors import ScenarioKitError
from scenario_kit.lab.telemetry.exposition import CONTENT_TYPE, format_exposition
from scenario_kit.lab.telemetry.kube_state import PRODUCERS, KubeState
from scenario_kit.model import Object
from scenario_kit.model.runtime.process import SeriesId

PORT: Final = 8080
_RETRY_SECONDS: Final = 1.0


class WatchedCluster(Protocol):
    """The part of ``KubeCluster`` that is used."""

    def watch(self, kind: str, *, stop: threading.Event) -> Iterator[tuple[str, Object]]:
        """Yield all objects of a kind, ``SYNCED`` after them, and then whatever changes."""


class ClusterState:
    """The series of a cluster; its objects are watched, each kind by a thread, so that a scrape sends no requests."""

    def __init__(self, cluster: WatchedCluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._objects: dict[str, dict[str, dict[str, Object]]] = {}
        self._states: dict[str, KubeState] = {}
        self._synced: set[str] = set()

    def start(self, stop: threading.Event) -> None:
        """Start to watch, until ``stop``."""
        for kind in PRODUCERS:
            threading.Thread(target=self._watch, args=(kind, stop), name=f"watch {kind}", daemon=True).start()

    def collect(self) -> dict[SeriesId, float] | None:
        """Collect the series of all objects, as they are now; None until each kind was listed."""
        with self._lock:
            if self._synced < PRODUCERS.keys():
                return None
            self._states = {space: self._states.get(space) or KubeState() for space in self._objects}
            samples: dict[SeriesId, float] = {}
            for space, objects in self._objects.items():
                samples |= self._states[space].collect(objects)
            return samples

    def _watch(self, kind: str, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                for event, obj in self._cluster.watch(kind, stop=stop):
                    self._note(kind, event, obj)
            except ScenarioKitError as error:
                print(f"series of {kind}: {error}; trying again", file=sys.stderr)
                stop.wait(_RETRY_SECONDS)

    def _note(self, kind: str, event: str, obj: Object) -> None:
        with self._lock:
            if event == "SYNCED":
                self._synced.add(kind)
                return
            space = self._objects.setdefault(obj["metadata"].get("namespace", ""), {})
            if event == "DELETED":
                space.get(kind, {}).pop(obj["metadata"]["name"], None)
            else:
                space.setdefault(kind, {})[obj["metadata"]["name"]] = obj


def serve_cluster_state(cluster: WatchedCluster, address: str) -> None:
    """Serve ``/metrics`` at ``address`` in a thread until the process ends."""
    state = ClusterState(cluster)
    state.start(threading.Event())

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802 - the library's name
            samples = state.collect()
            status = HTTPStatus.SERVICE_UNAVAILABLE if samples is None else HTTPStatus.OK
            with contextlib.suppress(BrokenPipeError):  # the client has disconnected
                self.write_answer(status, CONTENT_TYPE, format_exposition(samples or {}).encode())

    serve_in_thread(ThreadingHTTPServer((address, PORT), Handler), "kube-state")
