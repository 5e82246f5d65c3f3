"""``otel_logs_raw.tsv``: container logs, as read by a collector."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from scenario_kit.model.runtime.recording import RecordedLine
from scenario_kit.snapshot.canonical.names import NameMap
from scenario_kit.snapshot.canonical.pods import KnownPod
from scenario_kit.snapshot.canonical.times import TimeShift
from scenario_kit.snapshot.files.columns import Row, build_log_cells

#: OpenTelemetry severities by level names of programs.
_NUMBERS: Final[Mapping[str, tuple[str, int]]] = {
    "trace": ("TRACE", 1), "debug": ("DEBUG", 5), "dbug": ("DEBUG", 5), "info": ("INFO", 9), "notice": ("INFO", 9),
    "warn": ("WARN", 13), "warning": ("WARN", 13), "error": ("ERROR", 17), "err": ("ERROR", 17), "fail": ("ERROR", 17),
    "panic": ("FATAL", 21), "fatal": ("FATAL", 21), "crit": ("FATAL", 21), "critical": ("FATAL", 21),
}  # fmt: skip
_WORDS: Final = "|".join(sorted(_NUMBERS, key=len, reverse=True))
#: A level at the start of a line, or in a separate field.
_LEVEL: Final = re.compile(
    rf'^\W*(?P<front>{_WORDS})\b|"(?:level|severity|lvl)"\s*:\s*"(?P<json>{_WORDS})|\b(?:level|lvl)=(?P<field>{_WORDS})\b',
    re.IGNORECASE,
)
_CAPITALS: Final = re.compile(rf"\b(?P<word>{_WORDS.upper()})\b")
_HEAD: Final = 160


def detect_severity(text: str) -> tuple[str, int]:
    """Detect the severity of a line; empty and 0 without one."""
    head = text[:_HEAD]
    match = _LEVEL.search(head)
    word = next((part for part in match.groups() if part), "") if match else ""
    if not word and (found := _CAPITALS.search(head)):
        word = found["word"]
    return _NUMBERS.get(word.lower(), ("", 0))


def build_log_row(line: RecordedLine, number: int, pod: KnownPod | None, names: NameMap, shift: TimeShift) -> Row:
    """Build the row of a line; ``number`` is its index among the lines of its container."""
    text = names.rename_beside(line.text, line.pod)
    name = pod.name if pod else names.find(line.pod)
    resource = {**(pod.resource if pod else {"k8s.pod.name": name}), "k8s.container.name": line.container}
    cells = build_log_cells(
        shift.shows(line.at), text, service=pod.service if pod else line.container, severity=detect_severity(text),
        resource=resource, attributes={"log.iostream": "stdout"},
    )  # fmt: skip
    return Row(line.at, (name, line.container, number), cells)
