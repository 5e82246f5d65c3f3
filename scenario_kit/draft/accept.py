"""``try --accept``: write the results of a trial into the scenario's file.

One trial proves little: this is a proposal that ``verify`` tests. What the author wrote is kept unless it contradicts
the observations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from types import MappingProxyType
from typing import Final

import msgspec

from scenario_kit.draft.alerts import predict_propagation
from scenario_kit.judge.alerts.incident_alerts import measure_delay, propose_deadline
from scenario_kit.load.yaml.document import parse
from scenario_kit.load.yaml.edit import Drop, Edit, Put, apply_edits
from scenario_kit.model import AlertHistory, AlertRule, AlertTimeline, App, Component, Fault, Reference
from scenario_kit.model.authored.alert_rule import compute_alert_deadline
from scenario_kit.model.authored.scenario import AlertExpectation, PropagationEdge, ScenarioSpec

_ALERTS: Final = ("spec", "expect", "alerts")
_EDGES: Final = ("spec", "groundTruth", "propagation")
#: Minimum share of the time in which a lasting alert fires; a decoy with a restart may interrupt it.
_LASTING: Final = 0.8


def select_observed(
    history: AlertHistory, injected_at: float, judged_at: float, repaired_at: float | None = None
) -> tuple[AlertExpectation, ...]:
    """Return the alerts that began between injection and ``judged_at``: lasting ones as MustFire, others as MayFire.

    A lasting alert fires at ``judged_at``, and almost all the time from its onset to the repair.
    """
    found: dict[tuple[str, Reference | None], AlertExpectation] = {}
    seen = sorted(history.timelines, key=lambda t: (t.onset(injected_at) or 0, t.name, t.entity or ""))
    for timeline in seen:
        onset = timeline.onset(injected_at)
        if onset is None or onset > judged_at or timeline.firing_at(injected_at):
            continue
        until = max(judged_at, repaired_at or judged_at)
        lasting = timeline.firing_at(judged_at) and _measure_firing(timeline, onset, until) >= _LASTING * (
            until - onset
        )
        key = (timeline.name, timeline.entity)
        if lasting or key not in found:
            expected = AlertExpectation(
                name=timeline.name,
                entity=timeline.entity,
                alert_class="MustFire" if lasting else "MayFire",
                within_seconds=ceil(onset - injected_at),
            )
            found[key] = expected
    return tuple(found.values())


def _measure_firing(timeline: AlertTimeline, start: float, end: float) -> float:
    """Return the seconds between two instants in which an alert fired."""
    spans = ((max(i.start, start), min(end if i.end is None else i.end, end)) for i in timeline.firing)
    return sum(max(0.0, last - first) for first, last in spans)


def write_accepted(
    text: str,
    spec: ScenarioSpec,
    seen: Sequence[AlertExpectation],
    edges: Iterable[PropagationEdge],
    *,
    held: bool = False,
    rules: Sequence[AlertRule] = (),
    injections: Mapping[str, float] = MappingProxyType({}),
) -> str:
    """Return the file with the observed alerts, and propagation edges to them.

    Args:
        text: the file.
        spec: its content.
        seen: the observed alerts; ``within_seconds`` is the onset after the first injection.
        edges: possible propagation edges to the alerting objects.
        held: the trial met the file's expectations, so that these are kept even if a decoy interrupted an alert.
        rules: the scenario's alert rules, for default deadlines.
        injections: time of injection by fault; deadlines count from that of ``after``, or from the last one.

    Raises:
        Unfit: the layout of the file does not allow the edit.
    """
    alerts = [
        _give_time(
            a,
            seen,
            compute_alert_deadline(rules, a.name, a.within_seconds, period=spec.period),
            measure_delay(injections, a.after),
        )
        for a in _merge_alerts(spec, seen, held)
    ]
    edits = _list(_ALERTS, [_serialize_alert(a) for a in spec.expect.alerts], [_serialize_alert(a) for a in alerts])
    known = {(e.from_, e.to) for e in spec.ground_truth.propagation}
    new = [e for e in edges if (e.from_, e.to) not in known]
    ends = {a.entity for a in (*seen, *alerts) if a.alert_class != "MustNotFire"} | {e.from_ for e in new}
    kept = [e for e in spec.ground_truth.propagation if e.to in ends or _leads_on(e, spec, ends)]
    causes = {cause.entity for cause in spec.ground_truth.root_causes}
    if known and not (new or kept) and seen and all(a.entity in causes for a in seen):
        edits.append(Drop(_EDGES))  # only causes alert: there is nothing to explain
    elif (new or kept) and (new or len(kept) < len(known)):
        edits += _list(
            _EDGES,
            [_serialize_edge(e) for e in spec.ground_truth.propagation],
            [_serialize_edge(e) for e in (*kept, *new)],
        )
    expecting = "expect" in parse(text, "").data["spec"]
    return apply_edits(text, edits if expecting else [_widen_edit(edit) for edit in edits])


def _widen_edit(edit: Edit) -> Edit:
    """Return an edit that adds ``expect`` as a whole, if the file does not have it."""
    return Put(_ALERTS[:-1], {_ALERTS[-1]: edit.value}) if isinstance(edit, Put) and edit.place == _ALERTS else edit


def draw_edges(
    seen: Sequence[AlertExpectation], faults: Sequence[Fault], app: App, components: dict[str, Component | None]
) -> tuple[PropagationEdge, ...]:
    """Return propagation edges from each fault's causes to the alerting objects, along the app's calls."""
    found = [e for fault in faults for e in predict_propagation(fault, app, components.get(fault.name), seen)]
    return tuple(dict.fromkeys(found))


def _merge_alerts(spec: ScenarioSpec, seen: Sequence[AlertExpectation], held: bool) -> list[AlertExpectation]:
    """Merge the author's entries that are still valid, in order, with the new ones.

    MayFire entries stay so even if the alert lasted, unless there would be no MustFire entry.
    """
    lasting = {(a.name, a.entity): a for a in seen if a.alert_class == "MustFire"}
    fired = {(a.name, a.entity): a for a in seen}
    chronic = {(b.name, b.entity) for b in spec.expect.background}
    kept = []
    for alert in spec.expect.alerts:
        was = fired.pop((alert.name, alert.entity), None)
        anywhere = any(name == alert.name for name, _ in fired) if not alert.entity else was is not None
        if alert.alert_class == "MustNotFire":
            if not anywhere:
                kept.append(alert)
            elif was is not None:
                fired[(alert.name, alert.entity)] = was
        elif alert.alert_class == "MayFire" or (anywhere and (held or was is None or was.alert_class == "MustFire")):
            kept.append(alert)
        elif was is not None:
            kept.append(msgspec.structs.replace(alert, alert_class=was.alert_class))
    new = {key: msgspec.structs.replace(a, within_seconds=None) for key, a in fired.items()}
    found = kept + [a for key, a in new.items() if key not in chronic and (key[0], None) not in chronic]
    if any(a.alert_class == "MustFire" for a in found):
        return found
    return [
        msgspec.structs.replace(a, alert_class="MustFire")
        if a.alert_class == "MayFire" and (a.name, a.entity) in lasting
        else a
        for a in found
    ]


def _give_time(
    alert: AlertExpectation, seen: Sequence[AlertExpectation], deadline: int, delay: float
) -> AlertExpectation:
    """Return the expectation with a deadline that the observation meets, unless the author's is met.

    The default is replaced if a campaign would call it too short (SK508).
    ``deadline`` is the present one, in seconds after the injection that it counts from; ``delay`` is the time from the
    first injection to that one.
    """
    onsets = [s.within_seconds or 0 for s in seen if s.name == alert.name and alert.entity in (None, s.entity)]
    if alert.alert_class != "MustFire" or not onsets:
        return alert
    onset = max(0.0, min(onsets) - delay)
    proposed = propose_deadline(onset)
    if onset <= deadline and (alert.within_seconds is not None or proposed <= deadline):
        return alert
    return msgspec.structs.replace(alert, within_seconds=proposed)


def _list(place: tuple[str, ...], old: list[dict[str, object]], new: list[dict[str, object]]) -> list[Edit]:
    """Edit a list entry by entry: unchanged entries keep their layout and comments."""
    if not old:
        return [Put(place, new)] if new else []
    edits: list[Edit] = [Put((*place, i), entry) for i, entry in enumerate(new) if i >= len(old) or old[i] != entry]
    return edits + [Drop((*place, i)) for i in reversed(range(len(new), len(old)))]


def _serialize_edge(edge: PropagationEdge) -> dict[str, object]:
    return {"from": edge.from_, "to": edge.to, **({"because": edge.because} if edge.because else {})}


def _leads_on(edge: PropagationEdge, spec: ScenarioSpec, ends: Collection[Reference | None]) -> bool:
    """Return whether an edge leads, directly or not, to one of ``ends``."""
    reached, waiting = {edge.to}, [edge.to]
    while waiting:
        at = waiting.pop()
        if at in ends:
            return True
        for other in spec.ground_truth.propagation:
            if other.from_ == at and other.to not in reached:
                reached.add(other.to)
                waiting.append(other.to)
    return False


def _serialize_alert(alert: AlertExpectation) -> dict[str, object]:
    document: dict[str, object] = {"name": alert.name}
    if alert.entity:
        document["entity"] = alert.entity
    document["class"] = alert.alert_class
    if alert.after:
        document["after"] = alert.after
    if alert.within_seconds is not None:
        document["withinSeconds"] = alert.within_seconds
    return document
