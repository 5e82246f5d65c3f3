"""The fault matrix summarised by fault type and app, over all targets. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

from scenario_kit.catalog.families import FAMILIES
from scenario_kit.model.results.matrix import MatrixRow

_MAX_ALERTS: Final = 3


class FaultCell(NamedTuple):
    """One fault type in one app; ``state`` selects the cell's colour."""

    text: str
    detail: str
    state: str


class FaultRow(NamedTuple):
    """One fault type: a cell per app, and the public scenarios that use it."""

    fault: str
    cells: tuple[FaultCell, ...]
    scenarios: tuple[str, ...]


class FaultFamily(NamedTuple):
    """The fault types of a family."""

    title: str
    anchor: str
    rows: tuple[FaultRow, ...]


def tabulate_faults(
    matrices: Mapping[str, Sequence[MatrixRow]], used: Mapping[str, Sequence[str]]
) -> tuple[FaultFamily, ...]:
    """Tabulate fault types by family and app; ``used`` maps each type to its public scenarios."""
    families: dict[str, set[str]] = {}
    for rows in matrices.values():
        for row in rows:
            families.setdefault(row.family, set()).add(row.fault)
    order = [*FAMILIES]
    listed = sorted(families, key=lambda name: (order.index(name) if name in order else len(order), name))
    return tuple(
        FaultFamily(
            FAMILIES.get(family, family), f"family-{number}",
            tuple(_build_row(fault, matrices, used) for fault in sorted(families[family])),
        )
        for number, family in enumerate(listed, start=1)
    )  # fmt: skip


def _build_row(fault: str, matrices: Mapping[str, Sequence[MatrixRow]], used: Mapping[str, Sequence[str]]) -> FaultRow:
    cells = tuple(summarise_rows([row for row in rows if row.fault == fault]) for rows in matrices.values())
    return FaultRow(fault, cells, tuple(sorted(used.get(fault, ()))))


def summarise_rows(rows: Iterable[MatrixRow]) -> FaultCell:
    """Summarise the trials of one fault type in one app."""
    judged = [row for row in rows if row.outcome != "Infra"]
    ran = [row for row in judged if row.outcome == "Ran"]
    if not judged:
        return FaultCell("–", "no target was tried", "none")
    if not ran:
        unsupported = all(row.outcome == "Lacking" for row in judged)
        return FaultCell("not in a lab" if unsupported else "no effect", f"{len(judged)} targets", "none")
    alerting = [row for row in ran if row.alerts]
    back = sum(row.recovered is True for row in ran)
    fired = Counter(name for row in alerting for name in {alert.name for alert in row.alerts})
    names = ", ".join(f"{name} ({n})" for name, n in sorted(fired.items(), key=lambda x: (-x[1], x[0]))[:_MAX_ALERTS])
    first = f", first after {median(row.alerts[0].seconds for row in alerting):.0f} s" if alerting else ""
    detail = f"{names or 'no alert'}; {back} of {len(ran)} recovered"
    state = "all" if len(alerting) == len(ran) else "some" if alerting else "silent"
    return FaultCell(f"{len(alerting)} of {len(ran)} alert{first}", detail, state)
