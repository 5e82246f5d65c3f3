"""The HTTPS server that the API server asks."""

from __future__ import annotations

import logging
import ssl
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Any, Final

import msgspec

from operators.http import QuietHandler, listen, serve_in_thread
from operators.webhook.review import InvalidReview, JudgeObject, answer_review
from scenario_kit.schema.webhook import PATH

log = logging.getLogger(__name__)
#: Bytes of a request: the API server takes objects of 3 MiB, and an update holds two of them.
_MOST_BYTES: Final = 8 << 20
#: Seconds after which a connection that sends nothing is closed; the API server keeps some open.
_PATIENCE: Final = 120


class ReviewServer(ThreadingHTTPServer):
    """Answers each connection in a thread of its own, TLS handshake included."""

    daemon_threads = True
    request_queue_size = 128
    #: Another operator that waits for the Lease on this machine listens at the same port, and serves on alone.
    allow_reuse_port = True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the library's names
        """Log what broke off: scanners of ports, clients that do not trust the certificate."""
        log.debug("a connection broke off", exc_info=True)


def create_context() -> ssl.SSLContext:
    """Create a context for a server; its certificate may be loaded, and loaded again, while it serves."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def answer_request(method: str, path: str, body: bytes, judge: JudgeObject) -> tuple[HTTPStatus, bytes]:
    """Answer one HTTP request with status and JSON.

    Whatever goes wrong here is an error to the API server, which then admits the object (``failurePolicy: Ignore``).
    """
    if path.partition("?")[0] != PATH:
        return _refuse(HTTPStatus.NOT_FOUND, f"reviews are answered at {PATH}")
    if method != "POST":
        return _refuse(HTTPStatus.METHOD_NOT_ALLOWED, "reviews are sent by POST")
    try:
        review = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        return _refuse(HTTPStatus.BAD_REQUEST, f"this is no JSON: {error}")
    try:
        return HTTPStatus.OK, msgspec.json.encode(answer_review(review, judge))
    except InvalidReview as error:
        return _refuse(HTTPStatus.BAD_REQUEST, f"this is no admission review: {error}")
    except Exception:  # the operator judges the object once more, and tells what is wrong
        log.exception("an object could not be judged")
        return _refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "the object could not be judged")


def _refuse(status: HTTPStatus, error: str) -> tuple[HTTPStatus, bytes]:
    return status, msgspec.json.encode({"error": error})


def serve_reviews(address: tuple[str, int], context: ssl.SSLContext, judge: JudgeObject) -> ReviewServer:
    """Serve reviews in a thread, until ``shutdown`` is called on what is returned.

    Raises:
        UsageError: nothing can listen at the address.
    """

    class ReviewHandler(QuietHandler):
        """Reads requests of the API server."""

        protocol_version = "HTTP/1.1"
        timeout = _PATIENCE

        def _handle(self) -> None:
            status, body = self._answer()
            self.write_answer(status, "application/json", body)

        def _answer(self) -> tuple[HTTPStatus, bytes]:
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or int(length) > _MOST_BYTES or "Transfer-Encoding" in self.headers:
                self.close_connection = True
                return _refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {_MOST_BYTES} bytes")
            return answer_request(self.command, self.path, self.rfile.read(int(length)), judge)

        do_GET = do_POST = do_PUT = _handle  # noqa: N815 - the library's names

    server = listen(ReviewServer, address, ReviewHandler, "--webhook")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    serve_in_thread(server, "webhook")
    return server
