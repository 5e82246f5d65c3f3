"""Secrets as the API server stores them."""

from __future__ import annotations

import base64

from scenario_kit.model.base import Object


def encode_secret(obj: Object) -> Object:
    """Return an object as it is stored: the texts in ``stringData`` of a Secret are written to its ``data``.

    Values that are no text, which the API server refuses, stay where they are. Other objects are returned as they are.
    """
    plain = obj.get("stringData")
    if obj.get("kind") != "Secret" or not isinstance(plain, dict) or not isinstance(obj.get("data") or {}, dict):
        return obj
    encoded = {k: base64.b64encode(v.encode()).decode() for k, v in plain.items() if isinstance(v, str)}
    rest = {k: v for k, v in plain.items() if k not in encoded}
    stored = {k: v for k, v in obj.items() if k != "stringData"} | {"data": {**(obj.get("data") or {}), **encoded}}
    return {**stored, "stringData": rest} if rest else stored
