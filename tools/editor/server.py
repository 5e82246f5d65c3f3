"""A minimal client of yaml-language-server: one file, over standard input and output."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

#: Seconds to wait for a response.
PATIENCE = 60
_SETTINGS = {
    "yaml": {"validate": True, "completion": True, "hover": True, "schemaStore": {"enable": False}, "schemas": {}}
}


class Server:
    """The language server as a subprocess; it ends with the ``with`` statement."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(program), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Server:
        contents = {"contentFormat": ["markdown"]}
        capabilities = {
            "workspace": {"configuration": True},
            "textDocument": {
                "completion": {"completionItem": {"documentationFormat": ["markdown"]}},
                "hover": contents,
            },
        }
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.tell("initialized", {})
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def opened(self, path: Path, text: str) -> list[dict[str, Any]]:
        """Open a file, which need not exist; returns the server's diagnostics."""
        document = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        reported = self._wait(
            lambda answer: (
                answer.get("method") == "textDocument/publishDiagnostics" and answer["params"]["uri"] == path.as_uri()
            )
        )
        found: list[dict[str, Any]] = reported["params"]["diagnostics"]
        return found

    def completions(self, path: Path, line: int, column: int) -> dict[str, str]:
        """Return the labels offered at a position (from 0), each with its documentation."""
        result = self.ask("textDocument/completion", _build_position(path, line, column))
        return {item["label"]: _read_content(item.get("documentation", "")) for item in result["items"]}

    def hover(self, path: Path, line: int, column: int) -> str:
        """Return the hover text at a position."""
        result = self.ask("textDocument/hover", _build_position(path, line, column))
        return _read_content(result["contents"]) if result else ""

    def ask(self, method: str, parameters: Mapping[str, Any]) -> Any:
        """Send a request and return its result."""
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": parameters})
        return self._wait(lambda answer: answer.get("id") == number and "method" not in answer)["result"]

    def tell(self, method: str, parameters: Mapping[str, Any]) -> None:
        """Send a notification."""
        self._send({"method": method, "params": parameters})

    def _wait(self, desired: Any) -> dict[str, Any]:
        while True:
            try:
                answer = self._answers.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError("the language server does not answer") from None
            if desired(answer):
                return answer
            if "id" in answer and "method" in answer:  # a request of the server
                asked = answer["params"].get("items", []) if answer["method"] == "workspace/configuration" else None
                result = None if asked is None else [_SETTINGS.get(item.get("section", ""), {}) for item in asked]
                self._send({"id": answer["id"], "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream
        while header := stream.readline():
            length = int(header.partition(b":")[2]) if header.lower().startswith(b"content-length") else 0
            while header.strip():
                header = stream.readline()
            self._answers.put(json.loads(stream.read(length)))


def _build_position(path: Path, line: int, column: int) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": column}}


def _read_content(content: Any) -> str:
    return str(content["value"]) if isinstance(content, dict) else str(content)
