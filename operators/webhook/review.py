"""Answering an admission review: a pure function of the reviewed object.

The format is that of ``admission.k8s.io/v1``
(https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/).
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from scenario_kit.model import Object

_API: Final = "admission.k8s.io/v1"
_KIND: Final = "AdmissionReview"
#: Maximum length of a refusal and of a warning; clients truncate longer warnings.
_MAX_MESSAGE_CHARACTERS: Final = 8000
_MAX_WARNING_CHARACTERS: Final = 256
#: Maximum number of warnings about an object.
_MAX_WARNINGS: Final = 8


class InvalidReview(Exception):
    """The request is not an AdmissionReview of the supported version."""


class ObjectJudgement(NamedTuple):
    """The judgement of an object: the lines of its refusal, and warnings, which do not block it."""

    refusal: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


#: Judges an object that the API server has validated against its schema.
JudgeObject = Callable[[Object], ObjectJudgement]


def answer_review(review: Any, judge: JudgeObject) -> Object:
    """Answer an admission review.

    Deletions are always allowed. Nothing is written, so dry runs need no special case.

    Raises:
        InvalidReview: it is not a review of the supported version.
    """
    request = _read_request(review)
    judged = ObjectJudgement() if request.get("operation") == "DELETE" else judge(_read_object(request))
    response: Object = {"uid": request["uid"], "allowed": not judged.refusal}
    if judged.refusal:
        # kubectl shows the message of a 403; for a 422 it shows only the causes by field.
        message = "\n".join(judged.refusal)[:_MAX_MESSAGE_CHARACTERS]
        response["status"] = {"code": HTTPStatus.FORBIDDEN, "reason": "Forbidden", "message": message}
    if judged.warnings:
        response["warnings"] = [text[:_MAX_WARNING_CHARACTERS] for text in judged.warnings[:_MAX_WARNINGS]]
    return {"apiVersion": _API, "kind": _KIND, "response": response}


def _read_request(review: Any) -> Object:
    if not isinstance(review, dict) or (review.get("apiVersion"), review.get("kind")) != (_API, _KIND):
        raise InvalidReview(f"expected an {_KIND} of {_API}")
    request = review.get("request")
    if not isinstance(request, dict) or not isinstance(request.get("uid"), str):
        raise InvalidReview("expected `request` with its `uid`")
    return request


def _read_object(request: Object) -> Object:
    obj = request.get("object")
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict) or not isinstance(obj.get("spec"), dict):
        raise InvalidReview("expected `request.object` with `metadata` and `spec`")
    # With generateName, the API server has not set the name yet.
    name = obj["metadata"].get("name") or obj["metadata"].get("generateName") or ""
    namespace = obj["metadata"].get("namespace") or request.get("namespace") or ""
    return {**obj, "metadata": {**obj["metadata"], "name": name, "namespace": namespace}}
