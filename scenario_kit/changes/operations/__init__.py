"""Change operations, one module each: what they write, and how they are sent, undone and simulated."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from scenario_kit.changes.operation import ClusterOperation


def find_operations() -> dict[str, type[ClusterOperation]]:
    """Find the operations of this package, by keyword: the final classes of its modules.

    Raises:
        TypeError: one of them lacks a required method.
    """
    return {operation.keyword: operation for operation in _list_final_classes()}


def _list_final_classes() -> Iterator[type[ClusterOperation]]:
    for module in iter_modules(__path__, f"{__name__}."):
        for found in vars(import_module(module.name)).values():
            if getattr(found, "__final__", False) and found.__module__ == module.name:
                yield _check_complete(found)


def _check_complete(operation: type[ClusterOperation]) -> type[ClusterOperation]:
    members = {name: getattr(operation, name) for name in dir(operation)}
    if missing := [name for name, member in members.items() if getattr(member, "__isabstractmethod__", False)]:
        raise TypeError(f"the operation '{operation.keyword}' does not implement {', '.join(missing)}")
    return operation
