"""HTTPChaos: the effects of the proxy in a pod, from its rules as sent to the daemon.

The proxy handles plain HTTP/1 on connections to its ports, into the pod and out of it, that are opened after its start.
It aborts or delays requests or responses, or replaces the status of responses; changes of bodies, headers and paths are
not simulated, and a rule that selects by headers never applies. See docs/fidelity.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.routes import HttpRoute, find_route
from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import ContainerEffect
from scenario_kit.model.kubernetes.duration import parse_seconds
from scenario_kit.model.kubernetes.status import list_serving_statuses

#: Responses from this status on are errors to the caller.
_ERROR: Final = 400
#: The statuses with which simulated programs answer.
_SUCCEEDED: Final = 200
_FAILED: Final = 500


class HttpRule(NamedTuple):
    """An effect on matching requests or responses: ``path`` is a pattern, empty fields match all.

    ``delay`` is in seconds; ``status`` replaces that of a response unless it is 0.
    """

    answers: bool
    path: str = ""
    method: str = ""
    code: int = 0
    abort: bool = False
    delay: float = 0.0
    status: int = 0

    def matches(self, node: CallNode) -> bool:
        """Return whether a call matches; one with an unknown path matches only if every path does."""
        known = _route(node)
        return self.path in ("", "*", "/*") and not self.method if known is None else self.meets(known)

    def meets(self, route: HttpRoute) -> bool:
        """Return whether a method and a path match; stars match slashes as well."""
        pattern = self.path.replace("[", "[[]")  # which is a letter like others to the proxy
        return self.method in ("", route.method) and (not pattern or fnmatchcase(route.path, pattern))


def list_rules(pod: Object, effects: Iterable[ContainerEffect], port: int) -> tuple[HttpRule, ...]:
    """List the active rules of a pod's proxy for connections to this port, its own or another's.

    The proxy ends with the container it was started for.
    """
    statuses = list_serving_statuses(pod)
    running = {str(s.get("containerID", "")).rpartition("://")[2] for s in statuses if "running" in s.get("state", {})}
    found: list[HttpRule] = []
    for effect in effects:
        reported = effect.arguments
        if (
            effect.container_id.rpartition("://")[2] in running
            and port in reported["proxyPorts"]
            and not reported["tls"]
        ):
            found += [rule for one in reported["rules"] if (rule := _parse_rule(one, port)) is not None]
    return tuple(found)


def _route(node: CallNode) -> HttpRoute | None:
    """Return the route of a call by its spans or the callee's log line; None if unknown."""
    names = (node.client.span if node.client else "", node.operation.server.span if node.operation.server else "")
    return find_route(*names, node.operation.log)


def find_abort(met: tuple[HttpRule, ...], node: CallNode) -> ConnectionOutcome | None:
    """Return the outcome of requests that never reach the callee; None if they do."""
    aborts = any(r.abort and not r.answers and r.matches(node) for r in met)
    return ConnectionOutcome.CONNECTION_RESET if aborts else None


def compute_delay(met: tuple[HttpRule, ...], node: CallNode, *, answers: bool) -> float:
    """Compute the delay of requests or responses in seconds."""
    return sum(r.delay for r in met if r.answers is answers and r.matches(node))


def pass_proxy(met: tuple[HttpRule, ...], route: HttpRoute, status: int = _SUCCEEDED) -> tuple[float, int]:
    """Return the delay of a request with this status, and what the proxy makes of it; 0 if there is no response."""
    meant = [rule for rule in met if rule.meets(route) and (not rule.answers or rule.code in (0, status))]
    delay = 0.0
    for rule in sorted(meant, key=lambda each: each.answers):
        if rule.abort:
            return delay, 0
        delay += rule.delay
        status = (rule.status if rule.answers else 0) or status
    return delay, status


def replace_answers(
    met: tuple[HttpRule, ...], node: CallNode, took: Floats, failed: Flags, *, unchecked: bool
) -> tuple[Floats, Flags, ConnectionOutcome | int | None, Flags | None]:
    """Return the responses as seen by callers, and the outcome or status that replaced the original one.

    ``unchecked`` callers ignore the status and read the body. Their instrumentation does not: the last result are the
    responses that only it takes for errors.
    """
    meant = [r for r in met if r.answers and r.matches(node)]
    if not meant:
        return took, failed, None, None
    chosen = [(r, _select_answers(r.code, failed)) for r in meant]
    outcome: ConnectionOutcome | int | None = None
    noted = np.zeros(failed.size, dtype=bool)
    took, failed = took.copy(), failed.copy()
    ended = np.zeros(failed.size, dtype=bool)
    for rule, chosen_by_status in chosen:
        hit = chosen_by_status & ~ended
        if rule.abort:  # which comes before anything else that a rule does
            ended |= hit
        else:
            took[hit] += rule.delay
        status = 0 if unchecked else rule.status
        if rule.abort or status:
            failed[hit] = rule.abort or status >= _ERROR
            outcome = ConnectionOutcome.CONNECTION_RESET if rule.abort else status
        elif rule.status:
            noted[hit] = rule.status >= _ERROR
    return took, failed, outcome, noted if unchecked and noted.any() else None


def _select_answers(code: int, failed: Flags) -> Flags:
    """Return the responses with a status, all if it is 0: a simulated program answers with 200 or 500."""
    if not code:
        return np.ones(failed.size, dtype=bool)
    return failed.copy() if code == _FAILED else ~failed & (code == _SUCCEEDED)


def _parse_rule(reported: Mapping[str, Any], port: int) -> HttpRule | None:
    selector, actions = reported.get("selector") or {}, reported.get("actions") or {}
    if selector.get("port", port) != port or selector.get("request_headers") or selector.get("response_headers"):
        return None
    return HttpRule(
        answers=reported.get("target") == "Response",
        path=selector.get("path") or "",
        method=selector.get("method") or "",
        code=int(selector.get("code") or 0),
        abort=bool(actions.get("abort")),
        delay=parse_seconds(str(actions.get("delay") or "")),
        status=int((actions.get("replace") or {}).get("code") or 0),
    )
