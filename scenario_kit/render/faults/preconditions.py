"""What must hold so that a fault can bite at its target, and the error where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scenario_kit.errors import AuthoringError
from scenario_kit.model.authored.fault import FaultType, Precondition
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import list_names, render


def build_refusal(fault: str, target: object, message: str, fix: str = "") -> AuthoringError:
    """Build the error of a fault that cannot bite at this target with these parameters."""
    return build_error(
        "SK304",
        f"fault '{fault}': {message}",
        observed=f"target {target}",
        expected="parameters that change what the target does",
        why="a fault without an effect cannot be the cause of anything",
        fix=fix or f"aim fault '{fault}' at another object, or give it other parameters",
    )


def select_early(fault_type: FaultType) -> tuple[list[int], list[int]]:
    """Split the preconditions: those about the target alone, which hold before defaults are worked out, and the rest.

    A condition is about parameters where it mentions them, or a variable of the fault that does.
    """
    early: list[int] = []
    late: list[int] = []
    for i, each in enumerate(fault_type.preconditions):
        (late if mentions_parameters(each.condition, fault_type.variables) else early).append(i)
    return early, late


def check_preconditions(
    fault_type: FaultType, selected: Iterable[int], variables: Mapping[str, Any], fault: str
) -> None:
    """Check the selected preconditions in their order.

    Raises:
        AuthoringError: SK304 with the message of the first that does not hold, or an expression fails.
    """
    for i in selected:
        each: Precondition = fault_type.preconditions[i]
        where = f"fault '{fault}' ({fault_type.name}) preconditions[{i}]"
        if not render(each.condition, variables, f"{where}.condition"):
            message = str(render(each.message, variables, f"{where}.message"))
            raise build_refusal(fault, variables["target"], message, str(render(each.fix, variables, f"{where}.fix")))


def mentions_parameters(text: str, written: Mapping[str, Any]) -> bool:
    """Return whether an expression is about parameters, itself or by the variables of the fault that it uses."""
    seen: set[str] = set()
    left = [text]
    while left:
        for name in list_names(left.pop()) - seen:
            seen.add(name)
            if name in written:
                left += _list_texts(written[name])
    return "parameters" in seen


def _list_texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for part in (*value.keys(), *value.values()) for text in _list_texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in _list_texts(part)]
    return [value] if isinstance(value, str) else []
