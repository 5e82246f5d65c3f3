"""What a proxy in the callee's pod does to HTTP requests: the rules of an HTTPChaos, as the daemon is told them.

It takes apart plain HTTP/1 on the ports that it was given, on connections that were opened after it came. It breaks
requests or answers off, holds them back, or gives answers another status; what it writes into bodies, headers and paths
is not simulated, and a rule that chooses by headers never applies. See docs/fidelity.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.routes import HttpRoute, route
from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import ContainerEffect
from scenario_kit.model.kubernetes.duration import parse_seconds

#: Answers from here on are errors to whoever asked.
_ERROR: Final = 400


class HttpRule(NamedTuple):
    """What happens to requests, or to answers, that are meant: ``path`` is a pattern, empty fields mean all.

    ``delay`` is in seconds; ``status`` replaces that of an answer unless it is 0.
    """

    answers: bool
    path: str = ""
    method: str = ""
    code: int = 0
    abort: bool = False
    delay: float = 0.0
    status: int = 0

    def means(self, node: CallNode) -> bool:
        """Check whether a call is meant; one whose path nobody knows only where every path is."""
        known = _route(node)
        if known is None:
            return self.path in ("", "*", "/*") and not self.method
        return self.method in ("", known.method) and (not self.path or fnmatchcase(known.path, self.path))


def list_rules(pod: Object, effects: Iterable[ContainerEffect], port: int) -> tuple[HttpRule, ...]:
    """List the rules in force for connections to a port of a pod. The proxy ends with the container that it
    came with.
    """
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
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
    """Return the route of a call, as its spans or the callee's log name it; None where nobody does."""
    names = (node.client.span if node.client else "", node.operation.server.span if node.operation.server else "")
    return route(*names, node.operation.log)


def find_abort(met: tuple[HttpRule, ...], node: CallNode) -> ConnectionOutcome | None:
    """Return the outcome of requests that never reach the callee; None where they do."""
    aborts = any(r.abort and not r.answers and r.means(node) for r in met)
    return ConnectionOutcome.CONNECTION_RESET if aborts else None


def compute_delay(met: tuple[HttpRule, ...], node: CallNode, *, answers: bool) -> float:
    """Compute seconds for which requests, or answers, are held back."""
    return sum(r.delay for r in met if r.answers is answers and r.means(node))


def replace_answers(
    met: tuple[HttpRule, ...], node: CallNode, took: Floats, failed: Flags, *, unchecked: bool
) -> tuple[Floats, Flags, ConnectionOutcome | int | None, Flags | None]:
    """Return what callers make of the answers, and what became of those that were falsified: an outcome, or a status.

    To ``unchecked`` callers a status says nothing: they read what comes with it. Their instrumentation does look at it:
    the last are the answers of which it alone thinks ill.
    """
    meant = [r for r in met if r.answers and r.means(node)]
    if not meant:
        return took, failed, None, None
    chosen = [(r, failed if r.code >= _ERROR else ~failed if r.code else failed | True) for r in meant]
    outcome: ConnectionOutcome | int | None = None
    noted = np.zeros(failed.size, dtype=bool)
    took, failed = took.copy(), failed.copy()
    for rule, hit in chosen:
        took[hit] += rule.delay
        status = 0 if unchecked else rule.status
        if rule.abort or status:
            failed[hit] = rule.abort or status >= _ERROR
            outcome = ConnectionOutcome.CONNECTION_RESET if rule.abort else status
        elif rule.status:
            noted[hit] = rule.status >= _ERROR
    return took, failed, outcome, noted if unchecked and noted.any() else None


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
