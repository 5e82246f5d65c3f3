"""Result of one check of ``doctor``."""

from __future__ import annotations

from typing import NamedTuple


class DoctorCheck(NamedTuple):
    """One check. ``fix`` is a command; empty if nothing is wrong or nothing can be done."""

    name: str
    fine: bool
    observed: str
    fix: str = ""
