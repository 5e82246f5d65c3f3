"""How programs react to SIGTERM (docs/fidelity.md, "The end of programs").

The kernel discards signals to the first process of a container for which it has no handler, except SIGKILL.
"""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath
from typing import Final

from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import list_words
from scenario_kit.model.runtime.process import Stop

_SHELLS: Final = frozenset({"sh", "ash", "dash"})
#: Programs without a handler that containers use to wait.
_WAITERS: Final = frozenset({"sleep", "tail"})
#: What makes a script more than one command, so that the shell stays the first process.
_COMPOUND: Final = re.compile(r"[;&|\n]|\b(while|until|for|if)\b")
_IGNORED: Final = Stop(math.inf)


def find_stop(pod: Object, container: Object, process: Process | None) -> Stop:
    """Return how a container's program ends on SIGTERM."""
    model = process.model if process is not None else None
    ignored = _runs_unhandled(container) or (model is not None and model.termination.ignore_signal)
    if ignored:
        # With a shared namespace, the first process is the pause program, and the default action of the signal applies.
        return Stop() if pod["spec"].get("shareProcessNamespace") else _IGNORED
    return Stop(model.termination.seconds, model.termination.exit_code) if model is not None else Stop()


def _runs_unhandled(container: Object) -> bool:
    """Return whether a container's command is a shell around other programs, or a program that waits."""
    words = list_words(container)
    name = PurePosixPath(words[0]).name if words else ""
    if name in _WAITERS:
        return True
    if name not in _SHELLS or len(words) < 3 or not re.fullmatch(r"-\w*c", words[1]):
        return False
    script = words[2].strip()
    if re.search(r"\btrap\b|\bexec\s", script):
        return False
    return bool(_COMPOUND.search(script)) or PurePosixPath(script.split()[0] if script else "").name in _WAITERS
