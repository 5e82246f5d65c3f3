"""Replace the paths of one machine in a report by those of another. Pure."""

from __future__ import annotations

import re

from scenario_kit.model.json_document import replace_texts
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
    known = {old: new for old, new in bases.items() if old}
    if not known:
        return report
    pattern = re.compile("|".join(re.escape(old) for old in sorted(known, key=len, reverse=True)))
    document = replace_texts(report.to_json(), lambda text: pattern.sub(lambda found: known[found[0]], text))
    return Report.from_json(document)


def _get_folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _split_base(path: str, place: str) -> str:
    """Return the part of a path before a file's place in its root; empty if the path does not end with that place."""
    return path[: len(path) - len(place)] if path.endswith(f"/{place}") else ""
