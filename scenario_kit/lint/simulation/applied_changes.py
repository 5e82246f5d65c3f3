"""Changes of rendered objects, made one after the other without a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Object


class AppliedChange(NamedTuple):
    """A change with the objects before and after it. One that cannot be made changes nothing; ``error`` is why."""

    change: Change
    before: tuple[Object, ...]
    after: tuple[Object, ...]
    error: AuthoringError | None = None


def apply_changes(
    objects: Iterable[Object], changes: Iterable[Change], app: App, namespace: str = ""
) -> Iterator[AppliedChange]:
    """Make changes one after the other; ``namespace`` is the app's actual one, if not its conventional one."""
    now = tuple(objects)
    for change in changes:
        try:
            new = tuple(change.operation.simulate(now, app, namespace or app.namespace))
        except AuthoringError as error:
            yield AppliedChange(change, now, now, error)
            continue
        yield AppliedChange(change, now, new)
        now = new


def find_result(objects: Iterable[Object], changes: Iterable[Change], app: App) -> tuple[Object, ...]:
    """Return the objects after all changes, except those that cannot be made, which a rule of its own reports."""
    result = tuple(objects)
    for applied in apply_changes(result, changes, app):
        result = applied.after
    return result
