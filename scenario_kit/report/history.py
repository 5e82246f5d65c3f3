"""Past runs: a list of them, and what changed between two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scenario_kit.campaign import Validation
from scenario_kit.errors import UsageError
from scenario_kit.model import Verdict
from scenario_kit.report.document import FILE, Report, read_report


class PastRun(NamedTuple):
    """A run: its folder, and its report; none where another version of the kit wrote it."""

    folder: Path
    report: Report | None


def list_past_runs(folder: Path, scenario: str = "") -> list[PastRun]:
    """List the runs below a folder, newest first; of one scenario where it is named."""
    found = [file.parent for file in folder.glob(f"**/{FILE}") if not scenario or file.parent.parent.name == scenario]
    return [PastRun(path, _read_run(path)) for path in sorted(found, key=lambda path: path.name, reverse=True)]


def list_failed_files(folder: Path, files: Sequence[Path]) -> list[Path]:
    """List those scenario files whose newest run did not pass; a file without a run is none of them."""
    newest: dict[str, Report] = {}
    for run in list_past_runs(folder):
        if run.report is not None:
            newest.setdefault(run.report.validation.scenario, run.report)
    kept = {name for name, report in newest.items() if report.validation.verdict != Verdict.PASS}
    return [file for file in files if file.parent.name in kept]


def compare(before: Report, after: Report) -> list[tuple[str, str, str]]:
    """Return what differs between two runs: what it is about, before and after; nothing where they agree."""
    old, new = before.validation, after.validation
    plain = [
        ("scenario", old.scenario, new.scenario),
        ("plan", old.plan, new.plan),
        ("kit", before.kit, after.kit),
        ("incident", old.digest[:12], new.digest[:12]),
        ("verdict", str(old.verdict), str(new.verdict)),
        ("repeats broken", f"{old.failures} of {old.n}", f"{new.failures} of {new.n}"),
    ]
    rows = [row for row in plain if row[1] != row[2]]
    for what, found_old, found_new in (
        ("finding", _list_findings(old), _list_findings(new)),
        ("alert", _list_alerts(old), _list_alerts(new)),
    ):
        rows += [(what, text, "-") for text in sorted(found_old - found_new)]
        rows += [(what, "-", text) for text in sorted(found_new - found_old)]
    return rows


def run_named(name: str, folder: Path) -> Report:
    """Return the report that somebody means: a run's folder or file, or a scenario, of which it is the newest run.

    Raises:
        UsageError: there is none.
    """
    for path in (Path(name), folder / name):
        if path.exists():
            return read_report(path)
    raise UsageError(f"there is no run {name}", fix="`scenario-kit runs` lists them")


def _read_run(folder: Path) -> Report | None:
    try:
        return read_report(folder / FILE)
    except (UsageError, OSError):
        return None


def _list_findings(validation: Validation) -> set[str]:
    return {f"{finding.code} {finding.message}" for finding in validation.findings}


def _list_alerts(validation: Validation) -> set[str]:
    return set(_list_fired(validation))


def _list_fired(validation: Validation) -> Iterator[str]:
    for trial in validation.trials:
        for alert in trial.history.timelines if trial.history else ():
            if alert.firing:
                yield f"{alert.name} on {alert.entity}" if alert.entity else alert.name
