"""Run the operator of a lab and restart it whenever it exits, as a Deployment would.

Each operator is a fork of this process, which has already imported everything, so a start excludes the interpreter's
own start-up time. Exits when its standard input is closed.

python -m tools.crash.fork_server --lab NAME
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import threading
import time
from importlib import import_module
from typing import Final

#: Modules that an operator of a lab imports lazily.
_LATER: Final = (
    "operators.scenario.lab_platform", "scenario_kit.lab.lab_cluster", "scenario_kit.changes.operations",
    "scenario_kit.lab.admission_webhook",
)  # fmt: skip
#: Seconds between the end of an operator and the next start.
_PAUSE: Final = 0.1


def main() -> int:
    """Print ``started PID`` for each operator, and ``ended PID STATUS`` when it has exited (as in waitpid(2))."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", required=True)
    parser.add_argument("--clock", default="Wall")
    options = parser.parse_args()
    operator = import_module("operators.scenario.__main__")
    for name in _LATER:
        import_module(name)
    gc.collect()
    gc.freeze()
    while True:
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            sys.argv = ["operators.scenario", "--lab", options.lab, "--clock", options.clock]
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
            _end_with_parent()
            os._exit(operator.main())
        print(f"started {pid}", flush=True)
        _, status = os.waitpid(pid, 0)
        print(f"ended {pid} {status}", flush=True)
        time.sleep(_PAUSE)


def _end_with_parent() -> None:
    """Exit when standard input, which all forks share, is closed."""

    def wait() -> None:
        while os.read(0, 1024):
            pass
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
