"""Secrets, as the API server stores them."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model.kubernetes.secret import encode_secret


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({"stringData": {"password": "wie geht's"}}, {"data": {"password": "d2llIGdlaHQncw=="}}),
        ({"stringData": {"a": "new"}, "data": {"a": "b2xk", "b": "b2xk"}}, {"data": {"a": "bmV3", "b": "b2xk"}}),
        ({"data": {"a": "b2xk"}}, {"data": {"a": "b2xk"}}),
        ({"stringData": {"port": 5432, "a": ""}}, {"stringData": {"port": 5432}, "data": {"a": ""}}),
        ({"stringData": "text"}, {"stringData": "text"}),
        ({"stringData": {"a": "b"}, "data": "text"}, {"stringData": {"a": "b"}, "data": "text"}),
        ({}, {}),
    ],
)
def test_texts_are_stored_encoded(written: dict[str, Any], stored: dict[str, Any]) -> None:
    assert encode_secret({"kind": "Secret", **written}) == {"kind": "Secret", **stored}


def test_other_kinds_keep_their_fields() -> None:
    resource = {"kind": "Password", "stringData": {"a": "b"}}
    assert encode_secret(resource) is resource
