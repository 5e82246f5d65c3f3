"""``shards``: validate a catalogue on many machines: plan, print the Job, collect the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from scenario_kit.cli.terminal.groups import add_group
from scenario_kit.cli.terminal.options import Format
from scenario_kit.cli.terminal.output import make_printable, print_progress, show_json, show_table
from scenario_kit.cli.validation.shard_run import (
    NAMESPACE,
    Context,
    Namespace,
    ResultFolder,
    WorkFile,
    list_changed,
    open_store,
    run,
)
from scenario_kit.cli.validation.validate import RUNS, PlanName, Seed
from scenario_kit.errors import AuthoringError, UsageError

if TYPE_CHECKING:
    from scenario_kit.report import Report
    from scenario_kit.shards.assessment import AssessedResult
    from scenario_kit.shards.result_store import ResultStore
    from scenario_kit.shards.work_list import WorkItem, WorkList

#: Scenarios between two lines of progress.
_REPORTED: Final = 100


def register(app: typer.Typer, panel: str) -> None:
    """Add the commands to a panel of the help."""
    add_group(app, panel, "shards", "Validate a catalogue on many machines.", (plan, manifests, run, collect))


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
    namespace: Namespace = NAMESPACE,
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
    """Find the roots of a work list on the planning machine.

    Raises:
        UsageError: files have changed since.
    """
    from scenario_kit.catalog import find_collections
    from scenario_kit.shards.content_digest import digest_root
    from scenario_kit.shards.payload import choose_root

    observed = {root: digest_root(root) for root in find_collections(Path(item.path) for item in work.items)}
    roots = [choose_root(known, observed) for known in work.roots]
    if changed := list_changed(work, _map_own_files(work)):
        raise UsageError(
            f"{changed[0].path} has changed since the work list was planned", fix="plan again: scenario-kit shards plan"
        )
    return roots


def _map_own_files(work: WorkList) -> dict[str, Path]:
    """Map scenarios to their files on the planning machine."""
    return {item.scenario: Path(item.path) for item in work.items}


def collect(
    work: WorkFile,
    results: ResultFolder = None,
    namespace: Namespace = NAMESPACE,
    context: Context = "",
    runs: Annotated[Path, typer.Option("--runs", help="Folder for reports and the summary.")] = RUNS,
    record: Annotated[
        bool,
        typer.Option("--record", help="Write evidence.json next to scenarios that passed plan standard or better."),
    ] = False,
    format: Format = "text",
) -> int:
    """Fetch the results of a work list, and write reports and a summary of passed, failed and missing ones.

    Exit codes: 0 all pass, 1 some fail, 2 some are missing or not evaluated, 3 usage, 4 some are inconclusive.

    Example: scenario-kit shards collect work.json --results results
    """
    from scenario_kit.report import prepare_folder
    from scenario_kit.shards.assessment import choose_exit_code
    from scenario_kit.shards.summary import build_document, render_junit, render_page, shorten_report
    from scenario_kit.shards.work_list import read_work_list

    todo = read_work_list(work)
    store = open_store(results, namespace, context)
    prepare_folder(runs)
    changed = {item.scenario for item in list_changed(todo, _map_own_files(todo))}
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
    from scenario_kit.shards.result_store import find_result

    if changed:
        return AssessedResult(item, "Stale", reason=f"{item.path} is missing, or has changed since the plan")
    return assess_result(work, item, find_result(store, work.name, item.scenario))


def _keep_report(report: Report, runs: Path, *, record: bool) -> Path:
    """Write the report of a run as ``verify`` does, unless it exists, and its evidence; return its folder."""
    from scenario_kit.report import RENDERINGS, write_report
    from scenario_kit.report.document import locate_run

    folder = locate_run(runs, report.validation.scenario, datetime.fromisoformat(report.created))
    if not folder.exists():
        write_report(report, runs, RENDERINGS)
    if record:
        _record(report)
    return folder


def _record(report: Report) -> None:
    from scenario_kit.cli.validation.report import record_evidence

    try:
        record_evidence(report)
    except (UsageError, AuthoringError) as error:  # not a pass, or of a weaker plan
        print_progress(f"{report.validation.scenario}: no evidence: {error.message}")


def _show(assessed: Sequence[AssessedResult], runs: Path) -> None:
    from scenario_kit.shards.assessment import count_standings

    others = [each for each in assessed if not each.passed]
    if others:
        show_table(("scenario", "result", "reason"), _list_rows(others))
    counts = ", ".join(f"{number} {what}" for what, number in sorted(count_standings(assessed).items()))
    typer.echo(f"{len(assessed)} scenarios: {counts}; summary: {runs / 'summary.md'}")


def _list_rows(others: Iterable[AssessedResult]) -> list[tuple[str, str, str]]:
    return [(each.item.scenario, each.outcome, make_printable(" ".join(each.reason.split()))) for each in others]
