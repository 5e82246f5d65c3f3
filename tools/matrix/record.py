"""Records of pairs, one line of JSON each, which survive an interruption."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.matrix import FILE, read_rows
from scenario_kit.model import AlertHistory, Reference
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.results.matrix import Fired, MatrixRow
from tools.matrix.pairs import Pair


def get_pair(row: MatrixRow) -> Pair:
    """Return the pair of a row."""
    return Pair(row.app, row.version, row.fault, row.change, row.family, row.target)


def locate_records(catalog: Catalog, app: str) -> Path:
    """Return the path of an app's records."""
    return catalog.app_path(app).with_name(FILE)


def list_fired(history: AlertHistory, injected: float, until: float) -> tuple[Fired, ...]:
    """Return the alerts that started firing from the injection until ``until``, the first per name and entity."""
    first: dict[tuple[str, Reference | None], float] = {}
    for timeline in history.timelines:
        for interval in timeline.firing:
            if injected <= interval.start < until:
                key = (timeline.name, timeline.entity)
                first[key] = min(first.get(key, interval.start), interval.start)
    found = [Fired(name=name, entity=on, seconds=at - injected) for (name, on), at in first.items()]
    return tuple(sorted(found, key=lambda f: (f.seconds, f.name, f.entity or "")))


def list_still_firing(history: AlertHistory, injected: float, at: float) -> list[str]:
    """Return the alerts that fire at an instant and started after the injection."""
    return sorted(
        name_alert(t)
        for t in history.timelines
        if any(i.start >= injected and i.start <= at and (i.end is None or i.end > at) for i in t.firing)
    )


def read(catalog: Catalog) -> list[MatrixRow]:
    """Read the records of all apps, the latest of each pair."""
    return [row for app in catalog.apps() for row in read_rows(locate_records(catalog, app))]


def drop_old_records(catalog: Catalog) -> None:
    """Keep only the latest record of each pair."""
    for app in catalog.apps():
        path = locate_records(catalog, app)
        if kept := read_rows(path):
            fresh = path.with_name(f".{path.name}.new")
            fresh.write_bytes(b"".join(row.to_bytes() + b"\n" for row in kept))
            fresh.replace(path)


def select_unjudged(known: Iterable[Pair], tried: Iterable[MatrixRow], since: date = date.min) -> list[Pair]:
    """Return the pairs that have not been judged, those without a record first.

    A lab may have gained a capability, or recovered. Records from before ``since`` are ignored, as the simulation may
    have changed.
    """
    outcomes = {get_pair(row).key: row.outcome for row in tried if row.date >= since}
    open_ = [pair for pair in known if outcomes.get(pair.key) not in ("Ran", "NoEffect")]
    return sorted(open_, key=lambda pair: pair.key in outcomes)
