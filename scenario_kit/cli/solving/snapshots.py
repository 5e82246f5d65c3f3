"""Snapshots as incidents for solvers: locate them and their ground truths, and serve them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from scenario_kit.cli.scoring.truths import load_contexts
from scenario_kit.cli.solving.incidents import IncidentTask, PlayedIncident
from scenario_kit.cli.solving.snapshot_services import SnapshotKubectl, SnapshotMetrics, SnapshotTraces
from scenario_kit.errors import UsageError
from scenario_kit.load import suggest_path
from scenario_kit.load.temporary_folder import TemporaryFolder
from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from scenario_kit.scoring.files.incident_names import normalise_incident
from scenario_kit.scoring.files.topologies import read_topology
from scenario_kit.scoring.scores.run_score import TruthContext
from scenario_kit.snapshot.folder.manifest import MANIFEST, compute_checksum
from scenario_kit.snapshot.reader import SnapshotFolder
from scenario_kit.solver.gateway.tools import Sources
from scenario_kit.solver.offline.evidence import SnapshotEvidence
from scenario_kit.solver.offline.incident import RecordedIncident

TRUTHS: Final = "truths"
#: File names of a ground truth inside a snapshot, as ITBench publishes it.
_ENCLOSED: Final = ("ground_truth*", "gt.*")
_BRIEF: Final = (
    "This is a recording of {app} in Kubernetes, up to the moment at which you were called. Find what is wrong with it,"
    " and what of that is the root cause. It may be that nothing is wrong: then claim nothing."
    " Nothing can be changed, and no more time passes."
)


class SnapshotTask(NamedTuple):
    """A snapshot for solvers, and the ground truth that scores their answers."""

    task: IncidentTask
    context: TruthContext


class SnapshotStage:
    """Serves one snapshot at a time, and caches it until another one is played."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._served: tuple[Path, SnapshotEvidence, Sources] | None = None

    def close(self) -> None:
        """Stop all services."""
        self._stack.close()
        self._served = None

    @contextmanager
    def play(
        self, folder: SnapshotFolder, truth: Path, context: TruthContext, _trial: str, _seed: int
    ) -> Iterator[PlayedIncident]:
        """Serve a snapshot. It is the same for every seed.

        Raises:
            AuthoringError: the snapshot is damaged.
            LabError: a required program is not installed.
        """
        evidence, sources = self._serve(folder)
        yield PlayedIncident(
            RecordedIncident(evidence), sources, name_roots(context.index.truth, evidence), _compute_digest(folder),
            folder.folder.resolve(), _list_hidden(folder.folder.resolve(), truth.resolve()),
        )  # fmt: skip

    def _serve(self, folder: SnapshotFolder) -> tuple[SnapshotEvidence, Sources]:
        if self._served is not None and self._served[0] == folder.folder:
            return self._served[1:]
        self.close()
        if folder.manifest is not None:
            folder.verify()
        evidence = SnapshotEvidence(folder)
        place = self._stack.enter_context(TemporaryFolder("snapshot-services-"))
        kubectl = self._stack.enter_context(closing(SnapshotKubectl(evidence, place)))
        metrics = self._stack.enter_context(closing(SnapshotMetrics(evidence, place)))
        sources = Sources(
            namespaces=evidence.namespaces, cluster=evidence, kubectl=kubectl, metrics=metrics,
            traces=SnapshotTraces(evidence), alerts=lambda: evidence.alerts, now=lambda: evidence.now, is_static=True,
        )  # fmt: skip
        self._served = (folder.folder, evidence, sources)
        return evidence, sources


def find_snapshots(paths: Sequence[Path]) -> list[SnapshotFolder]:
    """Find the snapshots at paths, each a snapshot or a folder of snapshots.

    Raises:
        UsageError: there is no such folder, or no snapshot in it.
        AuthoringError: a manifest cannot be read.
    """
    found = []
    for path in paths:
        if not path.is_dir():
            raise UsageError(f"folder {path} does not exist", fix=suggest_path(path) or "name the folder of a snapshot")
        folders = [path] if is_snapshot(path) else [each for each in sorted(path.iterdir()) if is_snapshot(each)]
        if not folders:
            raise UsageError(f"{path} holds no snapshot", fix="scenario-kit snapshot SCENARIO writes one")
        found += [SnapshotFolder(each) for each in folders]
    return found


