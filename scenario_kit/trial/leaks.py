"""Step *expectNoLeaks*: read whatever the solver's rights allow, and find no answer there (validation.md §9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.errors import Forbidden, NotFound, Rejected
from scenario_kit.judge.leaks import Readable, leaks, reached, readable, shown, tokens
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.chaos import GROUP as CHAOS_GROUP
from scenario_kit.ports import Kind, LogLine
from scenario_kit.trial.context import Context

_PARALLEL: Final = 8
#: What is ours lies in objects of these kinds, in the management namespace.
_OURS: Final = (
    ("ConfigMap", ""), ("Secret", ""), ("Event", ""), ("Trial", "scenariokit.io"), ("Scenario", "scenariokit.io"),
)  # fmt: skip
#: Platform namespaces are there for everybody to see, and the same for every scenario.
_PLATFORM: Final = ("Namespace",)


def expect_no_leaks(context: Context) -> list[Finding]:
    """Objects, events, logs and metrics that the solver's role reaches say nothing that gives the answer away."""
    found = [reached(f"{kind} in {context.management}") for kind, group in _OURS if _listed(context, kind, group)]
    sought = tokens(context.runbook)
    return found + leaks(_everything(context), sought)


def _listed(context: Context, kind: str, group: str) -> bool:
    try:
        return bool(context.solver.list(kind, context.management, group=group))
    except (Forbidden, NotFound):
        return False


def _everything(context: Context) -> Iterator[Readable]:
    with ThreadPoolExecutor(_PARALLEL) as pool:
        for objects in pool.map(lambda kind: _objects(context, kind), context.cluster.kinds()):
            for obj in objects:
                yield from readable(obj)
        pods = context.contents("Pod")
        for pod, lines in pool.map(lambda p: (p, _lines(context, p)), pods):
            name = pod["metadata"]["name"]
            yield from (Readable(where=f"log of Pod/{name}, container {x.container}", text=x.text) for x in lines)
    yield from _series(context)


def _objects(context: Context, kind: Kind) -> Iterable[Object]:
    """What the role may list of a kind; experiments that the scenario shows are read by design."""
    if kind.kind in _PLATFORM or (kind.group == CHAOS_GROUP and shown(context.runbook)):
        return []
    try:
        where = context.everywhere if kind.namespaced else ("",)
        found = [o for namespace in where for o in context.solver.list(kind.kind, namespace, group=kind.group)]
    except (Forbidden, NotFound):
        return []
    return found if not shown(context.runbook) else [o for o in found if not _about_chaos(o)]


def _about_chaos(obj: Object) -> bool:
    """Whether this is an event of an experiment."""
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    return str(about.get("apiVersion", "")).startswith(f"{CHAOS_GROUP}/")


def _lines(context: Context, pod: Object) -> Iterable[LogLine]:
    """Logs of a pod; none while its containers have not begun."""
    try:
        return context.solver.logs(Reference("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"]))
    except (Forbidden, NotFound, Rejected):
        return []


def _series(context: Context) -> Iterator[Readable]:
    """Names and labels of the app's series: a solver queries Prometheus as everybody does."""
    found = context.metrics.instant(f'{{namespace=~"{"|".join(context.everywhere)}"}}', context.clock.now())
    texts = {(name, value) for series in found for name, value in series.labels.items()}
    yield from (Readable(where=f"metrics, label {name}", text=f"{name} {value}") for name, value in sorted(texts))
