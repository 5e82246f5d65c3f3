"""``try`` and ``verify``: scenarios through the lab, to a verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, Protocol

import typer

from scenario_kit.cli.terminal.options import Format, Lab, ScenarioPath, declare_choice
from scenario_kit.cli.terminal.output import fold_text, print_progress, show_findings, show_json, show_table
from scenario_kit.cli.terminal.terminal import style_text
from scenario_kit.errors import AuthoringError, InfrastructureError, UsageError

if TYPE_CHECKING:
    from scenario_kit.campaign import Plan, Validation
    from scenario_kit.catalog import Catalog
    from scenario_kit.cli.validation.cluster_place import ClusterChoice
    from scenario_kit.load import Loaded
    from scenario_kit.model import Finding, Runbook
    from scenario_kit.report import Report
    from scenario_kit.shards.division import ShardPosition

RUNS = Path("runs")


@dataclass(frozen=True)
class ValidationOptions:
    """Options for all scenarios of one call; ``parallel`` is by default the plan's."""

    plan: str
    seed: int
    lab: str
    parallel: int | None = None
    runs: Path = RUNS
    keep: bool = False
    as_json: bool = False
    accept: bool = False
    cluster: ClusterChoice | None = None
    shard: ShardPosition | None = None
    rerun_failed: bool = False


Seed = Annotated[
    int, typer.Option(help="Seed of everything random (load, chance, noise) except the placement of pods.")
]
Runs = Annotated[Path, typer.Option("--runs", help="Folder for reports.")]


PlanName = Annotated[str, typer.Option(help="How much evidence: try, quick, standard, thorough, or a plan file.")]
ClusterKind = Annotated[
    str, declare_choice("--cluster", "lab|current|kind", help="Where to run: the lab, a kubeconfig context, kind.")
]
Context = Annotated[
    str, typer.Option(help="The kubeconfig context of --cluster current; without it, a person is asked.")
]
Timeout = Annotated[
    int | None, typer.Option(min=1, max=1440, help="Most minutes in a cluster; without it, what deadlines add up to.")
]
Image = Annotated[
    str, typer.Option(help="The operator's image for --cluster kind: a reference, or an archive of ci/image.")
]
Parallel = Annotated[
    int | None, typer.Option(min=1, max=8, help="Trials to run at the same time; 2 unless the plan says otherwise.")
]
Shard = Annotated[
    str, typer.Option(help="Only one of several shards of equal cost, as NUMBER/COUNT: 3/20 is the third of 20.")
]
RerunFailed = Annotated[bool, typer.Option("--rerun-failed", help="Only scenarios whose last run did not pass.")]


def try_(
    path: ScenarioPath,
    seed: Seed = 1,
    name: Lab = "default",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the trial object for inspection.")] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write the alerts and edges that were observed into the file.")
    ] = False,
    format: Format = "text",
    runs: Runs = RUNS,
) -> int:
    """Run a scenario once: quiet, broken, held, decoys, solved, clean.

    Example: scenario-kit try catalog/scenarios/product-catalog-wrong-target-port
    """
    options = ValidationOptions("try", seed, name, 1, keep=keep, accept=accept, as_json=format == "json", runs=runs)
    return validate([path], options)


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Scenario files, or folders that hold some.")],
    plan: PlanName = "quick",
    cluster: ClusterKind = "lab",
    context: Context = "",
    timeout: Timeout = None,
    image: Image = "",
    seed: Seed = 1,
    name: Lab = "default",
    parallel: Parallel = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the trial objects for inspection.")] = False,
    rerun_failed: RerunFailed = False,
    shard: Shard = "",
    format: Format = "text",
    runs: Runs = RUNS,
) -> int:
    """Prove that scenarios reproduce, that their labels are true and their solutions work.

    Exit codes: 0 pass, 1 fail, 2 not evaluated, 3 usage, 4 inconclusive.

    Example: scenario-kit verify catalog/scenarios --plan quick
    """
    choice = choose_cluster(cluster, ClusterOptions(context, timeout, image), name)
    options = ValidationOptions(
        plan, seed, name, parallel, keep=keep, as_json=format == "json", runs=runs, cluster=choice,
        shard=_parse_shard(shard), rerun_failed=rerun_failed,
    )  # fmt: skip
    return validate(paths, options)


