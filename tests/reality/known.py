"""Differences that remain between the simulated kubelet and a real one, each with its cause (docs/fidelity.md)."""

from __future__ import annotations

import re

from scenario_kit.model.base import Value
from tests.reality.compare import Difference


class Known(Value, frozen=True, kw_only=True):
    """Differences whose case and aspect match the patterns in full, and the reason why they are left."""

    case: str
    aspect: str
    cause: str


KNOWN: tuple[Known, ...] = ()


def matches(known: Known, difference: Difference) -> bool:
    """Whether it is one of those."""
    return bool(re.fullmatch(known.case, difference.case) and re.fullmatch(known.aspect, difference.aspect))


def cause(difference: Difference) -> str:
    """Why this difference is left; empty where nobody has said so."""
    return next((k.cause for k in KNOWN if matches(k, difference)), "")
