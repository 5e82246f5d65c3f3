"""A scripted HTTP server on loopback, for answers that a healthy server does not give."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass
class Script:
    """Answers to requests in order; the last one repeats. ``seen`` holds method and path of each request."""

    url: str
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)


@pytest.fixture
def scripted() -> Iterator[Callable[..., Script]]:
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(*answers: tuple[int, bytes]) -> Script:
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                self.rfile.read(length)
                script.seen.append(f"{self.command} {self.path}")
                code, body = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
                if code == 0:  # hang up without an answer
                    self.close_connection = True
                    return
                self.send_response(code)
                if code == 429:  # as API servers do that have too much to do
                    self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        script = Script(f"http://127.0.0.1:{server.server_port}", list(answers))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return script

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def kubeconfig_for(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a kubeconfig for a server: context ``x`` in namespace ``shop`` is current, ``y`` is in ``other``."""

    def write(url: str) -> Path:
        file = tmp_path / "kubeconfig"
        context = {"cluster": "c", "user": "u", "namespace": "shop"}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "x",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": "secret-token"}}],
            "contexts": [
                {"name": "x", "context": context},
                {"name": "y", "context": {**context, "namespace": "other"}},
            ],
        }
        file.write_text(json.dumps(document))
        return file

    return write
