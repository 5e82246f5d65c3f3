"""Preconditions of a fault at its target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scenario_kit.errors import AuthoringError
from scenario_kit.model.authored.fault import FaultType, Precondition
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import list_texts
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import list_names, render


def build_refusal(fault: str, target: object, message: str, fix: str = "") -> AuthoringError:
    """Build the error of a fault that has no effect at this target with these parameters."""
    return build_error(
        "SK304",
        f"fault '{fault}': {message}",
        observed=f"target {target}",
        expected="parameters that change the target's behaviour",
        why="a fault without an effect cannot be a root cause",
        fix=fix or f"choose another target or other parameters for fault '{fault}'",
    )


@cache_by_identity(maxsize=256)
def split_preconditions(fault_type: FaultType) -> tuple[list[int], list[int]]:
    """Split the preconditions into those about the target alone, checked before defaults are rendered, and the rest.

    A condition depends on parameters if it or a variable that it uses mentions them.
    """
    early: list[int] = []
    late: list[int] = []
    for i, each in enumerate(fault_type.preconditions):
        (late if mentions_parameters(each.condition, fault_type.variables) else early).append(i)
    return early, late


def check_preconditions(
    fault_type: FaultType, selected: Iterable[int], variables: Mapping[str, Any], fault: str
) -> None:
    """Check the selected preconditions in order.

    Raises:
        AuthoringError: SK304 with the message of the first one that is false, or an expression fails.
    """
    for i in selected:
        each: Precondition = fault_type.preconditions[i]
        where = f"fault '{fault}' ({fault_type.name}) preconditions[{i}]"
        if not render(each.condition, variables, f"{where}.condition"):
            message = str(render(each.message, variables, f"{where}.message"))
            raise build_refusal(fault, variables["target"], message, str(render(each.fix, variables, f"{where}.fix")))


def mentions_parameters(text: str, written: Mapping[str, Any]) -> bool:
    """Return whether an expression depends on parameters, directly or through the fault's variables."""
    seen: set[str] = set()
    left = [text]
    while left:
        for name in list_names(left.pop()) - seen:
            seen.add(name)
            if name in written:
                left += list_texts(written[name], keys=True)
    return "parameters" in seen
