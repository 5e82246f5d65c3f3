"""Detect faults whose effect no telemetry would show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.model import App, Check
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.render.simulation.request_paths import trace_traffic

_SPANS: Final = re.compile(r"\btraces_span_metrics_\w+\s*\{([^}]*)\}")
#: The label matcher of queries for error spans.
_ERRORS: Final = re.compile(r'\bstatus_code\s*=~?\s*"STATUS_CODE_ERROR"')
_SERVICE: Final = re.compile(r'\bservice_name\s*=~?\s*"([^"]*)"')


def find_unseen(checks: Iterable[Check], app: App) -> tuple[str, ...]:
    """Return the services of the first request check for which none reports matching spans; empty if there is none.

    Services that are not components, such as a browser, are assumed to report spans.
    """
    silent = list_untraced(app)
    errorless = silent | list_without_error_status(app)
    return next(
        (n for n, errors in _list_queried_services(checks) if (errorless if errors else silent).issuperset(n)), ()
    )


def find_idle(
    checks: Iterable[Check], app: App, component: str, *, inbound: bool = False, reconnected: bool = False
) -> tuple[str, ...]:
    """Like ``find_unseen``, but components that rarely call the faulty one do not show its effect either.

    Args:
        checks: the effect checks of the fault.
        app: the app; without a twin its traffic is unknown and the result empty.
        component: the faulty component.
        inbound: whether the fault only blocks calls to the component, not calls from it.
        reconnected: whether its dependants are restarted and so need their start-up dependencies.
    """
    known = trace_traffic(app)
    if known is None:
        return ()
    called = known.calls | known.starts if reconnected else known.calls
    # Callees of the faulty component show its missing calls.
    callees = {callee for caller, callee in known.calls if caller == component and not inbound}
    rarely = {name for name in app.dependants(component) if (name, component) not in called} - callees
    if inbound and all(callee != component for _, callee in known.calls):
        rarely.add(component)
    lazy = list_untraced(app).union(rarely, (c.name for c in app.components if c.name not in known.parts))
    errorless = lazy | list_without_error_status(app)
    return next(
        (n for n, errors in _list_queried_services(checks) if (errorless if errors else lazy).issuperset(n)), ()
    )


def resolves(app: App, component: str) -> bool:
    """Return whether a component keeps resolving names while serving user requests; True if unknown.

    So do other programs in its pods, which have the same DNS configuration. The name of the pod itself needs no DNS.
    """
    known = trace_traffic(app)
    if known is None:
        return True
    pod = app.list_pod_mates(component)
    return any(
        edge.caller in pod
        and edge.callee not in pod
        and (edge.caller, edge.callee) in known.calls
        and (edge.protocol == "http" or not edge.reuse_connection)
        and not edge.use_stale_address
        for edge in (app.twin.edges if app.twin is not None else ())
    )


def list_untraced(app: App) -> frozenset[str]:
    """List components that report no spans: the platform, and those without telemetry in the twin."""
    twin = _list_models(app)
    return frozenset(
        c.name for c in app.components if c.role == "Platform" or (c.name in twin and twin[c.name].telemetry is None)
    )


def list_without_error_status(app: App) -> frozenset[str]:
    """List components whose spans never have an error status according to the twin; their callers' spans do."""
    return frozenset(name for name, model in _list_models(app).items() if model.unset_status)


def find_unheard(expr: str, app: App) -> frozenset[str]:
    """Return components for which this rule expression never yields a sample, because they report no matching spans.

    Empty if the expression does not read spans, or has an alternative.
    """
    spans = _SPANS.findall(expr)
    if not spans or re.search(r"\bor\b", expr):
        return frozenset()
    return (
        list_untraced(app) | list_without_error_status(app)
        if any(_ERRORS.search(matcher) for matcher in spans)
        else list_untraced(app)
    )


def _list_models(app: App) -> Mapping[str, ComponentModel]:
    """Return the twin's component models; empty without a twin."""
    return app.twin.components if app.twin is not None else {}


def _list_queried_services(checks: Iterable[Check]) -> Iterable[tuple[tuple[str, ...], bool]]:
    """Yield, for each check on requests, the services that it queries and whether it only queries errors."""
    for check in checks:
        spans = [] if check.query is None else _SPANS.findall(check.query.expr)
        found = _SERVICE.findall(" ".join(spans))
        names = tuple(dict.fromkeys(name for matcher in found for name in matcher.split("|") if name))
        if names:
            yield names, all(_ERRORS.search(matcher) for matcher in spans)
