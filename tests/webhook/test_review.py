"""The protocol of admission reviews, and its HTTP."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import pytest

from operators.webhook.review import InvalidReview, ObjectJudgement, answer_review
from operators.webhook.server import answer_request
from scenario_kit.schema.webhook import PATH

OBJECT = {"kind": "Scenario", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}


def review(**request: Any) -> dict[str, Any]:
    request_fields = {"uid": "u", "operation": "CREATE", "object": OBJECT, **request}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request_fields}


def refuse(obj: dict[str, Any]) -> ObjectJudgement:
    return ObjectJudgement((f"{obj['metadata']['namespace']}/{obj['metadata']['name']} is wrong", "SK101 here"))


def allow(obj: dict[str, Any]) -> ObjectJudgement:
    return ObjectJudgement(warnings=("a" * 300,) * 20)


def test_refusal_status_contains_every_line() -> None:
    answer = answer_review(review(), refuse)

    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert answer["response"]["uid"] == "u"
    assert answer["response"]["allowed"] is False
    assert answer["response"]["status"]["message"] == "b/a is wrong\nSK101 here"
    assert answer["response"]["status"]["code"] == 403


def test_admission_warnings_fit_client_limits() -> None:
    response = answer_review(review(), allow)["response"]

    assert response["allowed"] is True
    assert "status" not in response
    assert [len(text) for text in response["warnings"]] == [256] * 8


def test_deletion_is_allowed_and_dry_run_is_reviewed() -> None:
    assert answer_review(review(operation="DELETE", object=None), refuse)["response"]["allowed"] is True
    assert answer_review(review(dryRun=True), refuse) == answer_review(review(dryRun=False), refuse)


def test_request_namespace_is_used_if_object_has_none() -> None:
    nameless = {"kind": "Scenario", "metadata": {"generateName": "x-"}, "spec": {}}
    answer = answer_review(review(object=nameless, namespace="scenario-kit"), refuse)

    assert answer["response"]["status"]["message"].startswith("scenario-kit/x- is wrong")


BROKEN = [
    None,
    [],
    {},
    {"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview", "request": {"uid": "u"}},
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"},
    review(uid=7),
    review(object=None),
    review(object={"metadata": {}}),
    review(object={"metadata": [], "spec": {}}),
]


@pytest.mark.parametrize("document", BROKEN)
def test_invalid_review_is_rejected(document: Any) -> None:
    with pytest.raises(InvalidReview):
        answer_review(document, refuse)
    status, body = answer_request("POST", PATH, json.dumps(document).encode(), refuse)
    assert status == HTTPStatus.BAD_REQUEST
    assert "error" in json.loads(body)


def fail(obj: dict[str, Any]) -> ObjectJudgement:
    raise ValueError("a bug")


@pytest.mark.parametrize(
    ("method", "path", "body", "judge", "status"),
    [
        ("POST", PATH, json.dumps(review()).encode(), allow, HTTPStatus.OK),
        ("POST", f"{PATH}?timeout=5s", json.dumps(review()).encode(), allow, HTTPStatus.OK),
        ("GET", PATH, b"", allow, HTTPStatus.METHOD_NOT_ALLOWED),
        ("POST", "/", b"{}", allow, HTTPStatus.NOT_FOUND),
        ("POST", PATH, b"{", allow, HTTPStatus.BAD_REQUEST),
        ("POST", PATH, b"[" * 100_000, allow, HTTPStatus.BAD_REQUEST),
        ("POST", PATH, b"\xff\xfe", allow, HTTPStatus.BAD_REQUEST),
        ("POST", PATH, json.dumps(review()).encode(), fail, HTTPStatus.INTERNAL_SERVER_ERROR),
    ],
)
def test_requests(method: str, path: str, body: bytes, judge: Any, status: HTTPStatus) -> None:
    assert answer_request(method, path, body, judge)[0] == status