def _parse_shard(text: str) -> ShardPosition | None:
    from scenario_kit.shards.division import parse_position

    return parse_position(text) if text else None


class ClusterOptions(NamedTuple):
    """Options about the cluster."""

    context: str = ""
    timeout: int | None = None
    image: str = ""


#: Valid options by kind of cluster.
_VALID: Final[dict[str, tuple[str, ...]]] = {"lab": (), "current": ("context", "timeout"), "kind": ("timeout", "image")}


def choose_cluster(cluster: str, options: ClusterOptions, name: str) -> ClusterChoice | None:
    """Return the chosen cluster; None for the lab.

    Raises:
        UsageError: an option belongs to another kind of cluster.
    """
    from scenario_kit.cli.validation.cluster_place import ClusterChoice
    from scenario_kit.cli.validation.kind_cluster import name_cluster

    for option, value in options._asdict().items():
        if value and option not in _VALID[cluster]:
            others = " or ".join(f"--cluster {kind}" for kind, valid in _VALID.items() if option in valid)
            raise UsageError(f"--{option} does not apply to --cluster {cluster}", fix=f"{others}, or remove it")
    if cluster == "lab":
        return None
    kind = name_cluster(name) if cluster == "kind" else ""
    return ClusterChoice(options.context, options.timeout, kind, options.image)


class CampaignCase(NamedTuple):
    """A scenario that passed the static rules, and the plan and catalogue of its validation."""

    loaded: Loaded
    static: list[Finding]
    file: Path
    plan: Plan
    catalog: Catalog


class CampaignPlace(Protocol):
    """A platform for campaigns."""

    def run(self, case: CampaignCase) -> Report:
        """Run a campaign to its verdict, and report it with its environment."""

    def release(self) -> None:
        """Remove the objects of the last campaign, whose report is saved."""


def validate(paths: list[Path], options: ValidationOptions) -> int:
    """Validate scenarios one after another; the worst verdict decides the exit code."""
    from scenario_kit.campaign import choose_plan
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.cli.authoring.accept import accept
    from scenario_kit.load import find_scenario_files
    from scenario_kit.model.results.verdict import choose_worst_code
    from scenario_kit.report import prepare_folder
    from scenario_kit.report.history import list_failed_files

    plan = choose_plan(options.plan)
    files = find_scenario_files(paths)
    catalog = Catalog(find_collections(files))
    if options.shard is not None:
        files = _select_shard(files, plan, options.shard)  # of all, as the other machines do
    if options.rerun_failed and not (files := list_failed_files(options.runs, files)):
        typer.echo("nothing to run: the last run of each of these scenarios passed, or there is none")
        return 0
    results = []
    prepare_folder(options.runs)
    place = _open_place(options)
    for file in files:  # conclude each at once, so that its result is kept if a later one fails
        report = validate_one(file, plan, place, catalog)
        results.append(report.validation)
        _conclude(report, options.runs, as_json=options.as_json)
        place.release()
        if options.accept:
            accept(file, results[-1], catalog)
    if len(results) > 1 and not options.as_json:
        _print_table(results)
    return choose_worst_code(v.verdict.exit_code for v in results)


def _select_shard(files: list[Path], plan: Plan, shard: ShardPosition) -> list[Path]:
    from scenario_kit.shards.planning import select_shard

    chosen = select_shard(files, plan, *shard)
    print_progress(f"shard {shard.number} of {shard.of}: {len(chosen)} of {len(files)} scenarios")
    return chosen


