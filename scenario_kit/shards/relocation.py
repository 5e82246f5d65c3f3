"""Replace the paths of one machine in a report by those of another. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scenario_kit.report import Report
from scenario_kit.shards.work_list import WorkItem


def relocate_report(report: Report, file: str, item: WorkItem) -> Report:
    """Return a report in which files have the paths that the user wrote.

    If those do not tell where the root is, files beside the scenario's folder have their place in the root.

    Args:
        report: what the machine that ran the validation reported.
        file: the scenario's file on that machine.
        item: the scenario in the work list.
    """
    if file == item.path:
        return report
    bases = {
        _get_folder(file): _get_folder(item.path),
        _split_base(file, item.place): _split_base(item.path, item.place),
    }
    return Report.from_json(_replace(report.to_json(), {old: new for old, new in bases.items() if old}))


def _get_folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _split_base(path: str, place: str) -> str:
    """Return what stands before the place of a file in its root; empty if the path does not end like that."""
    return path[: len(path) - len(place)] if path.endswith(f"/{place}") else ""


def _replace(part: Any, bases: Mapping[str, str]) -> Any:
    if isinstance(part, str):
        longest = "|".join(re.escape(old) for old in sorted(bases, key=len, reverse=True))
        return re.sub(longest, lambda found: bases[found[0]], part)
    if isinstance(part, list | tuple):
        return [_replace(each, bases) for each in part]
    if isinstance(part, dict):
        return {key: _replace(each, bases) for key, each in part.items()}
    return part
