"""``site``: the catalogue, its evidence and its solvers as pages that need no server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.scoring.options import RankingOptions
from scenario_kit.cli.terminal.option_groups import expand_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenario_kit.catalog import Catalog
    from scenario_kit.model.results.matrix import MatrixRow
    from scenario_kit.publication.entry import CatalogueEntry


@expand_groups
def site(
    scenarios: Annotated[Path, typer.Argument(help="A folder of scenarios, or one of them.")],
    out: Annotated[Path, typer.Option(help="The folder of the site; one that is there is replaced as a whole.")],
    ranking: RankingOptions,
    runs: Annotated[
        list[Path] | None, typer.Option(help="Records of runs, or folders of them; repeat it for more.")
    ] = None,
    split: Annotated[
        Path | None, typer.Option(help="A split: what it holds out is shown by its hash, without truth.")
    ] = None,
) -> None:
    """Write a static site: catalogue with filters, evidence, faults, leaderboard, cost against score.

    Exit codes: 0 written; 1 a scenario, its evidence or a record cannot be used, or a page would tell of what is held
    out; 3 no such path, or a folder that is in the way.

    Example: scenario-kit site catalog/scenarios --runs solutions --out site
    """
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.cli.scoring.published_runs import read_published_runs
    from scenario_kit.load import find_scenario_files
    from scenario_kit.publication.content import build_content
    from scenario_kit.publication.entry import read_entries
    from scenario_kit.publication.site.folder import check_output, write_site
    from scenario_kit.publication.site.pages import render_site
    from scenario_kit.publication.split.files import read_record
    from scenario_kit.publication.split.leak_scan import refuse_secrets

    check_output(out)
    settings = ranking.build_settings()
    files = find_scenario_files([scenarios])
    typer.echo(f"reading {len(files)} scenarios", err=True)
    catalog = Catalog(find_collections(files))
    held_out = read_record(split).held_out if split else {}
    entries = read_entries(files, catalog, held_out)
    board, outcomes = read_published_runs(scenarios, runs or (), held_out, settings)
    content = build_content(entries, outcomes, _read_matrices(entries, catalog), board)
    pages = render_site(content)
    refuse_secrets(pages, entries)
    write_site(pages, out)
    typer.echo(f"{out / 'index.html'}: {len(entries)} scenarios, {len(pages)} files")


def _read_matrices(entries: Sequence[CatalogueEntry], catalog: Catalog) -> dict[str, tuple[MatrixRow, ...]]:
    """Read the matrices of the apps that the scenarios use."""
    chosen = sorted({(entry.scenario.spec.app.name, entry.scenario.spec.app.version) for entry in entries})
    found = {f"{name} {version}": catalog.matrix(catalog.app(name, version)) for name, version in chosen}
    return {name: rows for name, rows in found.items() if rows}
