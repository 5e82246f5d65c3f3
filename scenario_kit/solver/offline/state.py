"""The objects of a snapshot as they were at its end, and when each was seen to change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.snapshot.reader import TableRow, parse_timestamp

#: Seconds within which a recorder without a manifest lists every object again, with some room for a late one.
LIST_SECONDS: Final = 330.0
#: Metadata that follows from other changes, or is noise.
_VOLATILE: Final = ("managedFields", "resourceVersion", "generation")


class ObjectSighting(NamedTuple):
    """An object as a row of the table shows it; ``at`` in seconds since the epoch."""

    at: float
    body: Object


class _History(NamedTuple):
    """The last sighting of an object, and when its state and its status were first seen as they are."""

    last: ObjectSighting
    spec: str
    spec_since: str
    status: str
    status_since: str


def list_present(rows: Iterable[TableRow], *, exact: bool) -> list[Object]:
    """List the objects that were there at the end, by kind, namespace and name.

    ``exact`` says that the last list holds every object, as in snapshots of this kit; otherwise an object counts as
    present if it was listed within ``LIST_SECONDS`` of the last row. A snapshot does not record who wrote what, so
    ``managedFields`` hold when a state was first listed: a change is dated by the first list that shows it.
    """
    found: dict[tuple[str, str, str, str], _History] = {}
    latest = float("-inf")
    for row in rows:
        sighting = ObjectSighting(parse_timestamp(row["Timestamp"]), _read_body(row["Body"]))
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
    """Identify an object by kind, namespace and name."""
    meta = body["metadata"]
    return str(body["kind"]), str(meta.get("namespace") or ""), str(meta["name"])


def _read_body(cell: str) -> Object:
    document = json.loads(cell)
    inner = document.get("object") if isinstance(document, dict) else None
    body: Object = inner if isinstance(inner, dict) else document if isinstance(document, dict) else {}
    return body


def _continue(before: _History | None, sighting: ObjectSighting) -> _History:
    """Continue the history of an object; what differs from before is dated by this sighting."""
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
