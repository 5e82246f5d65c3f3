"""Step *expectNoLeaks*: read whatever the solver's rights allow, and find no answer there (validation.md §9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.judge.leaks import Readable, leaks, reached, readable, shown, tokens
from scenario_kit.model import Finding, Object
from scenario_kit.model.chaos import GROUP as CHAOS_GROUP
from scenario_kit.model.reference import GROUP
from scenario_kit.ports import Kind
from scenario_kit.trial.context import Context
from scenario_kit.trial.sight import lines, listed

_PARALLEL: Final = 8
#: What is ours lies in objects of these kinds, in the management namespace.
_OURS: Final = (
    ("ConfigMap", ""), ("Secret", ""), ("Event", ""), ("Trial", GROUP), ("Scenario", GROUP),
)  # fmt: skip
#: Platform namespaces are there for everybody to see, and the same for every scenario.
_PLATFORM: Final = ("Namespace",)


def expect_no_leaks(context: Context) -> list[Finding]:
    """Objects, events, logs and metrics that the solver's role reaches say nothing that gives the answer away."""
    ours = [kind for kind, group in _OURS if listed(context, kind, context.management, group)]
    found = [reached(f"{kind} in {context.management}") for kind in ours]
    sought = tokens(context.runbook)
    return found + leaks(_everything(context), sought)


def _everything(context: Context) -> Iterator[Readable]:
    with ThreadPoolExecutor(_PARALLEL) as pool:
        for objects in pool.map(lambda kind: _objects(context, kind), context.cluster.kinds()):
            for obj in objects:
                yield from readable(obj)
        pods = context.contents("Pod")
        for printed in pool.map(lambda pod: lines(context, pod), pods):
            yield from (Readable(where=f"log of Pod/{x.pod}, container {x.container}", text=x.text) for x in printed)
    yield from _series(context)


def _objects(context: Context, kind: Kind) -> Iterable[Object]:
    """What the role may list of a kind; experiments that the scenario shows are read by design."""
    if kind.kind in _PLATFORM or (kind.group == CHAOS_GROUP and shown(context.runbook)):
        return []
    where = context.everywhere if kind.namespaced else ("",)
    found = [o for namespace in where for o in listed(context, kind.kind, namespace, kind.group)]
    return found if not shown(context.runbook) else [o for o in found if not _about_chaos(o)]


def _about_chaos(obj: Object) -> bool:
    """Whether this is an event of an experiment."""
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    return str(about.get("apiVersion", "")).startswith(f"{CHAOS_GROUP}/")


def _series(context: Context) -> Iterator[Readable]:
    """Names and labels of the app's series: a solver queries Prometheus as everybody does."""
    found = context.metrics.instant(f'{{namespace=~"{"|".join(context.everywhere)}"}}', context.clock.now())
    texts = {(name, value) for series in found for name, value in series.labels.items()}
    yield from (Readable(where=f"metrics, label {name}", text=f"{name} {value}") for name, value in sorted(texts))
