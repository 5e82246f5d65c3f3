"""``report.json``, the source of all renderings (docs/validator.md)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import msgspec

from scenario_kit import __version__
from scenario_kit.campaign import Validation
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.model import Value, Verdict

SCHEMA_VERSION: Final = 1
FILE: Final = "report.json"
#: Free space required for a report.
_ROOM_BYTES: Final = 1 << 20


class Report(Value, frozen=True, kw_only=True):
    """A validation and its environment. ``created`` is wall time.

    ``kubernetes`` and ``engine`` are the versions of the API server and of the chaos engine, if known. ``left_out``
    lists what was removed to fit the size limit of its storage.
    """

    schema_version: int = SCHEMA_VERSION
    kit: str = __version__
    created: str = ""
    kubernetes: str = ""
    engine: str = ""
    validation: Validation
    left_out: tuple[str, ...] = ()


def prepare_folder(folder: Path) -> None:
    """Create the report folder and check for free space before a long run.

    Raises:
        InfrastructureError: the folder is not writable.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as probe:
            probe.write(b"0" * _ROOM_BYTES)
    except OSError as error:
        raise _build_write_error(folder, error) from error


def write_report(
    report: Report, folder: Path, renderings: Mapping[str, Callable[[Report], str]] | None = None
) -> tuple[Report, Path]:
    """Write ``report.json`` into a new folder ``<folder>/<scenario>/<time>``; return the report and the folder.

    ``renderings`` maps file names to further renderings. The folder is published atomically. The time is that of the
    report, by default now. The default next command after a pass is to show this report.

    Raises:
        InfrastructureError: the report cannot be written; no partial report remains.
    """
    validation = report.validation
    created = datetime.fromisoformat(report.created) if report.created else datetime.now(UTC)
    run = locate_run(folder, validation.scenario, created)
    if validation.verdict == Verdict.PASS and not validation.next:
        validation = msgspec.structs.replace(validation, next=f"scenario-kit report {run}")
    report = msgspec.structs.replace(report, created=created.isoformat(timespec="seconds"), validation=validation)
    partial = run.with_name(f".{run.name}")
    try:
        partial.mkdir(parents=True, exist_ok=True)  # left by a process that was killed
        (partial / FILE).write_text(dump_report(report, indent=2), encoding="utf-8")
        for name, render in (renderings or {}).items():
            (partial / name).write_text(render(report), encoding="utf-8")
        partial.rename(run)
    except OSError as error:
        raise _build_write_error(run, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return report, run


def locate_run(folder: Path, scenario: str, created: datetime) -> Path:
    """Return the folder of a run of a scenario, below that of all runs."""
    return folder / scenario / created.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")


def _build_write_error(path: Path, problem: OSError) -> InfrastructureError:
    return InfrastructureError(
        f"cannot write a report to {path}: {problem.strerror}", fix="free space, or choose another folder with --runs"
    )


def format_timestamp() -> str:
    """Return the current time in the format of reports, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def dump_report(report: Report, indent: int | None = None) -> str:
    """Return the report as JSON."""
    return json.dumps(report.to_json() | {"schemaVersion": SCHEMA_VERSION, "kit": __version__}, indent=indent)


def read_report(path: Path) -> Report:
    """Read a report: a file, a run's folder, or a folder of runs, of which the newest counts.

    Raises:
        UsageError: there is no report, or another version of the kit wrote it.
    """
    file = path if path.is_file() else find_newest(path)
    try:
        return Report.from_json(json.loads(file.read_text()))
    except (ValueError, msgspec.ValidationError) as error:
        raise UsageError(
            f"{file} is not a report of this version: {error}", fix="run `scenario-kit verify` again"
        ) from error


def find_newest(folder: Path) -> Path:
    """Find the newest ``report.json`` in or below a folder."""
    found: Sequence[Path] = sorted(folder.glob(f"**/{FILE}")) if folder.is_dir() else []
    if not found:
        raise UsageError(f"no {FILE} in {folder}", fix="pass a run, e.g. one printed by `scenario-kit verify`")
    return max(found, key=lambda f: (f.parent.name, f.stat().st_mtime))
