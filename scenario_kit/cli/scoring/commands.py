"""``score``: score answers against the ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.scoring.options import SEED
from scenario_kit.cli.terminal.options import declare_choice
from scenario_kit.cli.terminal.output import make_printable, show_findings, show_json, show_table

if TYPE_CHECKING:
    from scenario_kit.scoring.scores.comparison import EvaluatorComparison
    from scenario_kit.scoring.scores.summary import ScoreReport


Answers = Annotated[
    list[Path], typer.Argument(help="Answers, run records (*.json, *.jsonl), or folders: <incident>/<trial>/…")
]
Topology = Annotated[
    Path | None, typer.Option(help="Topology for NTAM; for scenarios, the calls of the app by default.")
]
Namespace = Annotated[str, typer.Option(help="Namespace in which the app ran; any namespace matches by default.")]
Ntam = Annotated[
    list[str] | None,
    typer.Option(help="NTAM parameter: gamma=0.5, omega, tau, beta, or length.<relation> for edges of the topology."),
]
Duplicates = Annotated[
    str, declare_choice("--duplicates", "penalise|ignore", help="How to treat repeated claims on the same object.")
]
Aliases = Annotated[
    str, declare_choice("--aliases", "merge|penalise", help="How to treat repeated claims on aliases of an object.")
]
IgnoredNamespaces = Annotated[
    list[str] | None,
    typer.Option("--ignore-namespace", help="Ignore wrong claims in this namespace; `itbench` for its list."),
]
Cap = Annotated[float, typer.Option(min=0.001, help="Seconds that a failure contributes to a restricted mean.")]
Against = Annotated[
    Path | None, typer.Option(help="Results of ITBench's evaluator for the same runs, to compare with.")
]
ScoreFormat = Annotated[
    str,
    declare_choice(
        "--format", "table|json|itbench", help="For people, for programs, or in the format of ITBench's evaluator."
    ),
]


def score(
    truth: Annotated[Path, typer.Argument(help="A scenario, an ITBench ground truth, or a folder of either.")],
    answers: Answers,
    topology: Topology = None,
    namespace: Namespace = "",
    prices: Annotated[Path | None, typer.Option(help="Dated price list to convert tokens into cost.")] = None,
    ntam: Ntam = None,
    duplicates: Duplicates = "penalise",
    aliases: Aliases = "merge",
    ignore: IgnoredNamespaces = None,
    repeats: Annotated[int, typer.Option(min=1, help="Expected runs per incident; missing ones count as failed.")] = 1,
    cap: Cap = 600.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of bootstrap intervals.")] = SEED,
    against: Against = None,
    decisions: Annotated[bool, typer.Option("--decisions", help="Show the match decision for each claim.")] = False,
    format: ScoreFormat = "table",
) -> None:
    """Score answers against the ground truth, by every published metric.

    Runs that failed, gave no answer or are missing count as 0. An invalid answer counts as no answer.

    Exit codes: 0 scored, whatever the score; 1 an unusable truth or record; 3 no such file.

    Example: scenario-kit score catalog/scenarios/ads-tuned-to-death runs/answer.json --decisions
    """
    from scenario_kit.cli.scoring.parameters import parse_parameters
    from scenario_kit.cli.scoring.truths import find_outdated, load_contexts
    from scenario_kit.scoring.files.outputs import read_runs
    from scenario_kit.scoring.files.price_lists import read_price_list
    from scenario_kit.scoring.files.topologies import read_topology
    from scenario_kit.scoring.scores.settings import build_settings
    from scenario_kit.scoring.scores.summary import score_runs

    graph = read_topology(topology) if topology else None
    contexts, warnings = load_contexts(truth, graph, namespace)
    settings = build_settings(
        duplicates=duplicates, aliases=aliases, ignored=ignore or (), repeats=repeats, cap=cap, seed=seed,
        prices=read_price_list(prices) if prices else None, ntam=parse_parameters(ntam or ()),
    )  # fmt: skip
    records = read_runs(answers, list(contexts))
    report = score_runs(contexts, records, settings)
    compared = _compare(report, against) if against else None
    show_findings([*warnings, *find_outdated(contexts, records)], err=True)
    if format == "json":
        show_json(report.to_json() | ({"against": compared.to_json()} if compared else {}))
    elif format == "itbench":
        from scenario_kit.scoring.files.evaluator import build_evaluator_result

        show_json(build_evaluator_result(report, str(truth), ", ".join(map(str, answers))))
    else:
        _show(report, compared, decisions=decisions)


def _compare(report: ScoreReport, path: Path) -> EvaluatorComparison:
    """Compare with an evaluator's results."""
    from scenario_kit.scoring.files.evaluator import list_evaluated_runs, read_evaluator_result
    from scenario_kit.scoring.files.source import read_source
    from scenario_kit.scoring.scores.comparison import compare_evaluations

    return compare_evaluations(list_evaluated_runs(report), read_evaluator_result(read_source(path)))


def _show(report: ScoreReport, compared: EvaluatorComparison | None, *, decisions: bool) -> None:
    from scenario_kit.cli.scoring.table import list_agreements, list_tables

    shown = False
    tables = [*list_tables(report, decisions=decisions), *(list_agreements(compared) if compared else ())]
    for title, header, rows in tables:
        if rows:
            typer.echo(f"{chr(10) if shown else ''}{title}")
            show_table(header, [[make_printable(cell) for cell in row] for row in rows])
            shown = True
    policy = report.settings.policy
    rules = f"duplicates {policy.duplicates}, aliases {policy.aliases}, seed {report.settings.seed}"
    missing = f"{report.without_answer} of {len(report.runs)} runs gave no answer and count as 0; "
    typer.echo(f"\n{missing if report.without_answer else ''}{rules}")