def _open_place(options: ValidationOptions) -> CampaignPlace:
    if options.cluster is None:
        return LabPlace(options)
    from scenario_kit.cli.validation.cluster_place import open_cluster

    return open_cluster(options.cluster, options)


def validate_one(file: Path, plan: Plan, place: CampaignPlace, catalog: Catalog) -> Report:
    """Validate a scenario: check the static rules first; start trials only if it passes them."""
    from scenario_kit.campaign import ValidationSubject, conclude
    from scenario_kit.campaign.results.incident import describe_incident, read_titles
    from scenario_kit.load.folders import find_folder_name
    from scenario_kit.model import Severity
    from scenario_kit.report import Report

    started = time.monotonic()
    try:
        loaded, static = _lint(file, catalog)
    except AuthoringError as error:
        subject = ValidationSubject(find_folder_name(file), str(file), "", plan)
        return Report(validation=conclude(subject, [], error.findings, time.monotonic() - started))
    scenario = loaded.scenario
    if any(f.severity == Severity.ERROR for f in static):
        incident = describe_incident(scenario, None, read_titles(scenario, catalog, file.parent))
        subject = ValidationSubject(scenario.name, str(file), "", plan, incident)
        return Report(validation=conclude(subject, [], static, time.monotonic() - started))
    return place.run(CampaignCase(loaded, static, file, plan, catalog))


def _lint(file: Path, catalog: Catalog) -> tuple[Loaded, list[Finding]]:
    from scenario_kit.cli.authoring.twin_findings import check_app
    from scenario_kit.lint import lint_files, list_with_faults
    from scenario_kit.load import load_scenario

    findings = lint_files(list_with_faults(file), catalog)
    loaded = load_scenario(file)
    app = loaded.scenario.spec.app
    return loaded, [*findings, *check_app(app.name, app.version, catalog)]


class LabPlace:
    """The embedded lab: a local loop creates trials, and the lab's operator runs them."""

    def __init__(self, options: ValidationOptions) -> None:
        self._options = options

    def run(self, case: CampaignCase) -> Report:
        """See ``CampaignPlace``."""
        from scenario_kit.lab.toolchain.components import describe_engine, read_kubernetes_version
        from scenario_kit.report import Report

        validation = _run_campaign(case, self._options)
        versions = (read_kubernetes_version(), describe_engine()) if validation.trials else ("", "")
        return Report(validation=validation, kubernetes=versions[0], engine=versions[1])

    def release(self) -> None:
        """Do nothing: the campaign's runner removes its trials."""


def _run_campaign(case: CampaignCase, options: ValidationOptions) -> Validation:
    from scenario_kit.campaign import Campaign, CatalogEvidence, ValidationSubject, conclude, plan_trials, run
    from scenario_kit.campaign.planning.concurrency import limit_concurrency, runs_alone
    from scenario_kit.campaign.planning.plans import count_users
    from scenario_kit.campaign.results.incident import describe_incident, read_titles
    from scenario_kit.campaign.results.location import locate_findings
    from scenario_kit.catalog.evidence import read_fingerprints
    from scenario_kit.cli.terminal.live import Timeline
    from scenario_kit.cli.validation.lab_health import LabHealth
    from scenario_kit.clients.kube import KubeCluster
    from scenario_kit.lab.lifecycle import bring_up, occupy
    from scenario_kit.render import resolve

    (loaded, static, file, plan, catalog), started = case, time.monotonic()
    scenario, name = loaded.scenario, options.lab

    def resolved(namespace: str, load_percent: int) -> Runbook:
        return resolve(scenario, catalog, namespace, users=count_users(scenario, load_percent), beside=file.parent)

    sample = resolved("app", 100)
    incident = describe_incident(scenario, sample, read_titles(scenario, catalog, file.parent))
    subject = ValidationSubject(scenario.name, str(file), sample.digest, plan, incident, name)
    if lacks := _find_missing(sample, catalog):
        return conclude(subject, [], [*static, *lacks], time.monotonic() - started)
    lab = bring_up(name, say=print_progress)
    planned = plan_trials(plan, sample, options.seed)
    title = f"{scenario.name}: plan {plan.name}, {len(planned)} trial" + ("s" if len(planned) > 1 else "")
    try:
        with occupy(name, print_progress, alone=runs_alone(sample)), Timeline(title, planned) as timeline:
            cluster = KubeCluster(kubeconfig=Path(lab.kubeconfig))
            results = run(
                planned,
                Campaign(cluster, plan, scenario.name, sample.digest, sample.app.name, resolved, keep=options.keep),
                parallel=limit_concurrency(sample, options.parallel or plan.parallel or 2),
                health=LabHealth(lab).find_problems,
                progress=timeline,
            )
    except KeyboardInterrupt:
        raise typer.Abort(_explain_interruption(scenario.name, name)) from None
    took = time.monotonic() - started
    evidence = CatalogEvidence(read_fingerprints(catalog.scenarios()), catalog.matrix(sample.app))
    concluded = conclude(subject, results, static, took, promised=sample, evidence=evidence)
    return locate_findings(concluded, scenario.spec, loaded.positions)


