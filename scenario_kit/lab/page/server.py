"""The page and its JSON over HTTP: loopback only, reading only.

::

    GET /                                   the page; it holds nothing of the lab
    GET /api/worlds                         {"worlds": [...]}
    GET /api/worlds/{namespace}             one world (``document.document``)
    GET /api/worlds/{namespace}/logs/{component}   {"lines": [...]}

Whoever may read has the token, which ``lab open`` puts into the fragment of the address: a browser does not send that
part, and the page sends it on as a bearer token. Requests whose Host is not this address are refused, so that a name
of a stranger that resolves to loopback gets nothing; so are those that a page of another origin makes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from scenario_kit.catalog import data_root
from scenario_kit.errors import InfrastructureError, NotFound
from scenario_kit.lab.addresses import LOOPBACK
from scenario_kit.model import Object

_LOG = logging.getLogger(__name__)
_NAME = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"
_WORLD = re.compile(rf"/api/worlds/(?P<namespace>{_NAME})(/logs/(?P<component>{_NAME}))?")
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Reads(Protocol):
    """What is asked; ``source.Source`` answers."""

    def worlds(self) -> list[Object]:
        """All worlds."""

    def world(self, namespace: str) -> Object:
        """One world; raises ``NotFound``."""

    def logs(self, namespace: str, component: str) -> list[Object]:
        """Lines of a component; raises ``NotFound``."""


class Answer(NamedTuple):
    """Status, body and its type."""

    status: int
    body: bytes
    type: str = "application/json"


class Page(NamedTuple):
    """The HTML, and the policy under which a browser may show it: its own script and style, its own server."""

    html: bytes
    policy: str


class Site:
    """Requests in, answers out; knows nothing of sockets."""

    def __init__(self, source: Reads, token: str, lab: str) -> None:
        self._source = source
        self._token = token.encode()
        self.page = page(lab)

    def answer(self, method: str, path: str, header: Callable[[str, str], str], port: int) -> Answer:
        """Answer one request to the server on ``port``; ``header(name, default)`` reads a header."""
        if header("Host", "") not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            return _refusal(403, "this address is not the page's own", "open the address that 'lab open' prints")
        if header("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return _refusal(403, "another site asked", "open the address that 'lab open' prints")
        if method != "GET":
            return _refusal(405, f"{method}: this page only reads")
        path = path.partition("?")[0]
        if path == "/":
            return Answer(200, self.page.html, "text/html; charset=utf-8")
        scheme, _, token = header("Authorization", "").partition(" ")
        if scheme != "Bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
            return _refusal(401, "the token is missing or wrong", "open the whole address that 'lab open' prints")
        try:
            return self._read(path)
        except NotFound as error:
            return _refusal(404, error.message, error.fix)
        except InfrastructureError as error:
            return _refusal(503, error.message, error.fix)
        except Exception as error:  # noqa: BLE001 - the page is told, and the next question is answered
            _LOG.exception("%s failed", path)
            return _refusal(500, f"{type(error).__name__}: {error}", "a bug of ours: see where 'lab open' runs")

    def _read(self, path: str) -> Answer:
        if path == "/api/worlds":
            return _json(200, {"worlds": self._source.worlds()})
        match = _WORLD.fullmatch(path)
        if match is None:
            return _refusal(404, f"{path}: no such page")
        if match["component"]:
            return _json(200, {"lines": self._source.logs(match["namespace"], match["component"])})
        return _json(200, self._source.world(match["namespace"]))


def serve(site: Site, port: int) -> ThreadingHTTPServer:
    """A server on loopback, not running yet; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        server_version = "lab"
        sys_version = ""
        timeout = 60

        def _handle(self) -> None:
            self.close_connection = self.close_connection or self.command != "GET"  # a body would be left unread
            port = int(self.connection.getsockname()[1])
            answer = site.answer(self.command, self.path, lambda n, d: str(self.headers.get(n, d)), port)
            try:
                self.send_response(answer.status)
                for name, value in (*_HEADERS.items(), ("Content-Security-Policy", site.page.policy)):
                    self.send_header(name, value)
                self.send_header("Content-Type", answer.type)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)
            except ConnectionError:
                self.close_connection = True  # the browser left

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _handle  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            _LOG.debug(format, *args)

    server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    server.daemon_threads = True
    return server


def page(lab: str) -> Page:
    """The page of a lab of that name: one document with script and style inside."""
    root = data_root() / "templates"
    style, script = (root / "report" / "style.css").read_text(), (root / "lab" / "page.js").read_text()
    style += (root / "lab" / "page.css").read_text()
    environment = Environment(
        loader=FileSystemLoader(root / "lab"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    html = environment.get_template("page.html.j2").render(lab=lab, style=style, script=script)
    policy = (
        f"default-src 'none'; connect-src 'self'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Page(html.encode(), policy)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(status: int, document: Any) -> Answer:
    return Answer(status, msgspec.json.encode(document))


def _refusal(status: int, error: str, fix: str = "") -> Answer:
    return _json(status, {"error": error, "fix": fix})
