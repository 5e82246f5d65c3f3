"""Whether anything that is measured could show what a fault does: the check that finds faults nobody would notice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from scenario_kit.model import App, Check

_SERVICE: Final = re.compile(r'\bservice_name\s*=~?\s*"([^"]*)"')


def unseen(checks: Iterable[Check], app: App) -> tuple[str, ...]:
    """Components that a check about requests would ask, where none of them can answer; empty where all checks can.

    Something that is no component, like a browser, is taken to answer.
    """
    mute = _mute(app)
    for check in checks:
        found = [] if check.query is None else _SERVICE.findall(check.query.expr)
        names = tuple(dict.fromkeys(name for matcher in found for name in matcher.split("|") if name))
        if names and mute.issuperset(names):
            return names
    return ()


def _mute(app: App) -> frozenset[str]:
    """Components that report no spans: the platform beside the app, and what the app's own twin says reports none."""
    twin = (app.twin or {}).get("components", {})
    return frozenset(
        c.name for c in app.components if c.role == "Platform" or (c.name in twin and "telemetry" not in twin[c.name])
    )
