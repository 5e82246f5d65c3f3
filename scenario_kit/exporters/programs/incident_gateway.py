"""Expose the MCP server of a live incident to other containers (scenario-kit, docs/export.md).

It starts ``scenario-kit mcp``, which listens on this container's loopback beside the lab, and forwards only ``/mcp`` to
it. Once the solver has exited, ``--finish`` ends the run and waits for its record.

Usage: python3 incident_gateway.py SCENARIO [--port 8765] [--records /tmp/records] [--lab NAME] [--stage both]
       python3 incident_gateway.py --finish [--port 8765] [--records /tmp/records]
"""

from __future__ import annotations

import argparse
import http.client
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

#: Timeout in seconds for judging a stopped run.
JUDGEMENT_SECONDS = 900
SECONDS = 3600
#: Headers that are not forwarded: hop-by-hop ones (RFC 9110, 7.6.1), Host and Content-Length.
_SKIPPED = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "host", "content-length"}


class IncidentServer(ThreadingHTTPServer):
    """A server that forwards to ``address``, which ``scenario-kit mcp`` prints; empty until then."""

    daemon_threads = True
    address = ""


class Forwarder(BaseHTTPRequestHandler):
    """Handles health checks and MCP messages."""

    protocol_version = "HTTP/1.1"
    server: IncidentServer

    def do_GET(self) -> None:
        """Answer a health check, or forward."""
        if self.path == "/healthz":
            self._answer(200 if self.server.address else 503)
        else:
            self._forward()

    def do_POST(self) -> None:
        """Forward a message."""
        self._forward()

    def do_DELETE(self) -> None:
        """Forward a session's termination."""
        self._forward()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the run's record has every call."""

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _forward(self) -> None:
        if self.path != "/mcp" or not self.server.address:
            self._answer(404 if self.path != "/mcp" else 503)
            return
        target = urllib.parse.urlsplit(self.server.address)
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _SKIPPED}
        connection = http.client.HTTPConnection(target.hostname or "127.0.0.1", target.port, timeout=SECONDS)
        try:
            connection.request(self.command, target.path, self.rfile.read(length), headers)
            self._copy(connection.getresponse())
        except OSError:
            self._answer(502)
        finally:
            connection.close()
            self.close_connection = True

    def _copy(self, answer: http.client.HTTPResponse) -> None:
        """Copy a response chunk by chunk, since it may be an event stream."""
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _SKIPPED:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while chunk := answer.read1(1 << 16):
            self.wfile.write(chunk)
            self.wfile.flush()


def serve(given: argparse.Namespace) -> int:
    """Serve one incident; keep running when it ends so that its record can be collected."""
    server = IncidentServer((given.listen, given.port), Forwarder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    command = ["scenario-kit", "mcp", given.scenario, "--transport", "http", "--runs", given.records, "--label", "run"]
    command += ["--stage", given.stage, "--name", given.lab, "--wall-seconds", str(2 * SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            for line in process.stdout:
                if line.startswith("http://") and not server.address:
                    server.address = line.strip()
                    print(f"serving at {given.listen}:{server.server_address[1]}", flush=True)
        finally:
            process.terminate()
    server.address = ""
    if process.returncode:
        return process.returncode
    threading.Event().wait()
    return 0


def finish(given: argparse.Namespace) -> int:
    """End the run unless the solver has, wait for its record, and copy it to ``<records>/record.json``."""
    from incident_client import IncidentClient

    try:
        IncidentClient(f"http://127.0.0.1:{given.port}/mcp").call("stop", {"reason": "the solver exited"})
    except (OSError, RuntimeError) as problem:
        print(f"the run had already ended: {problem}", file=sys.stderr)
    records = Path(given.records)
    deadline = time.monotonic() + JUDGEMENT_SECONDS
    while time.monotonic() < deadline:
        found = sorted(records.glob("*/run/*/record.json"))
        if found:
            (records / "record.json").write_bytes(found[-1].read_bytes())
            return 0
        time.sleep(1.0)
    print("the run was not judged in time", file=sys.stderr)
    return 1


def main() -> int:
    """Serve or finish."""
    parser = argparse.ArgumentParser(description="Serve one incident to other containers.")
    parser.add_argument("scenario", nargs="?")
    parser.add_argument("--finish", action="store_true")
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--records", default="/tmp/records")  # noqa: S108
    parser.add_argument("--lab", default="solve")
    parser.add_argument("--stage", default="both")
    given = parser.parse_args()
    if not given.finish and not given.scenario:
        parser.error("name a scenario")
    return finish(given) if given.finish else serve(given)


if __name__ == "__main__":
    sys.exit(main())
