"""Feature flags: the values for each process, and their effects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from scenario_kit.lab.twin.network.connections import Link
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model.twin.flag import FlagEffect, FlagModel

#: The number of calls in a tick after which a growing leak has killed its process.
_ENOUGH = 500


class Active(NamedTuple):
    """An active effect in one process, with evaluated amounts. An empty operation matches all.

    Until ``still_until`` the whole process is paused. ``held_bytes`` are allocated while the effect lasts. ``thrown``
    is the exception behind the errors, and ``answer`` the error for callers if it differs from that of other errors.
    """

    operation: str = ""
    share: float = 1.0
    error_share: float = 0.0
    delay_seconds: float = 0.0
    busy_cores: float = 0.0
    leak_bytes: float = 0.0
    leak_growth: float = 0.0
    copies: float = 0.0
    redirect: str = ""
    redirect_to: str = ""
    flood: str = ""
    flood_per_iteration: float = 0.0
    users: float = 0.0
    paused: bool = False
    unhealthy: bool = False
    handled_errors: str = ""
    becomes: str = ""
    empties: bool = False
    log: str = ""
    held_bytes: float = 0.0
    still_until: float = 0.0
    thrown: str = ""
    answer: str = ""
    per_item: bool = False

    def compute_leak(self, before: float, calls: int) -> float:
        """Compute the bytes leaked after more calls: each adds a constant, and a share of the current amount."""
        if not self.leak_growth:
            return before + self.leak_bytes * calls
        grown: float = (1.0 + self.leak_growth) ** min(calls, _ENOUGH)
        return before * grown + self.leak_bytes * (grown - 1.0) / self.leak_growth


@lru_cache(maxsize=64)
def read_values(document: str) -> Mapping[str, float]:
    """Return the value of each enabled flag of a flagd document; booleans are 0 and 1, other types are ignored.

    Targeting rules are not evaluated: the first branch applies, and the affected share of calls is part of the effect.
    A document that is not JSON has no flags, since flagd serves none then.
    """
    try:
        flags = json.loads(document).get("flags") or {}
    except (ValueError, AttributeError):
        return {}
    result = {}
    for name, flag in flags.items():
        value: Any = (flag.get("variants") or {}).get(_find_variant(flag))
        if flag.get("state") == "ENABLED" and isinstance(value, bool | int | float):
            result[name] = float(value)
    return result


def _find_variant(flag: Mapping[str, Any]) -> Any:
    branches: Sequence[Any] = (flag.get("targeting") or {}).get("if") or ()
    return branches[1] if len(branches) > 1 else flag.get("defaultVariant")


class Flags:
    """Evaluate flags for processes."""

    def __init__(self, model: FlagModel | None) -> None:
        self._model = model
        effects = [effect for effects in (model.effects if model else {}).values() for effect in effects]
        self._concerned = {effect.component for effect in effects}
        self._asking = {effect.component for effect in effects if not effect.propagate_value}

    def effects(self, process: Process, link: Link | None) -> tuple[Active, ...]:
        """Return the active effects in a process, given its link to the flag service.

        Without a reachable service, or for an unknown flag, the defaults in the code apply, which are off except for
        effects with ``unanswered``. While packets to it are dropped, every operation waits for the evaluation timeout.
        """
        if self._model is None or link is None or process.component not in self._concerned:
            return ()
        target = next((lane.target for lane in link.lanes if lane.outcome == ConnectionOutcome.OK), None)
        if target is None:
            waits = link.hangs and process.component in self._asking
            return (
                *((Active(delay_seconds=self._model.evaluation_timeout_seconds),) if waits else ()),
                *self._list_known(process, {}),
            )
        process.flags_awaited = True
        return self._list_known(process, read_values(target.files.get(self._model.key, "")))

    def _list_known(self, process: Process, known: Mapping[str, float]) -> tuple[Active, ...]:
        """List the effects in a process with these flag values."""
        return tuple(
            _activate(effect, known.get(flag, 0.0))
            for flag, effects in (self._model.effects if self._model else {}).items()
            for effect in effects
            if effect.component == process.component
            and (bool(known[flag]) != effect.when_off if flag in known else effect.when_unavailable)
        )


def _activate(effect: FlagEffect, value: float) -> Active:
    times = value if effect.scale_by_value else 1.0
    return Active(
        operation=effect.operation,
        share=value if effect.share_from_value else effect.share,
        error_share=effect.error_share * times,
        delay_seconds=effect.delay_seconds * times,
        busy_cores=effect.busy_cores * times,
        leak_bytes=effect.leak_bytes * times,
        leak_growth=effect.leak_growth,
        copies=effect.extra_records * times,
        redirect=effect.redirect,
        redirect_to=effect.redirect_to,
        flood=effect.flood_route,
        flood_per_iteration=effect.flood_per_iteration * times,
        users=effect.users * times,
        paused=effect.stop_load,
        unhealthy=effect.fail_health_checks,
        handled_errors=effect.handled_errors,
        becomes=effect.replacement_operation,
        empties=effect.empty_responses,
        log=effect.log,
        answer=effect.failure,
        per_item=effect.per_item,
    )
