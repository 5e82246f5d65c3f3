"""Step *expectNoLeaks*: read whatever the solver's rights allow, and find no answer there (validation.md §9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.changes import Receipt
from scenario_kit.changes.operations import object_reference
from scenario_kit.changes.three_way_restore import wanted
from scenario_kit.judge.leaks import Readable, leaks, reached, readable, shown, tokens, unneeded
from scenario_kit.judge.order import singled_out
from scenario_kit.lint.needless import ObjectSurroundings, needless
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.chaos import GROUP as CHAOS_GROUP
from scenario_kit.model.reference import GROUP
from scenario_kit.ports import Kind
from scenario_kit.trial.context import TrialContext
from scenario_kit.trial.solver_view import lines, listed

_PARALLEL: Final = 8
#: What is ours lies in objects of these kinds, in the management namespace.
_OURS: Final = (
    ("ConfigMap", ""), ("Secret", ""), ("Event", ""), ("Trial", GROUP), ("Scenario", GROUP),
)  # fmt: skip
#: Platform namespaces are there for everybody to see, and the same for every scenario.
_PLATFORM: Final = ("Namespace",)


def expect_no_leaks(context: TrialContext) -> list[Finding]:
    """Nothing that the solver's role reaches gives the answer away.

    Neither objects, events, logs and metrics by what they say, nor the objects of the app by the order of their writes.
    """
    ours = [kind for kind, group in _OURS if listed(context, kind, context.management, group)]
    found = [reached(f"{kind} in {context.management}") for kind in ours]
    objects = _objects(context)
    found += leaks(_everything(context, objects), tokens(context.runbook))
    receipts = context.engine.recorded("Fault/")
    return [*found, *_needless(context, receipts, objects), *_singled_out(context, receipts, objects)]


def _everything(context: TrialContext, objects: Iterable[Object]) -> Iterator[Readable]:
    for obj in objects:
        yield from readable(obj)
    with ThreadPoolExecutor(_PARALLEL) as pool:
        pods = context.contents("Pod")
        for printed in pool.map(lambda pod: lines(context, pod), pods):
            yield from (Readable(where=f"log of Pod/{x.pod}, container {x.container}", text=x.text) for x in printed)
    yield from _series(context)


def _objects(context: TrialContext) -> list[Object]:
    with ThreadPoolExecutor(_PARALLEL) as pool:
        return [o for found in pool.map(lambda kind: _of_kind(context, kind), context.cluster.kinds()) for o in found]


def _of_kind(context: TrialContext, kind: Kind) -> Iterable[Object]:
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


def _series(context: TrialContext) -> Iterator[Readable]:
    """Names and labels of the app's series: a solver queries Prometheus as everybody does."""
    found = context.metrics.instant(f'{{namespace=~"{"|".join(context.everywhere)}"}}', context.clock.now())
    texts = {(name, value) for series in found for name, value in series.labels.items()}
    yield from (Readable(where=f"metrics, label {name}", text=f"{name} {value}") for name, value in sorted(texts))


def _needless(context: TrialContext, receipts: Sequence[Receipt], objects: Sequence[Object]) -> Iterator[Finding]:
    """What is really there, where a solver reads, and no symptom needs: lint sees only what is rendered.

    Objects of the app are compared with what was deployed, whoever changed them since; others by their receipts.
    """
    runbook = context.runbook
    world = ObjectSurroundings(runbook.app, runbook.objects, objects)
    deployed = {object_reference(o, context.namespace).groupless: o for o in runbook.objects}
    live = {object_reference(o, context.namespace).groupless: wanted(o) for o in objects}
    pairs: list[tuple[Reference, Object, Object | None, bool]] = [
        (ref, live[ref], was, False) for ref, was in deployed.items() if ref in live
    ]
    for receipt in receipts:
        made = bool(receipt.change.create or receipt.change.apply or receipt.change.chaos)
        for entry in receipt.entries:
            ref = Reference.parse(entry.ref).groupless
            if entry.after is not None and ref not in deployed and ref.namespace in ("", *context.everywhere):
                was = wanted(entry.prior) if entry.prior else None
                pairs.append((ref, wanted(entry.after), was, made and entry.prior is None))
    found = {
        (f"{ref.kind}/{ref.name}", each.reason): str(each.value)
        for ref, now, was, created in pairs
        for each in needless(now, was, world, created=created)
    }
    yield from (unneeded(subject, reason, value) for (subject, reason), value in found.items())


def _singled_out(context: TrialContext, receipts: Sequence[Receipt], objects: Sequence[Object]) -> list[Finding]:
    """Objects of the app that a solver finds who only sorts: those that are labelled, and all that the faults wrote."""
    runbook = context.runbook
    own = {object_reference(o, context.namespace).groupless for o in runbook.objects}
    of_app = [o for o in objects if object_reference(o, context.namespace).groupless in own]
    labels = (name for cause in runbook.ground_truth.root_causes for name in (cause.entity, *cause.aliases) if name)
    labelled = {Reference.parse(name).within(context.namespace, runbook.namespaces).groupless for name in labels}
    harmless = {f"Fault/{f.name}" for f in runbook.faults if f.role == "Distractor"}
    written = {Reference.parse(e.ref).groupless for r in receipts if r.group not in harmless for e in r.entries}
    return singled_out(of_app, {"what is labelled as the cause": labelled, "what the faults wrote": written})
