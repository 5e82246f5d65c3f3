"""Spans of services, taken from the twin's traces, for comparison with a real collector."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import httpx

from scenario_kit.lab.tracing.otlp import build_request
from scenario_kit.model import App, Object
from scenario_kit.model.runtime.trace import Span, Trace
from tests.lab.twin.twin_cluster import TICK, TwinCluster
from tests.telemetry import jaeger
from tests.telemetry.processes import CollectorProcess

#: Long enough that a quantile of them is above what any rule calls slow.
SLOW_SECONDS: Final = 3.0
#: Spans of one kind that a pod reports in a wave: enough that no rule takes the service for idle.
_REPEATS: Final = 5
#: Seconds of the twin until everything runs, and those of which the traces are.
_WARM, _SHOWN = 300.0, 300.0
#: Where the services of an app send spans by Jaeger's protocol: the variable or the key of a file says so.
_JAEGER_PORT: Final = 6831


def list_spans(app: App, objects: Sequence[Object]) -> list[Span]:
    """List one span of each service, kind and name that the twin reports in its usual run."""
    little = TwinCluster(app, objects)
    for _ in range(round((_WARM + _SHOWN) / TICK)):
        little.run(TICK)
        little.revive()
    found: dict[tuple[str, str, str], Span] = {}
    for trace in little.twin.traces(little.now - _SHOWN, little.now):
        for span in trace.spans:
            found.setdefault((span.service, span.kind, span.name), span)
    return [found[key] for key in sorted(found)]


def vary(spans: Iterable[Span]) -> Iterator[Span]:
    """Vary each span: one that succeeds and one that fails, both slow, from either of two pods of its service."""
    for number, span in enumerate(spans):
        for pod, error, repeat in itertools.product(range(2), (False, True), range(_REPEATS)):
            resource = {key: f"{value}-{pod}" for key, value in span.resource.items() if key in _POD}
            yield span._replace(
                trace_id=f"{number + 1:016x}{pod:04x}{error:04x}{repeat:08x}",
                error=error,
                seconds=SLOW_SECONDS,
                resource={**span.resource, **resource},
                links=(),
            )


def send(collector: CollectorProcess, spans: Sequence[Span]) -> None:
    """Send spans as the app's services do: by OTLP, or by Jaeger's clients."""
    assert collector.configuration is not None
    ports = {
        port["port"]
        for obj in collector.configuration.objects
        if obj["kind"] == "Service" and "collector" in obj["metadata"]["name"]
        for port in obj["spec"]["ports"]
    }
    assert {4318, _JAEGER_PORT} <= ports
    if _speaks_jaeger(collector.configuration.objects):
        jaeger.send_spans(spans, collector.host, _JAEGER_PORT)
    else:
        post(collector, "traces", build_request(Trace(spans[0].trace_id, tuple(spans))))


def post(collector: CollectorProcess, signal: str, document: dict[str, Any], port: int = 4318) -> None:
    """Post an OTLP request in JSON."""
    url = f"http://{collector.host}:{port}/v1/{signal}"
    headers = {"Content-Type": "application/json"}
    with httpx.Client(trust_env=False) as client:
        reply = client.post(url, content=json.dumps(document), headers=headers)
    assert reply.status_code == 200, reply.text
    assert "rejected" not in reply.text, reply.text


def _speaks_jaeger(objects: Sequence[Object]) -> bool:
    """Check whether the app's services are configured with the address of a Jaeger agent."""
    texts = [t for o in objects if o["kind"] == "ConfigMap" for t in o["data"].values()]
    return any(f':{_JAEGER_PORT}"' in text and "jaegerAddress" in text for text in texts)


#: Attributes of a process that differ from pod to pod.
_POD: Final = ("k8s.pod.name", "k8s.pod.uid", "k8s.pod.ip", "host.name", "service.instance.id", "hostname", "ip")
