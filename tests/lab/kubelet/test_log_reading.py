"""Reading and tailing of CRI logs that grow, are truncated, or restart."""

from pathlib import Path

import pytest

from scenario_kit.lab.kubelet.log_reading import (
    LogOptions,
    LogTail,
    limit_bytes,
    parse_log_options,
    read_lines,
    select_lines,
)
from scenario_kit.lab.kubelet.logs import LogFolder
from scenario_kit.model import Object

T0 = 1_767_225_600.0
NOW = T0 + 100
POD: Object = {
    "metadata": {"namespace": "app", "name": "p", "uid": "u"},
    "spec": {"containers": [{"name": "main"}]},
}


@pytest.fixture
def logs(tmp_path: Path) -> LogFolder:
    folder = LogFolder(tmp_path, limit_bytes=400)
    folder.add(POD)
    return folder


def write(logs: LogFolder, *numbers: int) -> None:
    logs.append("app", "p", "main", [(T0 + n, f"line {n}") for n in numbers])


def tail_of(logs: LogFolder) -> LogTail:
    return LogTail(logs.locate(POD, "main"), logs.locate(POD, "main", previous=True))


def texts(lines: list[bytes]) -> list[str]:
    return [line.decode().split(" ", 3)[-1].rstrip() for line in lines]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["line 1\n", "line 2\n", "line 3\n"]),
        ("tailLines=2", ["line 2\n", "line 3\n"]),
        ("tailLines=0", []),
        ("sinceSeconds=98", ["line 2\n", "line 3\n"]),
        ("sinceTime=2026-01-01T00:00:03Z", ["line 3\n"]),
        ("sinceSeconds=98&tailLines=1", ["line 3\n"]),
        ("timestamps=true&tailLines=1", ["2026-01-01T00:00:03.000000000Z line 3\n"]),
        ("limitBytes=9", ["line 1\n", "li"]),
        ("limitBytes=0", []),
    ],
)
def test_options(logs: LogFolder, query: str, expected: list[str]) -> None:
    write(logs, 1, 2, 3)
    options = parse_log_options(query, NOW)
    chosen = select_lines(read_lines(logs.locate(POD, "main")), options)
    assert [chunk.decode() for chunk in limit_bytes(chosen, options.limit)] == expected


@pytest.mark.parametrize("query", ["tailLines=-1", "sinceSeconds=x", "limitBytes=1.5", "sinceTime=yesterday"])
def test_options_without_a_valid_value(query: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_log_options(query, NOW)


def test_log_options_parse_boolean_flags() -> None:
    assert parse_log_options("follow=true&previous=1&timestamps=false", NOW) == LogOptions(follow=True, previous=True)


def test_missing_log_file_has_no_lines(tmp_path: Path) -> None:
    assert read_lines(tmp_path / "none") == []
    assert LogTail(tmp_path / "none", tmp_path / "before").read() == []


def test_log_tail_returns_each_line_once(logs: LogFolder) -> None:
    tail = tail_of(logs)
    write(logs, 1, 2)
    assert texts(tail.read()) == ["line 1", "line 2"]
    assert tail.read() == []
    write(logs, 3)
    assert texts(tail.read()) == ["line 3"]


def test_log_tail_survives_truncation(logs: LogFolder) -> None:
    tail, seen = tail_of(logs), []
    for number in range(40):  # each is some forty bytes of the 400
        write(logs, number)
        seen += texts(tail.read())
    assert seen == [f"line {number}" for number in range(40)]


def test_log_tail_ends_when_the_container_restarts(logs: LogFolder) -> None:
    tail = tail_of(logs)
    write(logs, 1)
    tail.read()
    assert not tail.has_ended()
    logs.begin("app", "p", "main", 1)
    assert tail.has_ended()
