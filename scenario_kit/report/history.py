"""List past runs and compare two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scenario_kit.campaign import Validation
from scenario_kit.errors import UsageError
from scenario_kit.load.folders import find_folder_name
from scenario_kit.model import Verdict
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.report.document import FILE, Report, read_report


class PastRun(NamedTuple):
    """The folder of a run, and its report; None if another version of the kit wrote it."""

    folder: Path
    report: Report | None


def list_past_runs(folder: Path, scenario: str = "") -> list[PastRun]:
    """List the runs below a folder, newest first, optionally of one scenario."""
    found = [file.parent for file in folder.glob(f"**/{FILE}") if not scenario or file.parent.parent.name == scenario]
    return [PastRun(path, _read_run(path)) for path in sorted(found, key=lambda path: path.name, reverse=True)]


def list_failed_files(folder: Path, files: Sequence[Path]) -> list[Path]:
    """List the scenario files whose newest run did not pass; files without a run are omitted."""
    newest: dict[str, Report] = {}
    for run in list_past_runs(folder):
        if run.report is not None:
            newest.setdefault(run.report.validation.scenario, run.report)
    failed = {name for name, report in newest.items() if report.validation.verdict != Verdict.PASS}
    return [file for file in files if find_folder_name(file) in failed]


def compare(before: Report, after: Report) -> list[tuple[str, str, str]]:
    """Return (field, before, after) for each difference between two runs."""
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


def find_report(name: str, folder: Path) -> Report:
    """Find a report by the path of a run or by scenario, of which the newest run counts.

    Raises:
        UsageError: there is no such run.
    """
    for path in (Path(name), folder / name):
        if path.exists():
            return read_report(path)
    raise UsageError(f"there is no run {name}", fix="list runs with `scenario-kit runs`")


def _read_run(folder: Path) -> Report | None:
    try:
        return read_report(folder / FILE)
    except (UsageError, OSError):
        return None


def _list_findings(validation: Validation) -> set[str]:
    return {f"{finding.code} {finding.message}" for finding in validation.findings}


def _list_alerts(validation: Validation) -> set[str]:
    return {
        name_alert(alert)
        for trial in validation.trials for alert in (trial.history.timelines if trial.history else ()) if alert.firing
    }  # fmt: skip
