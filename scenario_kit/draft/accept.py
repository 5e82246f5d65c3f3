"""What a trial showed, written into the file of its scenario: ``try --accept``.

One trial proves little, so this proposes, and ``verify`` judges. What the author wrote stays where it does not
contradict what was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from types import MappingProxyType
from typing import Final

import msgspec

from scenario_kit.draft.alerts import predict_propagation
from scenario_kit.judge.alerts.incident_alerts import measure_delay, propose_deadline
from scenario_kit.load.yaml.document import parse
from scenario_kit.load.yaml.edit import Drop, Edit, Put, apply_edits
from scenario_kit.model import AlertHistory, AlertRule, AlertTimeline, App, Component, Fault
from scenario_kit.model.authored.alert_rule import compute_alert_deadline
from scenario_kit.model.authored.scenario import AlertExpectation, PropagationEdge, ScenarioSpec

_ALERTS: Final = ("spec", "expect", "alerts")
_EDGES: Final = ("spec", "groundTruth", "propagation")
#: Share of the time in which an alert that lasts fires; a decoy that restarts something may interrupt it.
_LASTING: Final = 0.8


def select_observed(
    history: AlertHistory, injected_at: float, judged_at: float, repaired_at: float | None = None
) -> tuple[AlertExpectation, ...]:
    """Select the alerts that began after the injection, by ``judged_at``: those that last as MustFire, others as
    MayFire.

    An alert lasts if it fires at ``judged_at``, and nearly all the time from its onset until somebody repairs it.
    """
    found: dict[tuple[str, str], AlertExpectation] = {}
    seen = sorted(history.timelines, key=lambda t: (t.onset(injected_at) or 0, t.name, t.entity))
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
    """Measure seconds between two instants in which an alert fired."""
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
    """Write the file with the observed alerts and the edges that lead to them.

    Args:
        text: the file.
        spec: what it says.
        seen: what fired; ``within_seconds`` is how long after the first injection it began.
        edges: how the trouble could have reached the alerting objects.
        held: the trial held what the file promises, so promises stay, though a decoy may have interrupted an alert.
        rules: the scenario's alert rules, from which deadlines follow that the author left out.
        injections: when each fault was injected: deadlines count from that of ``after``, or from the last.

    Raises:
        Unfit: the file is laid out in a way that cannot be edited without touching something else.
    """
    alerts = [_give_time(a, seen, rules, measure_delay(injections, a.after)) for a in _merge_alerts(spec, seen, held)]
    edits = _list(_ALERTS, [_serialize_alert(a) for a in spec.expect.alerts], [_serialize_alert(a) for a in alerts])
    known = {(e.from_, e.to) for e in spec.ground_truth.propagation}
    new = [e for e in edges if (e.from_, e.to) not in known]
    ends = {a.entity for a in (*seen, *alerts) if a.alert_class != "MustNotFire"} | {e.from_ for e in new}
    kept = [e for e in spec.ground_truth.propagation if e.to in ends or _leads_on(e, spec, ends)]
    causes = {cause.entity for cause in spec.ground_truth.root_causes}
    if known and not (new or kept) and seen and all(a.entity in causes for a in seen):
        edits.append(Drop(_EDGES))  # only the cause alerts: there is no way to explain
    elif (new or kept) and (new or len(kept) < len(known)):
        edits += _list(
            _EDGES,
            [_serialize_edge(e) for e in spec.ground_truth.propagation],
            [_serialize_edge(e) for e in (*kept, *new)],
        )
    expecting = "expect" in parse(text, "").data["spec"]
    return apply_edits(text, edits if expecting else [_widen_edit(edit) for edit in edits])


def _widen_edit(edit: Edit) -> Edit:
    """Return the edit of a draft that leaves out the whole of ``expect``: it gets one."""
    return Put(_ALERTS[:-1], {_ALERTS[-1]: edit.value}) if isinstance(edit, Put) and edit.place == _ALERTS else edit


def draw_edges(
    seen: Sequence[AlertExpectation], faults: Sequence[Fault], app: App, components: dict[str, Component | None]
) -> tuple[PropagationEdge, ...]:
    """Draw edges from each fault's causes to what alerted, along the app's call graph."""
    found = [e for fault in faults for e in predict_propagation(fault, app, components.get(fault.name), seen)]
    return tuple(dict.fromkeys(found))


def _merge_alerts(spec: ScenarioSpec, seen: Sequence[AlertExpectation], held: bool) -> list[AlertExpectation]:
    """Merge the author's own entries where they hold, in their order; then what is new.

    What only may fire stays so, though it lasted, unless nothing would be left that must.
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
    found = kept + [a for key, a in new.items() if key not in chronic and (key[0], "") not in chronic]
    if any(a.alert_class == "MustFire" for a in found):
        return found
    return [
        msgspec.structs.replace(a, alert_class="MustFire")
        if a.alert_class == "MayFire" and (a.name, a.entity) in lasting
        else a
        for a in found
    ]


def _give_time(
    alert: AlertExpectation, seen: Sequence[AlertExpectation], rules: Sequence[AlertRule], delay: float
) -> AlertExpectation:
    """Return the expectation with a deadline that what was seen keeps; one that it keeps already stays as it is.

    ``delay`` is how long after the first injection the deadline begins to count.
    """
    onsets = [s.within_seconds or 0 for s in seen if s.name == alert.name and alert.entity in ("", s.entity)]
    if alert.alert_class != "MustFire" or not onsets:
        return alert
    onset = max(0.0, min(onsets) - delay)
    if onset <= compute_alert_deadline(rules, alert.name, alert.within_seconds):
        return alert
    return msgspec.structs.replace(alert, within_seconds=propose_deadline(onset))


def _list(place: tuple[str, ...], old: list[dict[str, object]], new: list[dict[str, object]]) -> list[Edit]:
    """Edit a list entry by entry: entries that stay the same keep their layout and their comments."""
    if not old:
        return [Put(place, new)] if new else []
    edits: list[Edit] = [Put((*place, i), entry) for i, entry in enumerate(new) if i >= len(old) or old[i] != entry]
    return edits + [Drop((*place, i)) for i in reversed(range(len(new), len(old)))]


def _serialize_edge(edge: PropagationEdge) -> dict[str, object]:
    return {"from": edge.from_, "to": edge.to, **({"because": edge.because} if edge.because else {})}


def _leads_on(edge: PropagationEdge, spec: ScenarioSpec, ends: set[str]) -> bool:
    """Return whether something that matters lies behind an edge."""
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
