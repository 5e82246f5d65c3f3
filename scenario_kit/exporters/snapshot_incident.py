"""A recorded incident: a snapshot and its truth, verified before export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.exporters.gates import require_gates
from scenario_kit.model.kubernetes.timestamp import Timestamp
from scenario_kit.scoring.entities.truth import IncidentTruth, Outcome, TruthGroup
from scenario_kit.scoring.files.truths import OWN_FILE, read_truths
from scenario_kit.scoring.matching.alias_classes import build_alias_classes
from scenario_kit.snapshot.folder.manifest import MANIFEST, Manifest, SnapshotTimes, compute_checksum
from scenario_kit.snapshot.reader import SnapshotFolder
from scenario_kit.snapshot.truth import V1_FILE

#: The subfolder with the truths of a folder of snapshots.
TRUTHS: Final = "truths"
_AGAIN: Final = "take the snapshot again, and do not edit its files"


class InjectedFault(NamedTuple):
    """An injected fault: ``at`` in seconds since the epoch, ``causes`` the entities that are its root causes."""

    name: str
    type: str
    at: float
    causes: tuple[str, ...]


class SnapshotIncident(NamedTuple):
    """A snapshot, its truth and its brief. ``secrets`` are names that no file shown to solvers may contain.

    ``faults`` are the faults of the root causes, in injection order.
    """

    folder: Path
    manifest: Manifest
    truth: IncidentTruth
    brief: str
    namespaces: tuple[str, ...]
    secrets: tuple[str, ...]
    faults: tuple[InjectedFault, ...] = ()

    @property
    def name(self) -> str:
        """The snapshot's name, which does not hint at the incident."""
        return self.folder.name


def find_snapshots(paths: list[Path]) -> list[Path]:
    """Find snapshots: each path is one, or a folder of several.

    Raises:
        UsageError: a path is not a folder, or contains no snapshot.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise UsageError(
                f"{path} is not a snapshot folder", fix="create one: `scenario-kit snapshot SCENARIO`; pass its folder"
            )
        own = [path] if (path / MANIFEST).is_file() else []
        inside = own or sorted(each.parent for each in path.glob(f"*/{MANIFEST}"))
        if not inside:
            raise UsageError(
                f"{path} contains no snapshot", fix="create one: scenario-kit snapshot SCENARIO --out FOLDER"
            )
        found += inside
    return list(dict.fromkeys(found))


def read_incident(folder: Path) -> SnapshotIncident:
    """Read and verify a snapshot and its truth.

    Raises:
        UsageError: the truth is not where ``snapshot`` writes it.
        AuthoringError: files were changed, a gate failed, or the snapshot never mentions a root cause.
    """
    snapshot = SnapshotFolder(folder)
    snapshot.verify()
    assert snapshot.manifest is not None  # verify() raises without one
    place = folder.parent / TRUTHS / folder.name
    if not (place / OWN_FILE).is_file():
        raise UsageError(f"the truth of {folder} is not at {place}", fix=f"keep `{TRUTHS}` beside its snapshots")
    _verify_truth(folder, place)
    own = json.loads((place / OWN_FILE).read_text(encoding="utf-8"))
    truth = _read_truth(folder.name, place, own)
    require_gates(truth)
    _require_findable(snapshot, truth)
    if not own.get("brief"):
        raise AuthoringError(f"{place / OWN_FILE} has no brief", fix="take the snapshot again, with this version")
    return SnapshotIncident(
        folder,
        snapshot.manifest,
        truth,
        own["brief"],
        tuple(own["namespaces"]),
        tuple(_list_secrets(own)),
        tuple(_list_faults(own, snapshot.manifest.times)),
    )


def _verify_truth(folder: Path, place: Path) -> None:
    """Verify that the truth belongs to the snapshot and is unchanged."""
    try:
        listed = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        sums: Mapping[str, str] = listed["files"]
        belongs = listed["snapshot"] == compute_checksum(folder / MANIFEST)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AuthoringError(f"{place / MANIFEST} is not the manifest of a truth", fix=_AGAIN) from error
    if not belongs:
        raise AuthoringError(f"{place} is the truth of another snapshot, not of {folder}", fix=_AGAIN)
    for name, expected in sums.items():
        file = place / Path(name).name
        if not file.is_file() or compute_checksum(file) != expected:
            raise AuthoringError(f"{file} is missing or was changed", fix=_AGAIN)


def _read_truth(name: str, place: Path, own: Mapping[str, Any]) -> IncidentTruth:
    outcome = own["outcome"]
    if outcome not in get_args(Outcome):
        raise AuthoringError(f"{place / OWN_FILE}: unknown outcome {outcome!r}", fix=_AGAIN)
    if outcome != "Incident":
        return IncidentTruth(incident=name, outcome=outcome)
    return read_truths(place / V1_FILE)[0].truth


def _list_secrets(own: Mapping[str, Any]) -> Iterator[str]:
    """List the names that give the answer away: the scenario's, its faults' and its solutions'."""
    yield own["scenario"]
    for fault in own["faults"]:
        yield from (fault["name"], fault["type"])
    for solution in own["solutions"]:
        yield solution["name"]


def _list_faults(own: Mapping[str, Any], times: SnapshotTimes) -> list[InjectedFault]:
    """List the faults of root causes in injection order; a fault without its own time has the first injection's."""
    labels: dict[str, list[str]] = {}
    for cause in own["groundTruth"].get("rootCauses", ()):
        labels.setdefault(cause["fault"], []).append(cause.get("entity") or f"Fault/{cause['fault']}")
    found = []
    for each in own["faults"]:
        if each["name"] in labels:
            after = each["injectedAfterSeconds"]
            at = times.start.seconds + after if after is not None else _require_injection(times).seconds
            found.append(InjectedFault(each["name"], each["type"], at, tuple(labels[each["name"]])))
    return sorted(found, key=lambda fault: fault.at)


def _require_injection(times: SnapshotTimes) -> Timestamp:
    if times.injection is None:
        raise AuthoringError("the manifest has no time of the injection, but the truth has a fault", fix=_AGAIN)
    return times.injection


def _require_findable(snapshot: SnapshotFolder, truth: IncidentTruth) -> None:
    """Require that the snapshot's objects or events mention every root cause.

    Raises:
        AuthoringError: one is never mentioned, so no solver could name it.
    """
    if truth.outcome != "Incident":
        return
    missing = {each.id: list(each.groups) for each in build_alias_classes(truth.groups, truth.aliases) if each.root}
    for row in (*snapshot.read_objects(), *snapshot.read_events()):
        body = row["Body"]
        for id in [id for id, groups in missing.items() if any(_is_named(body, each) for each in groups)]:
            del missing[id]
        if not missing:
            return
    raise AuthoringError(
        f"{snapshot.folder}: no object or event mentions the root cause {', '.join(missing)}",
        fix="give the root cause an alias that a solver can see, or play the incident live",
    )


def _is_named(body: str, group: TruthGroup) -> bool:
    return any(f'"{name}"' in body for name in group.names) and f'"{group.kind}"' in body
