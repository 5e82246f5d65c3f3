"""The objects at the end of a snapshot, and when each of them changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.snapshot.reader import TableRow

#: Maximum interval between two lists of an object by recorders without a manifest, with a margin, in seconds.
LIST_SECONDS: Final = 330.0
#: Derived or noisy metadata.
_VOLATILE: Final = ("managedFields", "resourceVersion", "generation")


class ObjectSighting(NamedTuple):
    """An object in a row of the table; ``at`` in seconds since the epoch."""

    at: float
    body: Object


class _History(NamedTuple):
    """The last sighting of an object, and since when its spec and status are unchanged."""

    last: ObjectSighting
    spec: str
    spec_since: str
    status: str
    status_since: str


def list_present(rows: Iterable[TableRow], *, exact: bool) -> list[Object]:
    """List the objects at the end of a snapshot, sorted by kind, namespace and name.

    ``exact`` means that the last list is complete, as in snapshots of this kit; otherwise an object counts as present
    if it was listed within ``LIST_SECONDS`` of the last row. A snapshot has no write times, so ``managedFields`` dates
    a change by the first list that shows it.
    """
    found: dict[tuple[str, str, str, str], _History] = {}
    latest = float("-inf")
    for row in rows:
        sighting = ObjectSighting(row.at, _read_body(row["Body"]))
        if not sighting.body.get("kind") or not (sighting.body.get("metadata") or {}).get("name"):
            continue
        latest = max(latest, sighting.at)
        key = identify(sighting.body)
        uid = str(sighting.body["metadata"].get("uid", ""))
        found[*key, uid] = _continue(found.get((*key, uid)), sighting)
    oldest = latest if exact else latest - LIST_SECONDS
    present = [each for each in found.values() if each.last.at >= oldest]
    newest: dict[tuple[str, str, str], _History] = {}
    for each in sorted(present, key=lambda history: history.last.at):
        newest[identify(each.last.body)] = each
    return [_date(newest[key]) for key in sorted(newest)]


def identify(body: Object) -> tuple[str, str, str]:
    """Return the key of an object: kind, namespace and name."""
    meta = body["metadata"]
    return str(body["kind"]), str(meta.get("namespace") or ""), str(meta["name"])


def _read_body(cell: str) -> Object:
    document = json.loads(cell)
    inner = document.get("object") if isinstance(document, dict) else None
    body: Object = inner if isinstance(inner, dict) else document if isinstance(document, dict) else {}
    return body


def _continue(before: _History | None, sighting: ObjectSighting) -> _History:
    """Add a sighting to an object's history; it dates every difference from the previous one."""
    spec, status = _digest(sighting.body), json.dumps(sighting.body.get("status"), sort_keys=True)
    at = format_timestamp(sighting.at)
    if before is None:
        created = str(sighting.body["metadata"].get("creationTimestamp") or at)
        return _History(sighting, spec, created, status, created)
    return _History(
        sighting,
        spec, before.spec_since if spec == before.spec else at,
        status, before.status_since if status == before.status else at,
    )  # fmt: skip


def _digest(body: Object) -> str:
    meta = {key: value for key, value in body["metadata"].items() if key not in _VOLATILE}
    return json.dumps({**body, "metadata": meta, "status": None}, sort_keys=True)


def _date(history: _History) -> Object:
    body = history.last.body
    fields: list[Mapping[str, Any]] = [{"manager": "snapshot", "operation": "Update", "time": history.spec_since}]
    if body.get("status"):
        fields.append({**fields[0], "time": history.status_since, "subresource": "status"})
    return {**body, "metadata": {**body["metadata"], "managedFields": body["metadata"].get("managedFields") or fields}}
