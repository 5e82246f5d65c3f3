from __future__ import annotations

import json

import pytest

from scenario_kit.clients.api_errors import NotServed, build_error
from scenario_kit.errors import (
    AlreadyExists,
    ClusterError,
    Conflict,
    Forbidden,
    NotFound,
    Rejected,
    Unreachable,
)


def status(reason: str = "", message: str = "") -> bytes:
    return json.dumps({"kind": "Status", "reason": reason, "message": message}).encode()


RBAC = 'pods is forbidden: User "oncall" cannot list resource "pods" in API group "" at the cluster scope'
QUOTA = 'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        (400, status("BadRequest", "container is waiting to start"), Rejected),
        (401, status("Unauthorized", "Unauthorized"), Forbidden),
        (403, status("Forbidden", RBAC), Forbidden),
        (403, status("Forbidden", QUOTA), Rejected),
        (403, status("Forbidden", 'admission webhook "w" denied the request: no'), Rejected),
        (403, b"proxy says no", Forbidden),
        (404, status("NotFound", 'pods "x" not found'), NotFound),
        (404, b"404 page not found\n", NotServed),
        (404, status("NotFound", "the server could not find the requested resource"), NotServed),
        (405, status("MethodNotAllowed", "no"), Rejected),
        (408, b"", Unreachable),
        (409, status("AlreadyExists", "there"), AlreadyExists),
        (409, status("Conflict", "the object has been modified"), Conflict),
        (410, status("Expired", "too old resource version"), Conflict),
        (412, b"", Conflict),
        (413, status("RequestEntityTooLarge", "big"), Rejected),
        (415, status("UnsupportedMediaType", "what"), Rejected),
        (422, status("Invalid", "spec: Required value"), Rejected),
        (429, status("TooManyRequests", "later"), Unreachable),
        (301, b"", Unreachable),
        (500, status("InternalError", "failed calling webhook"), Unreachable),
        (502, b"<html>bad gateway</html>", Unreachable),
        (503, status("ServiceUnavailable", ""), Unreachable),
        (504, status("Timeout", ""), Unreachable),
    ],
)
def test_build_error_by_status(code: int, body: bytes, expected: type[ClusterError]) -> None:
    error = build_error(code, body, "GET http://h/api/v1/pods")
    assert type(error) is expected
    assert error.status == code
    assert "GET http://h/api/v1/pods" in error.message


def test_build_error_keeps_server_message() -> None:
    assert QUOTA in build_error(403, status("Forbidden", QUOTA), "POST x").message
