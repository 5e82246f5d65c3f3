"""The webhook's HTTPS server."""

from __future__ import annotations

import logging
import ssl
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Any, Final

import msgspec

from operators.http import QuietHandler, listen, serve_in_thread
from operators.webhook.review import InvalidReview, JudgeObject, answer_review
from scenario_kit.model.base import encode_json
from scenario_kit.schema.webhook import PATH

log = logging.getLogger(__name__)
#: Maximum size of a request: the API server accepts objects of 3 MiB, and an update contains two.
_MAX_BYTES: Final = 8 << 20
#: Seconds after which an idle connection is closed; the API server keeps connections open.
_IDLE_TIMEOUT: Final = 120


class ReviewServer(ThreadingHTTPServer):
    """Handles each connection in its own thread, including the TLS handshake."""

    daemon_threads = True
    request_queue_size = 128
    #: Operators on one machine share the port, so a standby serves on when the leader exits.
    allow_reuse_port = True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the library's names
        """Log aborted connections, as of port scanners and clients that do not trust the certificate."""
        log.debug("connection aborted", exc_info=True)


def create_context() -> ssl.SSLContext:
    """Create a server's TLS context; its certificate can be reloaded while it serves."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def answer_request(method: str, path: str, body: bytes, judge: JudgeObject) -> tuple[HTTPStatus, bytes]:
    """Answer one HTTP request with status and JSON.

    The API server admits the object if this fails (``failurePolicy: Ignore``).
    """
    if path.partition("?")[0] != PATH:
        return _refuse(HTTPStatus.NOT_FOUND, f"reviews are answered at {PATH}")
    if method != "POST":
        return _refuse(HTTPStatus.METHOD_NOT_ALLOWED, "reviews are sent by POST")
    try:
        review = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        return _refuse(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}")
    try:
        return HTTPStatus.OK, encode_json(answer_review(review, judge))
    except InvalidReview as error:
        return _refuse(HTTPStatus.BAD_REQUEST, f"the body is not an admission review: {error}")
    except Exception:  # the operator judges the object again when it reconciles it
        log.exception("cannot judge an object")
        return _refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "cannot judge the object")


def _refuse(status: HTTPStatus, error: str) -> tuple[HTTPStatus, bytes]:
    return status, encode_json({"error": error})


def serve_reviews(address: tuple[str, int], context: ssl.SSLContext, judge: JudgeObject) -> ReviewServer:
    """Serve reviews in a thread until ``shutdown`` is called on the returned server.

    Raises:
        UsageError: the address cannot be bound.
    """

    class ReviewHandler(QuietHandler):
        """Handles requests of the API server."""

        protocol_version = "HTTP/1.1"
        timeout = _IDLE_TIMEOUT

        def _handle(self) -> None:
            status, body = self._answer()
            self.write_answer(status, "application/json", body)

        def _answer(self) -> tuple[HTTPStatus, bytes]:
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or int(length) > _MAX_BYTES or "Transfer-Encoding" in self.headers:
                self.close_connection = True
                return _refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {_MAX_BYTES} bytes")
            return answer_request(self.command, self.path, self.rfile.read(int(length)), judge)

        do_GET = do_POST = do_PUT = _handle  # noqa: N815 - the library's names

    server = listen(ReviewServer, address, ReviewHandler, "--webhook")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    serve_in_thread(server, "webhook")
    return server
