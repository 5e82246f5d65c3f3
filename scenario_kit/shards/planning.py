"""Plan a work list: read scenarios, count their trials, compute digests, and divide them over shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from scenario_kit import __version__
from scenario_kit.campaign import Plan, plan_trials
from scenario_kit.catalog import Catalog, find_collections, find_data_root
from scenario_kit.catalog.collection import find_collection
from scenario_kit.catalog.evidence import read_evidence
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load import load_scenario
from scenario_kit.load.folders import find_folder_name, normalize_path
from scenario_kit.render import resolve
from scenario_kit.shards.content_digest import digest_root, digest_scenario, digest_value
from scenario_kit.shards.division import divide, estimate_seconds, measure_trial_seconds
from scenario_kit.shards.work_list import WORK_VERSION, CatalogueRoot, WorkItem, WorkList, check_name

#: Report progress: how many scenarios of how many have been read.
Progress = Callable[[int, int], None]


class WorkRequest(NamedTuple):
    """A request to plan a work list.

    ``ship`` is whether pods get the files of collections other than the kit's own; otherwise their image contains them.
    """

    files: Sequence[Path]
    plan: Plan
    shards: int
    seed: int = 1
    name: str = "catalogue"
    ship: bool = True


class _Subject(NamedTuple):
    """A scenario to plan; an invalid one has no trials, since its findings decide its verdict."""

    name: str
    file: Path
    incident: str = ""
    trials: int = 0
    trial_seconds: float | None = None


def plan_work(request: WorkRequest, progress: Progress | None = None) -> WorkList:
    """Plan the work list of a request.

    Raises:
        UsageError: two scenarios have the same name, a file is unreadable, or the name is invalid.
    """
    check_name(request.name)
    roots = find_collections(request.files)
    subjects = read_subjects(request, Catalog(roots), progress)
    known = [CatalogueRoot(parts=digest_root(root), shipped=_is_shipped(root, request.ship)) for root in roots]
    plan = msgspec.json.decode(request.plan.to_bytes())
    catalogue = digest_value([__version__, plan, request.seed, [root.parts for root in known]])
    costs = estimate_costs(subjects)
    shards = min(request.shards, len(subjects)) if request.shards > 0 else request.shards
    order = {name: (index, at) for index, names in enumerate(divide(costs, shards)) for at, name in enumerate(names)}
    items = []
    for subject in sorted(subjects, key=lambda each: order[each.name]):
        root = _find_root(subject.file, roots)
        item = WorkItem(
            scenario=subject.name,
            path=str(subject.file),
            root=root,
            place=_relativise(subject.file, roots[root] if root >= 0 else None),
            digest=digest_value([catalogue, digest_scenario(subject.file)]),
            incident=subject.incident,
            trials=subject.trials,
            seconds=costs[subject.name],
            shard=order[subject.name][0],
        )
        items.append(item)
    return WorkList(
        schema_version=WORK_VERSION, kit=__version__, name=request.name, plan=plan, seed=request.seed,
        catalogue=catalogue, roots=tuple(known), shards=shards, items=tuple(items),
    )  # fmt: skip


def select_shard(files: Sequence[Path], plan: Plan, number: int, count: int) -> list[Path]:
    """Return the files of one shard, numbered from 1; the division is that of ``plan_work``.

    Raises:
        UsageError: two scenarios have the same name.
    """
    request = WorkRequest(files, plan, count)
    subjects = {each.name: each for each in read_subjects(request, Catalog(find_collections(files)))}
    names = divide(estimate_costs(list(subjects.values())), count)[number - 1]
    return [subjects[name].file for name in names]


def estimate_costs(subjects: Sequence[_Subject]) -> Mapping[str, float]:
    """Estimate the seconds of scenarios, by name."""
    seconds = estimate_seconds([each.trials for each in subjects], [each.trial_seconds for each in subjects])
    return {each.name: cost for each, cost in zip(subjects, seconds, strict=True)}


def read_subjects(request: WorkRequest, catalog: Catalog, progress: Progress | None = None) -> list[_Subject]:
    """Read scenarios and count their trials.

    Raises:
        UsageError: two of them have the same name.
    """
    found: dict[str, _Subject] = {}
    for number, file in enumerate(request.files, start=1):
        subject = _read_subject(file, catalog, request)
        if (other := found.get(subject.name)) is not None:
            raise UsageError(
                f"{other.file} and {file} are both named {subject.name}; results are kept by name", fix="rename one"
            )
        found[subject.name] = subject
        if progress is not None:
            progress(number, len(request.files))
    return list(found.values())


def _read_subject(file: Path, catalog: Catalog, request: WorkRequest) -> _Subject:
    name = find_folder_name(file)
    try:
        scenario = load_scenario(file).scenario
        name = scenario.name
        sample = resolve(scenario, catalog, "app", beside=file.parent)
        trials = len(plan_trials(request.plan, sample, request.seed))
    except AuthoringError:
        return _Subject(name, file)
    return _Subject(name, file, sample.digest, trials, _read_trial_seconds(file))


def _read_trial_seconds(file: Path) -> float | None:
    """Read the seconds per trial from the evidence beside a scenario; None without usable evidence."""
    try:
        return measure_trial_seconds(read_evidence(file))
    except AuthoringError:  # lint reports it (SK607)
        return None


def _is_shipped(root: Path, ship: bool) -> bool:
    """Return whether a root's files go with the work; those of the kit itself are part of every image."""
    return ship and root != find_data_root()


def _find_root(file: Path, roots: Sequence[Path]) -> int:
    found = find_collection(file)
    return roots.index(found) if found in roots else -1


def _relativise(file: Path, root: Path | None) -> str:
    """Return the path of a file relative to its root; a scenario without a root gets its own folder."""
    path = normalize_path(file)
    return path.relative_to(path.parent.parent if root is None else normalize_path(root)).as_posix()