def _find_missing(runbook: Runbook, catalog: Catalog) -> list[Finding]:
    """Find required capabilities that trials in the lab lack."""
    from scenario_kit.cli.authoring.missing_capabilities import find_missing
    from scenario_kit.judge.capabilities import report_unmet_needs
    from scenario_kit.lab.capabilities import NAME

    return report_unmet_needs(find_missing(runbook.faults, runbook.app, runbook.requires, catalog), NAME)


def _explain_interruption(scenario: str, lab: str) -> str:
    """Explain that trials continue, and how to resume or cancel them."""
    from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
    from scenario_kit.model.results.trial import CAMPAIGN_LABEL

    named = f" --name {lab}" if lab != "default" else ""
    return (
        "interrupted; started trials continue in the lab\n"
        "  to continue: run the same command again\n"
        f'  to cancel:   kubectl --kubeconfig "$(scenario-kit lab kubeconfig{named})" delete trials '
        f"-n {MANAGEMENT_NAMESPACE} -l {CAMPAIGN_LABEL}={scenario}"
    )


def _conclude(report: Report, runs: Path, *, as_json: bool) -> None:
    from scenario_kit.report import RENDERINGS, write_report

    try:
        written, folder = write_report(report, runs, RENDERINGS)
    except InfrastructureError:  # show the result nevertheless
        _show(report.validation, None, as_json=as_json)
        raise
    _show(written.validation, folder, as_json=as_json)


def _show(validation: Validation, folder: Path | None, *, as_json: bool) -> None:
    if as_json:
        show_json(validation.to_json() | {"report": str(folder / "report.json") if folder else ""})
        return
    show_findings(validation.findings)
    colour = {0: typer.colors.GREEN, 1: typer.colors.RED}.get(validation.verdict.exit_code, typer.colors.YELLOW)
    word = validation.verdict.heading
    reported = fold_text(f"{word} {validation.scenario}: {validation.headline}")
    typer.echo(style_text(word, fg=colour, bold=True) + reported.removeprefix(word))
    repeats = f"{validation.n} repeat" + ("s" if validation.n != 1 else "")
    page = f"report: {folder}/report.html" if folder else "no report"
    typer.echo(fold_text(f"{repeats}, {validation.failures} broken; {validation.wall_seconds:.0f} s; {page}", "  "))
    if folder and validation.next:
        typer.echo(f"  next: {validation.next}")


def _print_table(results: list[Validation]) -> None:
    typer.echo()
    rows = [(v.scenario, str(v.verdict), f"{len(v.trials)}", f"{v.wall_seconds:.0f} s") for v in results]
    show_table(("scenario", "verdict", "trials", "wall"), rows)
