"""Custom plans: load and validate a file that describes the trials of a validation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.campaign.planning.plans import PLANS, Plan, get_plan
from scenario_kit.campaign.planning.sequential_test import check_reachable
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load import read_plan
from scenario_kit.model import Finding

_ENDINGS: Final = (".yaml", ".yml")


def choose_plan(plan: str) -> Plan:
    """Return a built-in plan by name, or the plan in a file.

    Raises:
        UsageError: there is none, or the file is invalid; with all mistakes and their lines.
    """
    return load_plan(Path(plan)) if plan.endswith(_ENDINGS) else get_plan(plan)


def load_plan(path: Path) -> Plan:
    """Load the plan in a file. Raises as ``choose_plan``."""
    try:
        data, positions = read_plan(path)
    except AuthoringError as error:
        raise UsageError(f"this is not a plan:\n{_join_messages(error.findings)}", fix="see docs/plans.md") from error
    at = positions.value("name")
    if data["name"] in PLANS:
        raise UsageError(f"{at}: '{data['name']}' is the name of a built-in plan", fix="choose another name")
    try:
        return Plan.from_json(data)
    except UsageError as error:
        raise UsageError(f"{positions.value('looks')}: {error.message}", fix=error.fix) from error


def limit_plan(plan: Plan, repeats: int | None) -> Plan:
    """Return the plan with the looks that a budget of repeats allows; between the bounds of the last look the result is
    inconclusive.

    Raises:
        UsageError: the budget is too small to pass (SK503).
    """
    if repeats is None:
        return plan
    check_reachable(plan.name, plan.looks, repeats)
    return msgspec.structs.replace(plan, looks=tuple(look for look in plan.looks if look.n <= repeats))


def _join_messages(findings: Sequence[Finding]) -> str:
    return "\n".join(f"{f.position}: {f.code} {f.message}" + (f" (fix: {f.fix})" if f.fix else "") for f in findings)
