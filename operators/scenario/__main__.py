"""Run the operator against a lab: ``python -m operators.scenario --lab default``."""

from __future__ import annotations

import argparse
import logging
import os
import sys

import kopf

from operators.scenario.environment import Environment, Settings
from operators.scenario.handlers import register
from scenario_kit.errors import ScenarioKitError


def main() -> int:
    """Start and run until a signal ends it; trials that are under way continue at the next start."""
    parser = argparse.ArgumentParser(prog="python -m operators.scenario", description=__doc__)
    parser.add_argument("--lab", default="default", help="name of the embedded lab")
    parser.add_argument("--clock", choices=("Wall", "Virtual"), default="Wall", help="the time of live scenarios")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        environment = Environment.of_lab(arguments.lab, Settings(clock=arguments.clock))
    except ScenarioKitError as problem:
        print(f"{problem}\nfix: {problem.fix}" if problem.fix else problem, file=sys.stderr)
        return problem.exit_code
    os.environ["KUBECONFIG"] = str(environment.lab.kubeconfig)
    registry = kopf.OperatorRegistry()
    register(registry, environment)
    kopf.run(registry=registry, clusterwide=True, standalone=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
