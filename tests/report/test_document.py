"""Reports appear whole or not at all."""

import errno
from datetime import UTC, datetime

import pytest

from scenario_kit.campaign import Validation
from scenario_kit.errors import InfrastructureError
from scenario_kit.model import Verdict
from scenario_kit.report import Report, prepare_folder, read_report, write_report

PASSED = Validation(scenario="s", plan="quick", verdict=Verdict.PASS, headline="x")


def full(_report):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_renderings_are_written_to_one_folder(tmp_path):
    report, folder = write_report(
        Report(validation=PASSED), tmp_path, renderings={"report.md": lambda r: f"of {r.validation.scenario}"}
    )
    assert (folder / "report.md").read_text() == "of s"
    assert str(folder) in report.validation.next
    assert [f.name for f in folder.parent.iterdir()] == [folder.name]


def test_full_disk_leaves_no_partial_report(tmp_path):
    with pytest.raises(InfrastructureError, match="No space left on device") as caught:
        write_report(Report(validation=PASSED), tmp_path, renderings={"report.md": full})
    assert "--runs" in caught.value.fix
    assert list((tmp_path / "s").iterdir()) == []


def test_interrupted_report_can_be_written_again(tmp_path):
    """`shards collect` writes a report under the time at which it was made, and again if that was interrupted."""
    timed = Report(created=datetime(2026, 11, 26, 10, tzinfo=UTC).isoformat(), validation=PASSED)

    def interrupt(_report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(timed, tmp_path, {"report.md": interrupt})
    assert list((tmp_path / "s").iterdir()) == []

    left = tmp_path / "s" / ".20261126T100000000000Z"
    left.mkdir()
    (left / "report.json").write_text("{")
    _, folder = write_report(timed, tmp_path)
    assert read_report(folder).validation.scenario == "s"
    assert list((tmp_path / "s").iterdir()) == [folder]


def test_unwritable_report_folder_is_reported_before_start(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(InfrastructureError, match="cannot write a report"):
        prepare_folder(tmp_path / "runs")
    prepare_folder(tmp_path / "new" / "runs")
    assert list((tmp_path / "new" / "runs").iterdir()) == []
