"""Replace the paths of one machine in a report by those of another. Pure."""

from __future__ import annotations

from typing import Any

from scenario_kit.report import Report
from scenario_kit.shards.work_list import WorkItem


def relocate_report(report: Report, file: str, item: WorkItem) -> Report:
    """Return a report in which files have the paths that the user wrote.

    Args:
        report: what the machine that ran the validation reported.
        file: the scenario's file on that machine.
        item: the scenario in the work list.
    """
    here, there = _split_base(file, item.place), _split_base(item.path, item.place)
    return Report.from_json(_replace(report.to_json(), here, there))


def _split_base(path: str, place: str) -> str:
    """Return what stands before the place of a file in its root; its folder, if the path does not end like that."""
    if path.endswith(f"/{place}") or path == place:
        return path[: len(path) - len(place)]
    return path[: path.rfind("/") + 1]


def _replace(part: Any, old: str, new: str) -> Any:
    if isinstance(part, str):
        return part.replace(old, new)
    if isinstance(part, list | tuple):
        return [_replace(each, old, new) for each in part]
    if isinstance(part, dict):
        return {key: _replace(each, old, new) for key, each in part.items()}
    return part
