"""``shards run``: validate one shard on this machine. Also what all commands about shards share: options, results."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import msgspec
import typer

from scenario_kit.cli.terminal.options import Lab
from scenario_kit.cli.terminal.output import make_printable, print_progress
from scenario_kit.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from scenario_kit.report import Report
    from scenario_kit.shards.result_store import ResultStore
    from scenario_kit.shards.work_list import WorkItem, WorkList

#: The variable in which the Job controller puts the index of a pod
#: (https://kubernetes.io/docs/tasks/job/indexed-parallel-processing-static/).
INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
NAMESPACE: Final = "scenario-kit-shards"
WorkFile = Annotated[Path, typer.Argument(help="The work list that `shards plan` wrote.")]
Namespace = Annotated[str, typer.Option(help="The namespace of Job and results.")]
ResultFolder = Annotated[
    Path | None, typer.Option("--results", help="A folder for results, instead of ConfigMaps.", file_okay=False)
]
Context = Annotated[str, typer.Option(help="The kubeconfig context; the current one without it.")]


def run(
    work: WorkFile,
    index: Annotated[
        int | None,
        typer.Option(min=0, envvar=INDEX_VARIABLE, help="The shard, from 0; in a pod, its completion index."),
    ] = None,
    results: ResultFolder = None,
    files: Annotated[
        Path | None, typer.Option(help="The folder of files that `shards manifests` packed.", file_okay=False)
    ] = None,
    namespace: Namespace = NAMESPACE,
    context: Context = "",
    name: Lab = "default",
) -> int:
    """Validate one shard, and store each result at once; scenarios with a result are skipped.

    Exit codes: 0 every scenario has a verdict (whichever), 2 infrastructure failed, 3 usage: no retry would help.

    Example: scenario-kit shards run work.json --index 3 --results results
    """
    from scenario_kit.shards.execution import ShardRun
    from scenario_kit.shards.work_list import read_work_list

    if index is None:
        raise UsageError("no shard given", fix=f"--index NUMBER, or {INDEX_VARIABLE}")
    todo = read_work_list(work)
    items = todo.select(index)
    store = open_store(results, namespace, context)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # how a kubelet ends a pod
    with tempfile.TemporaryDirectory(prefix="scenario-kit-shard-") as folder:
        located = _locate_files(todo, items, Path(folder), shipped=_unpack(files, Path(folder)))
        validate = _prepare(todo, located, name)
        pod = os.environ.get("POD_NAME") or socket.gethostname()
        # Lines quote stored results, which others may have written.
        tally = ShardRun(todo, store, validate, lambda line: print_progress(make_printable(line)), pod).run(index)
    print_progress(f"shard {index}: {tally.ended} scenarios have a verdict")
    if tally.failed:
        raise InfrastructureError(
            f"{len(tally.failed)} scenarios have no verdict: {', '.join(tally.failed[:5])}",
            fix="run the same command again: it repeats only these",
        )
    return 0


def open_store(results: Path | None, namespace: str, context: str) -> ResultStore:
    """Open the store of results: a folder, or ConfigMaps of a namespace."""
    from scenario_kit.shards.result_store import ConfigMapStore, FolderStore

    if results is not None:
        return FolderStore(results)
    from scenario_kit.clients.kube import KubeCluster

    return ConfigMapStore(KubeCluster(context=context or None), namespace)


def list_changed(work: WorkList, files: Mapping[str, Path]) -> list[WorkItem]:
    """List the scenarios whose files are missing, or have changed since the plan."""
    from scenario_kit.shards.content_digest import digest_scenario, digest_value

    changed = []
    for item in work.items:
        path = files.get(item.scenario)
        if path is None:
            continue
        if not path.is_file() or digest_value([work.catalogue, digest_scenario(path)]) != item.digest:
            changed.append(item)
    return changed


class _LocatedFiles(NamedTuple):
    """The roots of a work list on this machine, and the files of scenarios, by name."""

    roots: list[Path]
    files: dict[str, Path]


def _locate_files(work: WorkList, items: Sequence[WorkItem], folder: Path, *, shipped: bool) -> _LocatedFiles:
    """Find the catalogue of a work list and the files of scenarios; ``folder`` has the shipped ones.

    Raises:
        UsageError: the files on this machine are not those of the work list.
    """
    from scenario_kit.shards.payload import locate_item

    roots = _locate_roots(work, folder, shipped)
    alone = {item.scenario for item in items if item.root < 0 and not shipped}
    files = {
        item.scenario: Path(item.path) if item.scenario in alone else locate_item(item, folder, roots) for item in items
    }
    if changed := list_changed(work, files):
        raise UsageError(
            f"{files[changed[0].scenario]} is missing, or is not the file for which the work list was planned",
            fix="plan again, or use an image, or a checkout, of the same commit",
        )
    return _LocatedFiles(roots, files)


def _prepare(work: WorkList, located: _LocatedFiles, lab: str) -> Callable[[WorkItem], Report]:
    """Return a function that validates a scenario of a work list."""
    from scenario_kit.catalog import Catalog
    from scenario_kit.cli.validation.validate import LabPlace, ValidationOptions, validate_one
    from scenario_kit.report.document import format_timestamp
    from scenario_kit.shards.relocation import relocate_report

    plan = work.parse_plan()
    catalog = Catalog(located.roots)
    place = LabPlace(ValidationOptions(plan.name, work.seed, lab))

    def validate(item: WorkItem) -> Report:
        file = located.files[item.scenario]
        try:
            report = validate_one(file, plan, place, catalog)
        except typer.Abort:  # Ctrl-C, as reported by the lab's place
            raise KeyboardInterrupt from None
        return msgspec.structs.replace(relocate_report(report, str(file), item), created=format_timestamp())

    return validate


def _unpack(files: Path | None, folder: Path) -> bool:
    """Unpack shipped files; return whether there are any.

    Raises:
        UsageError: they are damaged, or missing from ``files``.
    """
    from scenario_kit.shards.payload import unpack_files

    if files is None:
        return False
    documents = sorted(files.glob("*.json"))
    if not documents:
        raise UsageError(
            f"{files} contains no files of a work list", fix="apply what scenario-kit shards manifests prints"
        )
    return unpack_files((document.read_bytes() for document in documents), folder) > 0


def _locate_roots(work: WorkList, folder: Path, shipped: bool) -> list[Path]:
    """Find the roots of a work list: unpacked ones, and those of this machine with the same content."""
    from scenario_kit.catalog import find_collections
    from scenario_kit.shards.content_digest import digest_root
    from scenario_kit.shards.payload import choose_root, locate_shipped_root

    paths = [] if shipped else [path for item in work.items if (path := Path(item.path)).exists()]
    observed: dict[Path, Mapping[str, str]] = {root: digest_root(root) for root in find_collections(paths)}
    roots = []
    for index, known in enumerate(work.roots):
        own = locate_shipped_root(folder, index)
        here = known.shipped and shipped
        roots.append(choose_root(known, {own: digest_root(own)} if here else observed))
    return roots
