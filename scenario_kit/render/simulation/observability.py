"""Whether anything that is measured could show what a fault does: the check that finds faults nobody would notice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.model import App, Check
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.render.simulation.request_paths import trace_traffic

_SPANS: Final = re.compile(r"\btraces_span_metrics_\w+\s*\{([^}]*)\}")
#: What a matcher of spans holds that looks for errors.
_ERRORS: Final = re.compile(r'\bstatus_code\s*=~?\s*"STATUS_CODE_ERROR"')
_SERVICE: Final = re.compile(r'\bservice_name\s*=~?\s*"([^"]*)"')


def find_unseen(checks: Iterable[Check], app: App) -> tuple[str, ...]:
    """Find components that a check about requests would ask, where none of them can answer; empty where all checks can.

    Something that is no component, like a browser, is taken to answer.
    """
    silent = list_mute(app)
    errorless = silent | list_blind(app)
    return next((n for n, errors in _list_asked(checks) if (errorless if errors else silent).issuperset(n)), ())


def find_idle(
    checks: Iterable[Check], app: App, component: str, *, inbound: bool = False, reconnected: bool = False
) -> tuple[str, ...]:
    """Find as ``find_unseen`` does, for a fault at a component that is alone: who asks it too seldom cannot answer
    either.

    Args:
        checks: the effect checks of the fault.
        app: the app; of one without a twin nobody knows who asks whom when.
        component: where the fault is.
        inbound: whether the fault only keeps others from reaching it, so that the component itself goes on asking them.
        reconnected: whether those who talk to it are restarted, and so need what they need to start.
    """
    known = trace_traffic(app)
    if known is None:
        return ()
    asked = known.calls | known.starts if reconnected else known.calls
    # Whom a broken program asks, shows what becomes of it.
    heard = {callee for caller, callee in known.calls if caller == component and not inbound}
    rarely = {name for name in app.dependants(component) if (name, component) not in asked} - heard
    if inbound and all(callee != component for _, callee in known.calls):
        rarely.add(component)
    lazy = list_mute(app).union(rarely, (c.name for c in app.components if c.name not in known.parts))
    errorless = lazy | list_blind(app)
    return next((n for n, errors in _list_asked(checks) if (errorless if errors else lazy).issuperset(n)), ())


def resolves(app: App, component: str) -> bool:
    """Return whether requests of users make a component look up names again and again; True where nobody knows."""
    known = trace_traffic(app)
    if known is None:
        return True
    asked = {callee for caller, callee in known.calls if caller == component}
    return any(
        edge.caller == component
        and edge.callee in asked
        and (edge.protocol == "http" or not edge.reuse_connection)
        and not edge.use_stale_address
        for edge in (app.twin.edges if app.twin is not None else ())
    )


def list_mute(app: App) -> frozenset[str]:
    """List components that report no spans: the platform beside the app, and what the app's own twin says reports
    none.
    """
    twin = _list_models(app)
    return frozenset(
        c.name for c in app.components if c.role == "Platform" or (c.name in twin and twin[c.name].telemetry is None)
    )


def list_blind(app: App) -> frozenset[str]:
    """List components whose spans show no errors, as the app's own twin says: those show at their callers."""
    return frozenset(name for name, model in _list_models(app).items() if model.unset_status)


def find_unheard(expr: str, app: App) -> frozenset[str]:
    """Find components of which a rule with this expression never speaks, as they report no spans, or none with errors.

    Nobody where it may look for something else instead.
    """
    spans = _SPANS.findall(expr)
    if not spans or re.search(r"\bor\b", expr):
        return frozenset()
    return list_mute(app) | list_blind(app) if any(_ERRORS.search(matcher) for matcher in spans) else list_mute(app)


def _list_models(app: App) -> Mapping[str, ComponentModel]:
    """List how the twin models each component; nothing for an app without one."""
    return app.twin.components if app.twin is not None else {}


def _list_asked(checks: Iterable[Check]) -> Iterable[tuple[tuple[str, ...], bool]]:
    """List, for every check about requests, the services whose requests it asks for, and whether for nothing but
    errors.
    """
    for check in checks:
        spans = [] if check.query is None else _SPANS.findall(check.query.expr)
        found = _SERVICE.findall(" ".join(spans))
        names = tuple(dict.fromkeys(name for matcher in found for name in matcher.split("|") if name))
        if names:
            yield names, all(_ERRORS.search(matcher) for matcher in spans)
