"""Run the operator: against a lab, against a cluster of the kubeconfig, or inside a cluster.

python -m operators.scenario --lab default
python -m operators.scenario --context kind-demo --prometheus-url http://127.0.0.1:9090
python -m operators.scenario --in-cluster --prometheus-url http://prometheus.monitoring:9090
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import sys
import threading
from functools import partial

import kopf

from operators.leadership.elector import LeaderElector, keep_leading, name_process
from operators.leadership.lease import RENEW_DEADLINE_SECONDS, RETRY_SECONDS
from operators.monitoring.endpoint import Heartbeat, OperatorEndpoint, parse_address, serve
from operators.monitoring.heartbeat import register_heartbeat
from operators.scenario.environment import Environment, Settings
from operators.scenario.handlers import register
from operators.webhook.certificates import CertificateKeeper, keep_certificate
from operators.webhook.judgement import judge_object
from operators.webhook.server import create_context, serve_reviews
from scenario_kit.errors import ScenarioKitError, UsageError


def main() -> int:
    """Run until a signal arrives; unfinished trials continue at the next start."""
    arguments = _parse_arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("kopf.objects").setLevel(logging.WARNING)  # one line per handler call
    stopped = threading.Event()
    try:
        environment = _build_environment(arguments)
        _serve_webhook(environment, arguments.webhook, stopped)
        _run(environment, arguments)
    except ScenarioKitError as error:
        print(f"{error}\nfix: {error.fix}" if error.fix else error, file=sys.stderr)
        return error.exit_code
    finally:
        stopped.set()
    return 0


def _serve_webhook(environment: Environment, address: str, stopped: threading.Event) -> None:
    """Serve the webhook if configured, even while another operator holds the Lease; ``stopped`` ends the renewal of its
    certificate.

    Raises:
        UsageError: the address is invalid or cannot be bound.
    """
    judge = partial(judge_object, environment.catalog, environment.settings)
    if address:
        context = create_context()
        serve_reviews(parse_address(address, "--webhook"), context, judge)
        namespace = environment.settings.management_namespace
        keep_certificate(CertificateKeeper(environment.cluster, namespace, context), stopped)
    elif webhook := environment.webhook:
        serve_reviews(webhook.address, webhook.tls, judge)


def _run(environment: Environment, arguments: argparse.Namespace) -> None:
    """Wait for the Lease, then reconcile until a signal arrives or the Lease is lost.

    Raises:
        UsageError: the address of probes and metrics is invalid or cannot be bound.
    """
    measurements, heartbeat = environment.measurements, Heartbeat()
    if arguments.listen:
        probes = OperatorEndpoint(heartbeat, environment.describe_silence, measurements.registry)
        serve(parse_address(arguments.listen), probes)
    if environment.kubeconfig:
        os.environ["KUBECONFIG"] = environment.kubeconfig  # read by Kopf
    # In a lab, nothing restarts an operator that exited because the API server was down.
    patience = RENEW_DEADLINE_SECONDS if arguments.context or arguments.in_cluster else math.inf
    elector = LeaderElector(environment.cluster, name_process(), patience=patience)
    elector.acquire()
    measurements.leader.set(1)
    renewal = keep_leading(elector)
    registry = kopf.OperatorRegistry()
    register(registry, environment)
    register_heartbeat(registry, heartbeat)
    try:
        kopf.run(registry=registry, clusterwide=True, standalone=True)
    finally:
        elector.stop()
        renewal.join(RETRY_SECONDS)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m operators.scenario", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument("--lab", default="default", help="name of the embedded lab")
    cluster.add_argument("--context", default="", help="a context of the kubeconfig")
    cluster.add_argument("--in-cluster", action="store_true", help="the cluster of this pod")
    parser.add_argument("--allow-context", default="", help="allow this context although it is not a kind cluster")
    parser.add_argument(
        "--prometheus-url", default=os.environ.get("SCENARIO_KIT_PROMETHEUS_URL", ""), help="the cluster's Prometheus"
    )
    parser.add_argument(
        "--offer", action="append", default=[], help="a capability that no canary can detect; may be repeated"
    )
    parser.add_argument("--listen", default="", help="serve /healthz, /readyz and /metrics at this HOST:PORT")
    parser.add_argument("--webhook", default="", help="answer the API server's webhook at this HOST:PORT, over TLS")
    parser.add_argument("--clock", choices=("Wall", "Virtual"), default="Wall", help="the time of live scenarios")
    return parser.parse_args()


def _build_environment(arguments: argparse.Namespace) -> Environment:
    if not (arguments.context or arguments.in_cluster):
        for option in ("allow_context", "offer"):
            if getattr(arguments, option):
                name = f"--{option.replace('_', '-')}"
                raise UsageError(f"{name} does not apply to a lab", fix=f"add --context NAME, or remove {name}")
        return Environment.of_lab(arguments.lab, Settings(clock=arguments.clock))
    if arguments.clock == "Virtual":
        raise UsageError("only a lab has virtual time", fix="remove --clock, or the cluster")
    if not arguments.prometheus_url:
        raise UsageError(
            "a cluster with real nodes needs a Prometheus URL",
            fix="--prometheus-url URL, or SCENARIO_KIT_PROMETHEUS_URL",
        )
    settings = Settings(offers=tuple(arguments.offer))
    return Environment.of_cluster(arguments.context, arguments.allow_context, arguments.prometheus_url, settings)


if __name__ == "__main__":
    sys.exit(main())
