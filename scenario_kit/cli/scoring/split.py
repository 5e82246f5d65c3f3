"""``split``: a catalogue in a public and a held-out set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def split(
    scenarios: Annotated[Path, typer.Argument(help="A folder of scenarios.")],
    key_file: Annotated[Path, typer.Option(help="The key of the hashed names, which only you can read.")],
    out: Annotated[Path, typer.Option(help="A new folder: `published` goes out, `kept` stays with you.")],
    percent: Annotated[int, typer.Option(min=1, max=99, help="How many scenarios of a hundred are held out.")] = 30,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws another set.")] = 0,
    previous: Annotated[
        Path | None, typer.Option(help="An earlier split: what it has assigned stays, and new scenarios are drawn.")
    ] = None,
    runs: Annotated[
        list[Path] | None, typer.Option(help="Records of runs, by which difficulty is measured; repeat it for more.")
    ] = None,
) -> None:
    """Split scenarios into a public and a held-out set, with the same share of each app, fault family and difficulty.

    Exit codes: 0 written; 1 a scenario or a record cannot be used, or the published files would tell of what is held
    out; 3 no such path, no usable key, or the folder exists.

    Example: scenario-kit split catalog/scenarios --key-file split.key --out split
    """
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.cli.scoring.published_runs import read_published_runs
    from scenario_kit.load import find_scenario_files
    from scenario_kit.publication.content import build_content
    from scenario_kit.publication.entry import hold_out, read_entries
    from scenario_kit.publication.hashed_name import build_hashed_name
    from scenario_kit.publication.split import files as split_files
    from scenario_kit.publication.split.assignment import assign_sets, classify_entry
    from scenario_kit.scoring.scores.settings import ScoreSettings

    key = split_files.read_key(key_file)
    split_files.check_output(out)
    before = split_files.read_previous(previous, key) if previous else None
    files = find_scenario_files([scenarios])
    typer.echo(f"reading {len(files)} scenarios", err=True)
    entries = read_entries(files, Catalog(find_collections(files)))
    split_files.check_undivided(entries)
    hashed = {entry.scenario.name: build_hashed_name(key, entry.scenario.name) for entry in entries}
    _, by_hash = read_published_runs(scenarios, runs or (), hashed, ScoreSettings(repeats=1))
    outcomes = {name: by_hash.get(each, {}) for name, each in hashed.items()}
    drawn = build_content(entries, outcomes, {})
    candidates = [classify_entry(entry, drawn.difficulties[entry.scenario.name]) for entry in entries]
    names = assign_sets(candidates, key, seed, percent, before)
    record = split_files.build_record(names, hashed, key, seed, percent)
    content = build_content(
        hold_out(entries, record.held_out), {record.held_out.get(n, n): each for n, each in outcomes.items()}, {}
    )
    split_files.write_split(content, record, out)
    typer.echo(f"{out / split_files.PUBLISHED}: {len(names.public)} public, {len(names.held_out)} held out")
    typer.echo(f"{out / split_files.KEPT}: their truths and names; it is not to be published, nor is the key")