def is_snapshot(folder: Path) -> bool:
    """Return whether a folder looks like a snapshot; names of unfinished ones begin with a dot."""
    return not folder.name.startswith(".") and (folder / "alerts").is_dir()


def list_snapshot_tasks(paths: Sequence[Path], truth: Path | None, stage: SnapshotStage) -> list[SnapshotTask]:
    """List the snapshots at paths as tasks. ``truth`` is the folder of ground truths; by default next to each snapshot.

    Raises:
        UsageError: no snapshot, no truth, or two snapshots of one name.
        AuthoringError: a manifest, a truth or a topology cannot be used.
    """
    tasks: dict[str, SnapshotTask] = {}
    for folder in find_snapshots(paths):
        place = find_truth(folder.folder, truth)
        graph = folder.find_topology()
        contexts = load_contexts(place, read_topology(graph) if graph is not None else None, "")[0]
        name = choose_incident(folder.folder.name, contexts)
        if name in tasks:
            raise UsageError(f"two snapshots are called '{name}'", fix="name one of them")
        app = folder.manifest.app if folder.manifest is not None else "an app"
        play: Callable[[str, int], object] = partial(stage.play, folder, place, contexts[name])
        brief = _BRIEF.format(app=app)
        task = IncidentTask(name, brief, _compute_digest(folder), play)  # type: ignore[arg-type]  # partial hides the manager
        tasks[name] = SnapshotTask(task, contexts[name])
    return list(tasks.values())


def _compute_digest(folder: SnapshotFolder) -> str:
    """Compute the digest of a snapshot's version; empty without a manifest."""
    manifest = folder.folder / MANIFEST
    return compute_checksum(manifest) if manifest.is_file() else ""


def find_truth(snapshot: Path, truth: Path | None) -> Path:
    """Find the ground truth of a snapshot: by name in a folder of truths, or the path itself.

    Raises:
        UsageError: there is none.
    """
    if truth is None:
        place = snapshot.absolute().parent / TRUTHS / snapshot.absolute().name
        if not place.exists():
            raise UsageError(f"no truth of {snapshot} lies in {place}", fix="--truth names it, or a folder of truths")
        return place
    if not truth.exists():
        raise UsageError(f"there is no {truth}", fix=suggest_path(truth) or "--truth names a truth, or a folder")
    inner = truth / snapshot.absolute().name
    return inner if inner.exists() else truth


def choose_incident(name: str, contexts: dict[str, TruthContext]) -> str:
    """Choose the ground truth of a snapshot: the only one, or the one with its name.

    Raises:
        UsageError: there are several, and none has its name.
    """
    if len(contexts) == 1:
        return next(iter(contexts))
    if (known := normalise_incident(name)) in contexts:
        return known
    raise UsageError(f"no truth is called '{name}'", fix=f"--truth names one of: {', '.join(sorted(contexts)[:8])}")


def name_roots(truth: IncidentTruth, evidence: SnapshotEvidence) -> tuple[str, ...]:
    """Return the root causes as objects: by name, or the first object that matches a pattern."""
    if truth.outcome != "Incident":
        return ()
    return tuple(name for group in truth.groups if group.root for name in _name_group(group, evidence)[:1])


def _name_group(group: TruthGroup, evidence: SnapshotEvidence) -> list[str]:
    names = list(group.names) or [
        str(obj["metadata"]["name"])
        for obj in evidence.list(group.kind, group.namespace) for pattern in group.patterns
        if re.fullmatch(pattern, str(obj["metadata"]["name"]))
    ]  # fmt: skip
    return [f"{group.namespace}/{group.kind}/{name}" if group.namespace else f"{group.kind}/{name}" for name in names]


def _list_hidden(snapshot: Path, truth: Path) -> tuple[Path, ...]:
    """List the ground truths to hide from a solver: the snapshot's, others next to it, and any inside the snapshot."""
    beside = [truth.parent] if truth.parent.name == TRUTHS else []
    if truth in (snapshot, *snapshot.parents):
        outside: list[Path] = []
    else:
        outside = [*beside, truth]
    return (*outside, *(path for pattern in _ENCLOSED for path in sorted(snapshot.glob(pattern)) if path.is_file()))
