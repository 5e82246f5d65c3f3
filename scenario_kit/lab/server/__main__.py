"""``python -m scenario_kit.lab.server --lab NAME``: started by ``lab.lifecycle``, exits on SIGTERM."""

from __future__ import annotations

import argparse
import logging
import signal
import sys

from scenario_kit.errors import ScenarioKitError
from scenario_kit.lab.host.state import DEFAULT_NAME, LabState
from scenario_kit.lab.server.composition import run
from scenario_kit.lab.server.threads import Threads


def main() -> int:
    """Run until a signal: 0 after SIGTERM or SIGINT, 1 if a thread died or the start failed."""
    parser = argparse.ArgumentParser(prog="python -m scenario_kit.lab.server", description="The data plane of a lab.")
    parser.add_argument("--lab", default=DEFAULT_NAME, help="name of the lab")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    threads = Threads()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threads.stop.set())
    try:
        failure = run(LabState.load(arguments.lab), threads)
    except ScenarioKitError as error:
        logging.getLogger(__name__).critical("%s%s", error.message, f" ({error.fix})" if error.fix else "")
        return 1
    if failure:
        logging.getLogger(__name__).critical("the lab server exits: %s", failure)
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
