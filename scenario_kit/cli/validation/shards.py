"""``shards``: validate a catalogue on many machines: plan, print the Job, run one shard, collect the results."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import msgspec
import typer

from scenario_kit.cli.terminal.options import Format, Lab
from scenario_kit.cli.terminal.output import make_printable, print_progress, show_json, show_table
from scenario_kit.cli.validation.validate import RUNS, PlanName, Seed
from scenario_kit.errors import AuthoringError, InfrastructureError, UsageError

if TYPE_CHECKING:
    from scenario_kit.report import Report
    from scenario_kit.shards.assessment import AssessedResult
    from scenario_kit.shards.result_store import ResultStore
    from scenario_kit.shards.work_list import WorkItem, WorkList

#: The variable in which the Job controller puts the index of a pod
#: (https://kubernetes.io/docs/tasks/job/indexed-parallel-processing-static/).
INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
_NAMESPACE: Final = "scenario-kit-shards"
#: Scenarios between two lines of progress.
_REPORTED: Final = 100

WorkFile = Annotated[Path, typer.Argument(help="The work list that `shards plan` wrote.")]
Namespace = Annotated[str, typer.Option(help="The namespace of Job and results.")]
ResultFolder = Annotated[
    Path | None, typer.Option("--results", help="A folder for results, instead of ConfigMaps.", file_okay=False)
]
Context = Annotated[str, typer.Option(help="The kubeconfig context; the current one without it.")]


def register(app: typer.Typer, panel: str) -> None:
    """Add the commands to a panel of the help."""
    group = typer.Typer(help="Validate a catalogue on many machines.", no_args_is_help=True)
    app.add_typer(group, name="shards", rich_help_panel=panel)
    group.command()(plan)
    group.command()(manifests)
    group.command()(run)
    group.command()(collect)


def plan(
    paths: Annotated[list[Path], typer.Argument(help="Scenario files, or folders that hold some.")],
    shards: Annotated[int, typer.Option("--shards", min=1, max=10_000, help="How many machines share the work.")],
    out: Annotated[Path, typer.Option(help="File for the work list.", dir_okay=False)] = Path("work.json"),
    plan: PlanName = "quick",
    seed: Seed = 1,
    name: Annotated[str, typer.Option(help="Name of the work list; results are kept under it.")] = "catalogue",
    in_image: Annotated[
        bool, typer.Option("--in-image", help="Collections of your own are in the image; do not send their files.")
    ] = False,
) -> None:
    """Divide the validation of scenarios into shards of equal cost, and write the work list.

    Example: scenario-kit shards plan catalog/scenarios --shards 20 --plan standard --out work.json
    """
    from scenario_kit.campaign import choose_plan
    from scenario_kit.campaign.planning.duration import format_duration
    from scenario_kit.load import find_scenario_files
    from scenario_kit.shards.planning import WorkRequest, plan_work
    from scenario_kit.shards.work_list import write_work_list

    files = find_scenario_files(paths)
    request = WorkRequest(files, choose_plan(plan), shards, seed, name, ship=not in_image)
    work = plan_work(request, lambda number, count: _report_progress(number, count, "read"))
    write_work_list(out, work)
    loads = [sum(item.seconds for item in work.select(index)) for index in range(work.shards)]
    trials = sum(item.trials for item in work.items)
    show_table(
        ("scenarios", "trials", "shards", "one lab", "longest shard"),
        [(str(len(files)), str(trials), str(work.shards), format_duration(sum(loads)), format_duration(max(loads)))],
    )
    if unreadable := [item.path for item in work.items if not item.incident]:
        print_progress(f"{len(unreadable)} cannot be resolved, and will fail: {', '.join(unreadable[:5])}")
    print_progress(f"wrote {out}")


def _report_progress(number: int, count: int, done: str) -> None:
    if number % _REPORTED == 0 and number < count:
        print_progress(f"{number} of {count} scenarios: {done}")


def manifests(
    work: WorkFile,
    image: Annotated[str, typer.Option(help="The image with the lab (ci/image --lab).")] = "",
    namespace: Namespace = _NAMESPACE,
    queue: Annotated[str, typer.Option(help="A LocalQueue of Kueue that admits the Job.")] = "",
    parallelism: Annotated[int, typer.Option(min=0, help="Pods at a time; 0 for one per shard.")] = 0,
    retries: Annotated[int, typer.Option(min=0, max=100, help="Retries of a shard that infrastructure failed.")] = 3,
    results_claim: Annotated[
        str, typer.Option(help="A PersistentVolumeClaim for results, instead of ConfigMaps.")
    ] = "",
    cpu: Annotated[str, typer.Option(help="CPU that a lab requests.")] = "2",
    memory: Annotated[str, typer.Option(help="Memory of a lab, its files included.")] = "4Gi",
) -> None:
    """Print what to apply to validate a work list in a cluster: an Indexed Job, permissions, and its input.

    Example: scenario-kit shards manifests work.json --image IMAGE | kubectl apply --server-side -f -
    """
    from scenario_kit.cli.operator import dump_objects, require_image
    from scenario_kit.shards.manifests import ShardJob, build_manifests
    from scenario_kit.shards.payload import list_shipped_files, pack_files
    from scenario_kit.shards.work_list import read_work_list

    todo = read_work_list(work)
    roots = _locate_planned_roots(todo)
    job = ShardJob(
        namespace=namespace, queue=queue, parallelism=parallelism, retries=retries, results_claim=results_claim,
        cpu=cpu, memory=memory,
    )  # fmt: skip
    if image:
        job = job._replace(image=require_image(image))
    documents = pack_files(list_shipped_files(todo, roots))
    typer.echo(dump_objects(build_manifests(todo, job, documents)), nl=False)


def _locate_planned_roots(work: WorkList) -> list[Path]:
    """Find the roots of a work list on the machine where it was planned.

    Raises:
        UsageError: files have changed since.
    """
    from scenario_kit.catalog import find_collections
    from scenario_kit.shards.content_digest import digest_root
    from scenario_kit.shards.payload import choose_root

    observed = {root: digest_root(root) for root in find_collections(Path(item.path) for item in work.items)}
    roots = [choose_root(known, observed) for known in work.roots]
    if changed := _list_changed(work, _map_own_files(work)):
        raise UsageError(
            f"{changed[0].path} has changed since the work list was planned", fix="plan again: scenario-kit shards plan"
        )
    return roots


def _map_own_files(work: WorkList) -> dict[str, Path]:
    """Map scenarios to their files where the work list was planned."""
    return {item.scenario: Path(item.path) for item in work.items}


def _list_changed(work: WorkList, files: Mapping[str, Path]) -> list[WorkItem]:
    """List the scenarios of which the files are missing, or have changed since the plan."""
    from scenario_kit.shards.content_digest import digest_scenario, digest_value

    changed = []
    for item in work.items:
        path = files.get(item.scenario)
        if path is None:
            continue
        if not path.is_file() or digest_value([work.catalogue, digest_scenario(path)]) != item.digest:
            changed.append(item)
    return changed


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
    namespace: Namespace = _NAMESPACE,
    context: Context = "",
    name: Lab = "default",
) -> int:
    """Validate one shard, and store each result when it is there; what has a result already is not repeated.

    Exit codes: 0 every scenario has a verdict (whichever), 2 infrastructure failed, 3 usage: no retry would help.

    Example: scenario-kit shards run work.json --index 3 --results results
    """
    from scenario_kit.shards.execution import ShardRun
    from scenario_kit.shards.work_list import read_work_list

    if index is None:
        raise UsageError("it is not known which shard to run", fix=f"--index NUMBER, or {INDEX_VARIABLE}")
    todo = read_work_list(work)
    items = todo.select(index)
    store = _open_store(results, namespace, context)
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


def _open_store(results: Path | None, namespace: str, context: str) -> ResultStore:
    from scenario_kit.shards.result_store import ConfigMapStore, FolderStore

    if results is not None:
        return FolderStore(results)
    from scenario_kit.clients.kube import KubeCluster

    return ConfigMapStore(KubeCluster(context=context or None), namespace)


class _LocatedFiles(NamedTuple):
    """Where this machine has the roots of a work list, and the files of scenarios, by name."""

    roots: list[Path]
    files: dict[str, Path]


def _locate_files(work: WorkList, items: Sequence[WorkItem], folder: Path, *, shipped: bool) -> _LocatedFiles:
    """Find the catalogue of a work list and the files of scenarios; ``folder`` is where those that came along are.

    Raises:
        UsageError: this machine does not have the files for which the work list was planned.
    """
    from scenario_kit.shards.payload import locate_item

    roots = _locate_roots(work, folder, shipped)
    alone = {item.scenario for item in items if item.root < 0 and not shipped}
    files = {
        item.scenario: Path(item.path) if item.scenario in alone else locate_item(item, folder, roots) for item in items
    }
    if changed := _list_changed(work, files):
        raise UsageError(
            f"{files[changed[0].scenario]} is missing, or is not the file for which the work list was planned",
            fix="plan again, or use an image, or a checkout, of the same commit",
        )
    return _LocatedFiles(roots, files)


def _prepare(work: WorkList, located: _LocatedFiles, lab: str) -> Callable[[WorkItem], Report]:
    """Return what validates a scenario of a work list."""
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
        except typer.Abort:  # so does the lab's place report Ctrl-C
            raise KeyboardInterrupt from None
        return msgspec.structs.replace(relocate_report(report, str(file), item), created=format_timestamp())

    return validate


def _unpack(files: Path | None, folder: Path) -> bool:
    """Unpack the files that came along; return whether there are any.

    Raises:
        UsageError: they are damaged, or there are none where they should be.
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
    """Find the roots of a work list: those that were unpacked, and those of this machine with the same content."""
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


