"""Knobs that make the daemon misbehave, so that the verification of injected and recovered faults can be tested."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal, NamedTuple

#: No simulated hang is longer: a call without an answer blocks the only worker of its kind in the manager.
LONGEST_HANG_SECONDS = 60.0

#: Acts that concern only calls of one intent.
_INTENTS = {"FalseSuccess": "Apply", "Outlive": "Recover"}


class Misbehaviour(NamedTuple):
    """One way to misbehave.

    * ``Error``: refuse with ``message``, nothing changes.
    * ``FalseSuccess``: answer as if it worked, nothing changes (calls that put an effect into force).
    * ``Outlive``: answer as if it worked, nothing changes (calls that take an effect out of force).
    * ``Hang``: answer nothing for ``seconds``, then refuse.

    Empty ``call`` and ``pod_uid`` mean every one; ``times`` 0 means until it is taken back.
    """

    act: Literal["Error", "FalseSuccess", "Outlive", "Hang"]
    call: str = ""
    pod_uid: str = ""
    message: str = "exit status 1"
    seconds: float = 10.0
    times: int = 0


@dataclass
class _Turned:
    misbehaviour: Misbehaviour
    left: int


class Knobs:
    """The misbehaviours in force; the first that fits a call wins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set: list[_Turned] = []
        self._released = threading.Event()
        self._hanging = 0

    def turn(self, misbehaviour: Misbehaviour) -> None:
        """Put a misbehaviour into force."""
        if misbehaviour.seconds > LONGEST_HANG_SECONDS:
            raise ValueError(f"a hang of {misbehaviour.seconds} s, expected at most {LONGEST_HANG_SECONDS} s")
        with self._lock:
            self._released.clear()
            self._set.append(_Turned(misbehaviour, misbehaviour.times))

    def reset(self) -> None:
        """Behave again; calls that hang are let go at once."""
        with self._lock:
            self._set.clear()
            self._released.set()

    def take(self, call: str, pod_uid: str, intent: str) -> Misbehaviour | None:
        """Take the misbehaviour for this call, used up once. ``intent`` is Apply, Recover, or empty for neither."""
        with self._lock:
            for turned in self._set:
                knob = turned.misbehaviour
                if knob.call not in ("", call) or knob.pod_uid not in ("", pod_uid):
                    continue
                if _INTENTS.get(knob.act, intent) != intent:
                    continue
                turned.left -= 1
                if turned.left == 0:
                    self._set.remove(turned)
                return knob
        return None

    def hang(self, seconds: float) -> None:
        """Wait that long, or until ``reset``."""
        with self._lock:
            self._hanging += 1
        self._released.wait(seconds)
        with self._lock:
            self._hanging -= 1

    @property
    def hanging(self) -> int:
        """How many calls hang now."""
        with self._lock:
            return self._hanging
