"""Join the drafts of several faults in one scenario."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from scenario_kit.draft.document import Draft, format_scenario
from scenario_kit.model import Object

_LONGEST_TITLE: Final = 160


def join_drafts(drafts: Sequence[Draft]) -> Draft:
    """Combine the faults of several drafts in one scenario, each with its causes, alerts and solutions."""
    if len(drafts) == 1:
        return drafts[0]
    first, specs = drafts[0], [each.spec for each in drafts]
    options = {name: value for s in specs for name, value in s["app"].get("options", {}).items()}
    alerts = _join_alerts(specs)
    truth = _join_truths([s["groundTruth"] for s in specs], {a["entity"] for a in alerts if a.get("entity")})
    spec: Object = {
        **specs[0],
        "title": "; ".join(s["title"] for s in specs)[:_LONGEST_TITLE],
        "description": " ".join(s["description"] for s in specs),
        "app": {**specs[0]["app"], **({"options": options} if options else {})},
        "tags": sorted({tag for s in specs for tag in s.get("tags", ())}),
        "faults": [use for s in specs for use in s["faults"]],
        **({"expect": {"alerts": alerts}} if alerts else {}),
        "groundTruth": truth,
        **(_join_repairs(specs) if "outcome" not in truth else {}),
    }
    spec = {name: value for name, value in spec.items() if value not in ([], {}, "")}
    expected = tuple({(a.name, a.entity): a for each in drafts for a in each.alerts}.values())
    cautions = tuple(caution for each in drafts for caution in each.cautions)
    return Draft(first.name, format_scenario(first.name, spec), first.offer, expected, cautions, spec)


def _join_alerts(specs: Sequence[Object]) -> list[Object]:
    """Join the expected alerts: one that must fire for any fault must fire."""
    joined: dict[tuple[str, str], Object] = {}
    for alert in (a for s in specs for a in s.get("expect", {}).get("alerts", ())):
        known = joined.setdefault((alert["name"], alert.get("entity", "")), alert)
        if "MustFire" in (known["class"], alert["class"]):
            joined[alert["name"], alert.get("entity", "")] = {**known, "class": "MustFire"}
    return list(joined.values())


def _join_truths(truths: Sequence[Object], alerting: Collection[str]) -> Object:
    """Join the ground truths: an incident if any fault causes one.

    Args:
        alerting: the entities of the expected alerts.
    """
    outcomes = {_read_outcome(truth) for truth in truths}
    outcome = next((o for o in ("Incident", "Benign") if o in outcomes), "NoIncident")
    causes = [cause for truth in truths for cause in truth.get("rootCauses", ())]
    edges = [edge for truth in truths for edge in truth.get("propagation", ())]
    return {
        **({} if outcome == "Incident" else {"outcome": outcome}),
        "rootCauses": causes,
        "propagation": _join_chains(edges, causes, alerting),
    }


def _read_outcome(truth: Object) -> str:
    return str(truth.get("outcome", "Incident"))


def _join_repairs(specs: Sequence[Object]) -> Object:
    """Join what an incident has besides its truth: a brief, solutions, and the decoys that are none of them."""
    solutions = _join_solutions(specs)
    solved = [solution["changes"] for solution in solutions]
    decoys = {str(d["changes"]): d for s in specs for d in s.get("decoys", ()) if d["changes"] not in solved}
    return {
        "brief": next(s["brief"] for s in specs if _read_outcome(s["groundTruth"]) == "Incident"),
        "solutions": solutions,
        "decoys": _make_names_unique(list(decoys.values())),
    }


def _join_solutions(specs: Sequence[Object]) -> list[Object]:
    """Return the solutions of all faults; empty if a fault has them only once injected."""
    if any(s["groundTruth"].get("rootCauses") and not s.get("solutions") for s in specs):
        return []
    return _make_names_unique([p for s in specs for p in s.get("solutions", ())])


def _join_chains(edges: Sequence[Object], causes: Sequence[Object], alerting: Collection[str]) -> list[Object]:
    """Join propagations: no edge leads to a cause, nor to an object that neither alerts nor leads to one that does.

    A cause whose only path led to another cause has none left: it has no symptoms while the other one is active.
    """
    starts = {cause.get("entity") for cause in causes}
    kept = {(e["from"], e["to"]): e for e in edges if e["to"] not in starts}
    while loose := [k for k in kept if k[1] not in alerting and not any(k[1] == start for start, _ in kept)]:
        for key in loose:
            del kept[key]
    return list(kept.values())


def _make_names_unique(procedures: Sequence[Object]) -> list[Object]:
    """Number procedures with equal names."""
    seen: dict[str, int] = {}
    found = []
    for procedure in procedures:
        number = seen[procedure["name"]] = seen.get(procedure["name"], 0) + 1
        found.append({**procedure, "name": procedure["name"] if number == 1 else f"{procedure['name']}-{number}"})
    return found
