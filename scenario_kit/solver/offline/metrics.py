"""The series of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from scenario_kit.errors import AuthoringError
from scenario_kit.ports import Series
from scenario_kit.snapshot.reader import SnapshotFolder, TableRow, parse_map

_parse_tags = lru_cache(maxsize=1 << 16)(parse_map)


def read_series(folder: SnapshotFolder) -> Iterator[Series]:
    """Read every series once, with points in time order; pod and service files overlap."""
    seen: set[frozenset[tuple[str, str]]] = set()
    for file in folder.list_metrics():
        for series in collect_series(folder.read_metrics(file), f"{file.kind}_name" if file.kind else ""):
            key = frozenset(series.labels.items())
            if key not in seen:
                seen.add(key)
                yield series


def collect_series(rows: Iterable[TableRow], owner: str) -> Iterator[Series]:
    """Collect the series of a file; without tags, the columns of a row are the labels. ``owner`` names a column."""
    found: dict[tuple[str, str, str], tuple[dict[str, str], dict[float, float]]] = {}
    for row in rows:
        key = (row["metric_name"], row.get("tags", ""), row.get("bucket_le", ""))
        if key not in found:
            found[key] = _build_labels(row, owner), {}
        try:
            found[key][1][row.at] = float(row["value"])
        except (ValueError, AuthoringError):
            continue  # a truncated row
    for labels, points in found.values():
        yield Series(labels, sorted(points.items()))


def _build_labels(row: TableRow, owner: str) -> dict[str, str]:
    try:
        labels = {str(key): str(value) for key, value in _parse_tags(row.get("tags", "")).items()}
    except ValueError:
        labels = {}
    columns = {owner.replace("pod_name", "pod"): row.get(owner, ""), "namespace": row.get("namespace", "")}
    if "bucket_le" in row:
        columns["le"] = row["bucket_le"]
    columns = {key: value for key, value in columns.items() if key and value}
    return {**columns, **labels, "__name__": row["metric_name"]}
