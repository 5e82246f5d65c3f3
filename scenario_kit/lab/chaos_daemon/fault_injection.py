"""Misbehaviour of the daemon on demand, to test the verification of injected and recovered faults."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal, NamedTuple

#: The longest simulated hang: a call without a reply blocks the manager's only worker of its kind.
LONGEST_HANG_SECONDS = 60.0

#: Misbehaviours that apply to calls of one intent only.
_INTENTS = {"FalseSuccess": "Apply", "Outlive": "Recover"}


class Misbehaviour(NamedTuple):
    """One kind of misbehaviour.

    * ``Error``: fail with ``message`` and change nothing.
    * ``FalseSuccess``: report success and change nothing (calls that apply an effect).
    * ``Outlive``: report success and change nothing (calls that recover one).
    * ``Hang``: do not reply for ``seconds``, then fail.

    An empty ``call`` or ``pod_uid`` matches all; ``times`` 0 applies until ``reset``.
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
    """The active misbehaviours; the first match applies."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set: list[_Turned] = []
        self._released = threading.Event()
        self._hanging = 0

    def activate(self, misbehaviour: Misbehaviour) -> None:
        """Activate a misbehaviour."""
        if misbehaviour.seconds > LONGEST_HANG_SECONDS:
            raise ValueError(f"a hang of {misbehaviour.seconds} s, expected at most {LONGEST_HANG_SECONDS} s")
        with self._lock:
            self._released.clear()
            self._set.append(_Turned(misbehaviour, misbehaviour.times))

    def reset(self) -> None:
        """Deactivate all misbehaviours and release hanging calls."""
        with self._lock:
            self._set.clear()
            self._released.set()

    def match(self, call: str, pod_uid: str, intent: str) -> Misbehaviour | None:
        """Return the misbehaviour for a call and count the use. ``intent`` is Apply, Recover or empty."""
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
        """Block for ``seconds`` or until ``reset``."""
        with self._lock:
            self._hanging += 1
        self._released.wait(seconds)
        with self._lock:
            self._hanging -= 1

    @property
    def hanging(self) -> int:
        """The number of calls that hang."""
        with self._lock:
            return self._hanging
