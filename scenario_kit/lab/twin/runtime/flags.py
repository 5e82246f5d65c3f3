"""Feature flags: what the flag service answers to each process, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from scenario_kit.lab.twin.network.connections import Link
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model.twin.flag import FlagEffect, FlagModel

#: Calls of one tick after which a leak that grows has long ended its process.
_ENOUGH = 500


class Active(NamedTuple):
    """An effect in force in one process, with its amounts worked out. An empty operation means every one.

    Until ``still_until`` the whole process stands still. ``held_bytes`` are in its memory while the effect lasts.
    ``thrown`` is the exception by which the errors come about, and ``answer`` what callers read of it, where that is
    not what they read of other errors.
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
    absorbs: str = ""
    becomes: str = ""
    empties: bool = False
    log: str = ""
    held_bytes: float = 0.0
    still_until: float = 0.0
    thrown: str = ""
    answer: str = ""

    def compute_leak(self, before: float, calls: int) -> float:
        """Compute bytes that are leaked after so many more calls: each adds its own, and a share of what is there
        already.
        """
        if not self.leak_growth:
            return before + self.leak_bytes * calls
        grown: float = (1.0 + self.leak_growth) ** min(calls, _ENOUGH)
        return before * grown + self.leak_bytes * (grown - 1.0) / self.leak_growth


@lru_cache(maxsize=64)
def read_values(document: str) -> Mapping[str, float]:
    """Read the value of each enabled flag of a flagd document; booleans count as 0 and 1, other types are left out.

    Conditions of targeting rules are not evaluated: of a flag with a rule the first branch counts, and what share of
    the calls it concerns is part of the effect. A document that is not JSON has no flags, as flagd then serves none.
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
    """Evaluates flags for processes."""

    def __init__(self, model: FlagModel | None) -> None:
        self._model = model
        effects = [effect for effects in (model.effects if model else {}).values() for effect in effects]
        self._concerned = {effect.component for effect in effects}
        self._asking = {effect.component for effect in effects if not effect.propagate_value}

    def effects(self, process: Process, link: Link | None) -> tuple[Active, ...]:
        """Return the effects in force in a process, given its way to the flag service.

        A service that cannot be reached, or does not know a flag, answers nothing: the defaults in the code apply,
        which are all off but for effects that come ``unanswered``. While packets to it vanish every operation waits for
        the evaluation to give up.
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
        """List the effects in a process of what it knows of the flags."""
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
        absorbs=effect.handled_errors,
        becomes=effect.replacement_operation,
        empties=effect.empty_responses,
        log=effect.log,
    )