def collect(
    work: WorkFile,
    results: ResultFolder = None,
    namespace: Namespace = _NAMESPACE,
    context: Context = "",
    runs: Annotated[Path, typer.Option("--runs", help="Folder for reports and the summary.")] = RUNS,
    record: Annotated[
        bool,
        typer.Option("--record", help="Write evidence.json next to scenarios that passed plan standard or better."),
    ] = False,
    format: Format = "text",
) -> int:
    """Fetch the results of a work list, write reports and a summary, and say what is missing.

    Exit codes: 0 all pass, 1 some fail, 2 some are missing or not evaluated, 3 usage, 4 some are inconclusive.

    Example: scenario-kit shards collect work.json --results results
    """
    from scenario_kit.report import prepare_folder
    from scenario_kit.shards.assessment import choose_exit_code
    from scenario_kit.shards.summary import build_document, render_junit, render_page, shorten_report
    from scenario_kit.shards.work_list import read_work_list

    todo = read_work_list(work)
    store = _open_store(results, namespace, context)
    prepare_folder(runs)
    changed = {item.scenario for item in _list_changed(todo, _map_own_files(todo))}
    assessed: list[AssessedResult] = []
    folders: dict[str, str] = {}
    for number, item in enumerate(todo.items, start=1):
        _report_progress(number, len(todo.items), "collected")
        each = _assess(todo, item, store, item.scenario in changed)
        if each.report is not None and each.standing == "Collected":
            # The path that this work list names: evidence is written next to it.
            validation = msgspec.structs.replace(each.report.validation, path=item.path)
            report = msgspec.structs.replace(each.report, validation=validation)
            folders[item.scenario] = str(_keep_report(report, runs, record=record).relative_to(runs))
            each = each._replace(report=shorten_report(report))
        assessed.append(each)
    document = build_document(todo, assessed, folders)
    for name, text in (
        ("summary.md", render_page(todo, assessed, folders)),
        ("summary.json", msgspec.json.format(msgspec.json.encode(document), indent=1).decode()),
        ("junit.xml", render_junit(assessed)),
    ):
        (runs / name).write_text(text, encoding="utf-8")
    if format == "json":
        show_json(document)
    else:
        _show(assessed, runs)
    return choose_exit_code(assessed)


