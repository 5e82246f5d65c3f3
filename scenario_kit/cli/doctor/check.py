"""One finding of ``doctor``."""

from __future__ import annotations

from typing import NamedTuple


class DoctorCheck(NamedTuple):
    """One thing that was looked at. ``fix`` is a command; empty where nothing is wrong, or nothing can be done."""

    name: str
    fine: bool
    observed: str
    fix: str = ""
