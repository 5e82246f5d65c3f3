"""The series of kube-state-metrics, of all objects of a cluster, for Prometheus to scrape.

kube-state-metrics itself is not published as a Go module that could be verified, so these are the series that a lab
makes of the same objects (``scenario_kit.lab.telemetry``); everything in them is what the API server says.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from scenario_kit.errors import ScenarioKitError
from scenario_kit.lab.telemetry.exposition import CONTENT_TYPE, format_exposition
from scenario_kit.lab.telemetry.kube_state import PRODUCERS, KubeState
from scenario_kit.model import Object
from scenario_kit.model.runtime.process import SeriesId
from scenario_kit.ports import Cluster

PORT: Final = 8080


class ClusterState:
    """The series of a cluster; thread-safe."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._namespaces: dict[str, KubeState] = {}
        self._lock = threading.Lock()

    def collect(self) -> dict[SeriesId, float]:
        """Collect the series of all objects, as they are now."""
        by_namespace: dict[str, dict[str, dict[str, Object]]] = {}
        for kind in PRODUCERS:
            for obj in self._cluster.list(kind):
                space = obj["metadata"].get("namespace", "")
                by_namespace.setdefault(space, {}).setdefault(kind, {})[obj["metadata"]["name"]] = obj
        with self._lock:
            self._namespaces = {n: self._namespaces.get(n) or KubeState() for n in by_namespace}
            samples: dict[SeriesId, float] = {}
            for space, objects in by_namespace.items():
                samples |= self._namespaces[space].collect(objects)
            return samples


def serve_cluster_state(cluster: Cluster, address: str) -> None:
    """Serve ``/metrics`` at ``address``, in a thread of its own, until the process ends."""
    state = ClusterState(cluster)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                body, code = format_exposition(state.collect()).encode(), 200
            except ScenarioKitError as error:
                body, code = str(error).encode(), 503
            self.send_response(code)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing: it is scraped every 15 s."""

    server = ThreadingHTTPServer((address, PORT), Handler)
    threading.Thread(target=server.serve_forever, name="kube-state", daemon=True).start()
