"""Step *expectNoLeaks*: read everything the solver may read, and check that it does not reveal the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.changes import Receipt
from scenario_kit.changes.three_way_restore import strip_to_desired
from scenario_kit.judge.leaks import (
    ReadableText,
    find_leaks,
    has_shown_experiment,
    list_readable,
    list_tokens,
    report_listable,
    report_unneeded,
)
from scenario_kit.judge.order import check_order
from scenario_kit.lint.rules.leaks.needless import ObjectSurroundings, find_needless
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.authored.fault import FAULT_GROUPS
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.kubernetes.reference import GROUP, make_object_reference
from scenario_kit.ports import Kind
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.investigation.solver_view import list_objects, read_lines

_PARALLEL: Final = 8
#: Kinds of our own objects in the management namespace.
_OURS: Final = (
    ("ConfigMap", ""), ("Secret", ""), ("Event", ""), ("Trial", GROUP), ("Scenario", GROUP),
)  # fmt: skip
#: Platform namespaces are public, and the same for every scenario.
_PLATFORM: Final = ("Namespace",)


def expect_no_leaks(context: TrialContext) -> list[Finding]:
    """Check that nothing readable by the solver's role reveals the answer.

    This covers the contents of objects, events, logs and metrics, and the write order of the app's objects.
    """
    ours = [kind for kind, group in _OURS if list_objects(context, kind, context.management, group)]
    found = [report_listable(f"{kind} in {context.management}") for kind in ours]
    objects = _list_objects(context)
    found += find_leaks(_read_everything(context, objects), list_tokens(context.runbook))
    receipts = context.engine.list_receipts(FAULT_GROUPS)
    return [*found, *_find_needless(context, receipts, objects), *_check_order(context, receipts, objects)]


def _read_everything(context: TrialContext, objects: Iterable[Object]) -> Iterator[ReadableText]:
    for obj in objects:
        yield from list_readable(obj)
    with ThreadPoolExecutor(_PARALLEL) as pool:
        pods = context.contents("Pod")
        for printed in pool.map(lambda pod: read_lines(context, pod), pods):
            yield from (
                ReadableText(where=f"log of Pod/{x.pod}, container {x.container}", text=x.text) for x in printed
            )
    yield from _read_series(context)


def _list_objects(context: TrialContext) -> list[Object]:
    with ThreadPoolExecutor(_PARALLEL) as pool:
        return [o for found in pool.map(lambda kind: _list_kind(context, kind), context.cluster.kinds()) for o in found]


def _list_kind(context: TrialContext, kind: Kind) -> Iterable[Object]:
    """List the readable objects of a kind, except experiments that the scenario shows by design."""
    if kind.kind in _PLATFORM or (kind.group == CHAOS_GROUP and has_shown_experiment(context.runbook)):
        return []
    where = context.everywhere if kind.namespaced else ("",)
    found = [o for namespace in where for o in list_objects(context, kind.kind, namespace, kind.group)]
    return found if not has_shown_experiment(context.runbook) else [o for o in found if not _is_about_chaos(o)]


def _is_about_chaos(obj: Object) -> bool:
    """Return whether this is an event of an experiment."""
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    return str(about.get("apiVersion", "")).startswith(f"{CHAOS_GROUP}/")


def _read_series(context: TrialContext) -> Iterator[ReadableText]:
    """Read names and labels of the app's series, which a solver can query."""
    found = context.metrics.instant(f'{{namespace=~"{"|".join(context.everywhere)}"}}', context.clock.now())
    texts = {(name, value) for series in found for name, value in series.labels.items()}
    yield from (ReadableText(where=f"metrics, label {name}", text=f"{name} {value}") for name, value in sorted(texts))


def _find_needless(context: TrialContext, receipts: Sequence[Receipt], objects: Sequence[Object]) -> Iterator[Finding]:
    """Find live state that is readable and not needed for any symptom; lint sees only rendered objects.

    Objects of the app are compared with their deployed state, others with their receipts.
    """
    runbook = context.runbook
    world = ObjectSurroundings(runbook.app, runbook.objects, objects)
    deployed = {make_object_reference(o, context.namespace).groupless: o for o in runbook.objects}
    live = {make_object_reference(o, context.namespace).groupless: strip_to_desired(o) for o in objects}
    pairs: list[tuple[Reference, Object, Object | None, bool]] = [
        (ref, live[ref], was, False) for ref, was in deployed.items() if ref in live
    ]
    for receipt in receipts:
        made = bool(receipt.change.operation.manifest)
        for entry in receipt.entries:
            ref = entry.ref.groupless
            if entry.after is not None and ref not in deployed and ref.namespace in ("", *context.everywhere):
                was = strip_to_desired(entry.prior) if entry.prior else None
                pairs.append((ref, strip_to_desired(entry.after), was, made and entry.prior is None))
    found = {
        (f"{ref.kind}/{ref.name}", each.reason): str(each.value)
        for ref, now, was, created in pairs
        for each in find_needless(now, was, world, created=created)
    }
    yield from (report_unneeded(subject, reason, value) for (subject, reason), value in found.items())


def _check_order(context: TrialContext, receipts: Sequence[Receipt], objects: Sequence[Object]) -> list[Finding]:
    """Check that sorting the app's objects by write order reveals neither the labelled ones nor those that faults
    wrote.
    """
    runbook = context.runbook
    own = {make_object_reference(o, context.namespace).groupless for o in runbook.objects}
    of_app = [o for o in objects if make_object_reference(o, context.namespace).groupless in own]
    labels = (name for cause in runbook.ground_truth.root_causes for name in (cause.entity, *cause.aliases) if name)
    labelled = {name.within(context.namespace, runbook.namespaces).groupless for name in labels}
    harmless = {f.group for f in runbook.faults if f.role == "Distractor"}
    written = {e.ref.groupless for r in receipts if r.group not in harmless for e in r.entries}
    return check_order(of_app, {"what is labelled as the cause": labelled, "what the faults wrote": written})
