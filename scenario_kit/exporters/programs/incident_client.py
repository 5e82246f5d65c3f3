"""A client of an incident's MCP server; standard library only (scenario-kit, docs/export.md).

Usage: python3 incident_client.py --url URL --calls FILE      a JSON list of {"tool": …, "arguments": {…}}
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

PROTOCOL = "2025-06-18"
#: Timeout of a call in seconds; the first call waits until the incident is ready.
SECONDS = 1800


class IncidentClient:
    """One MCP session over streamable HTTP."""

    def __init__(self, url: str) -> None:
        self._url, self._session, self._number = url, "", 0
        about = {"name": "scenario-kit", "version": "1"}
        self._ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Call a tool; returns its text and whether it failed."""
        found = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in found.get("content", ()))
        return text, bool(found.get("isError"))

    def _ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        for found in self._send(message):
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error'].get('message')}")
                return dict(found["result"])
        raise RuntimeError(f"{method}: no response from the server")

    def _send(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._session:
            headers |= {"Mcp-Session-Id": self._session, "MCP-Protocol-Version": PROTOCOL}
        request = urllib.request.Request(self._url, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            self._session = answer.headers.get("Mcp-Session-Id") or self._session
            text = answer.read().decode()
        if not text.strip():
            return []
        if text.lstrip().startswith("{"):
            return [json.loads(text)]
        return [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]


def main() -> int:
    """Make the calls of a file in order; stop at the first failure."""
    parser = argparse.ArgumentParser(description="Call tools of an incident.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--calls", type=Path, required=True)
    given = parser.parse_args()
    client = IncidentClient(given.url)
    for each in json.loads(given.calls.read_text(encoding="utf-8")):
        text, failed = client.call(each["tool"], each["arguments"])
        print(f"{each['tool']}: {text}")
        if failed:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
