"""The HTTP server of the page and its JSON: loopback only, read-only.

::

    GET /                                   the page, without data of the lab
    GET /api/worlds                         {"worlds": [...]}
    GET /api/worlds/{namespace}             one world (``document.document``)
    GET /api/worlds/{namespace}/logs/{component}   {"lines": [...]}

Access requires the token, which ``lab open`` puts into the URL's fragment: a browser does not send it, and the page
sends it as a bearer token. Cross-origin requests are rejected.
"""

from __future__ import annotations

import logging
import re
from http.server import ThreadingHTTPServer
from typing import NamedTuple, Protocol

from scenario_kit.catalog import find_data_root
from scenario_kit.catalog.page_templates import hash_source, open_page_templates
from scenario_kit.errors import InfrastructureError, NotFound
from scenario_kit.lab.host.http_server import Answer, Request, answer_json, build_refusal, create_server
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


class PageData(Protocol):
    """The page's data; ``data.PageSource`` implements it."""

    def worlds(self) -> list[Object]:
        """List all worlds."""

    def world(self, namespace: str) -> Object:
        """Return one world; raises ``NotFound``."""

    def logs(self, namespace: str, component: str) -> list[Object]:
        """Return log lines of a component; raises ``NotFound``."""


class Page(NamedTuple):
    """The HTML, and its content security policy: its own script and style, its own server."""

    html: bytes
    policy: str


class PageSite:
    """Handles requests; independent of sockets."""

    def __init__(self, source: PageData, token: str, lab: str) -> None:
        self._source = source
        self._token = token
        self.page = render_page(lab)

    def answer(self, request: Request) -> Answer:
        """Handle one request."""
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return build_refusal(403, "a request from another site", "open the address that 'lab open' prints")
        if request.method != "GET":
            return build_refusal(405, f"{request.method}: this page is read-only")
        if request.path == "/":
            return Answer(200, self.page.html, "text/html; charset=utf-8")
        if not request.has_token(self._token):
            return build_refusal(401, "the token is missing or wrong", "open the whole address that 'lab open' prints")
        try:
            return self._read(request.path)
        except NotFound as error:
            return build_refusal(404, error.message, error.fix)
        except InfrastructureError as error:
            return build_refusal(503, error.message, error.fix)
        except Exception as error:  # noqa: BLE001 - answered with 500; the server continues
            _LOG.exception("%s failed", request.path)
            return build_refusal(
                500, f"{type(error).__name__}: {error}", "an internal error: see the output of 'lab open'"
            )

    def _read(self, path: str) -> Answer:
        if path == "/api/worlds":
            return answer_json(200, {"worlds": self._source.worlds()})
        match = _WORLD.fullmatch(path)
        if match is None:
            return build_refusal(404, f"{path}: no such page")
        if match["component"]:
            return answer_json(200, {"lines": self._source.logs(match["namespace"], match["component"])})
        return answer_json(200, self._source.world(match["namespace"]))


def serve(site: PageSite, port: int) -> ThreadingHTTPServer:
    """Create a server on loopback, not running yet; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is in use.
    """

    return create_server(site.answer, port, headers={**_HEADERS, "Content-Security-Policy": site.page.policy})


def render_page(lab: str) -> Page:
    """Render the page of a lab: one document with inline script and style."""
    root = find_data_root() / "templates"
    style, script = (root / "report" / "style.css").read_text(), (root / "lab" / "page.js").read_text()
    style += (root / "lab" / "page.css").read_text()
    html = open_page_templates("lab").get_template("page.html.j2").render(lab=lab, style=style, script=script)
    policy = (
        "default-src 'none'; img-src data:; connect-src 'self'; "
        f"script-src {hash_source(script)}; style-src {hash_source(style)}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Page(html.encode(), policy)