def _assess(work: WorkList, item: WorkItem, store: ResultStore, changed: bool) -> AssessedResult:
    from scenario_kit.shards.assessment import AssessedResult, assess_result
    from scenario_kit.shards.results import StoredResult, UnreadableResult

    if changed:
        return AssessedResult(item, "Stale", reason=f"{item.path} is missing, or has changed since the plan")
    try:
        found: StoredResult | UnreadableResult | None = store.read(work.name, item.scenario)
    except UnreadableResult as problem:
        found = problem
    return assess_result(work, item, found)


def _keep_report(report: Report, runs: Path, *, record: bool) -> Path:
    """Write the report of a run as ``verify`` does, unless it is there, and its evidence; return its folder."""
    from scenario_kit.report import html, markdown, write
    from scenario_kit.report.document import locate_run

    created = datetime.fromisoformat(report.created)
    folder = locate_run(runs, report.validation.scenario, created)
    if not folder.exists():
        renderings = {"report.md": markdown.render, "report.html": html.render}
        write(report.validation, runs, report.kubernetes, report.engine, renderings, report.left_out, created)
    if record:
        _record(report)
    return folder


def _record(report: Report) -> None:
    from scenario_kit.cli.validation.report import record_evidence

    try:
        record_evidence(report)
    except (UsageError, AuthoringError) as problem:  # not a pass, or of a weaker plan: it is a result all the same
        print_progress(f"{report.validation.scenario}: no evidence: {problem.message}")


def _show(assessed: Sequence[AssessedResult], runs: Path) -> None:
    from scenario_kit.shards.assessment import count_standings

    others = [each for each in assessed if each.standing != "Collected" or str(each.verdict) != "Pass"]
    if others:
        show_table(("scenario", "result", "reason"), _list_rows(others))
    counts = ", ".join(f"{number} {what}" for what, number in sorted(count_standings(assessed).items()))
    typer.echo(f"{len(assessed)} scenarios: {counts}; summary: {runs / 'summary.md'}")


def _list_rows(others: Iterable[AssessedResult]) -> list[tuple[str, str, str]]:
    return [
        (
            each.item.scenario,
            str(each.verdict) if each.standing == "Collected" else each.standing,
            make_printable(" ".join(each.reason.split())),
        )
        for each in others
    ]
