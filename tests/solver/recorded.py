"""A small hand-written snapshot in the published layout: a Service with a wrong port."""

import csv
import hashlib
import json
from pathlib import Path

LOG = (
    "Timestamp", "TimestampTime", "TraceId", "SpanId", "TraceFlags", "SeverityText", "SeverityNumber", "ServiceName",
    "Body", "ResourceSchemaUrl", "ResourceAttributes", "ScopeSchemaUrl", "ScopeName", "ScopeVersion",
    "ScopeAttributes", "LogAttributes", "EventName",
)  # fmt: skip
SPAN = (
    "Timestamp", "TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind", "ServiceName",
    "ResourceAttributes", "ScopeName", "ScopeVersion", "SpanAttributes", "Duration", "StatusCode", "StatusMessage",
    "Events.Timestamp", "Events.Name", "Events.Attributes", "Links.TraceId", "Links.SpanId", "Links.TraceState",
    "Links.Attributes",
)  # fmt: skip
END = "2025-01-06T00:10:00Z"
TRUTH = """\
apiVersion: itbench.io/v1
kind: GroundTruth
metadata: {name: Scenario-7}
spec:
  groups:
  - {id: svc, kind: Service, namespace: shop, filter: ["^cart$"], root_cause: true}
  - {id: web, kind: Deployment, namespace: shop, name: web}
  aliases: []
  propagations: [{source: svc, target: web, condition: '', effect: it fails}]
  alerts: [{id: HighRequestErrorRate}]
"""


def meta(name, created="2025-01-06T00:00:00Z", **more):
    return {"name": name, "namespace": "shop", "uid": f"uid-{name}", "creationTimestamp": created, **more}


def build_objects(port):
    """Build the objects of a moment at which the Service points at ``port``."""
    found = []
    for name in ("cart", "web"):
        labels = {"app": name}
        container = {"name": name, "image": f"shop/{name}:1", "ports": [{"name": "http", "containerPort": 8080}]}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        found += [
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(name),
             "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
             "status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta(f"{name}-5d9c-x1", labels=labels),
             "spec": {"nodeName": "worker-1", "containers": [container]},
             "status": {"phase": "Running", "podIP": "10.244.0.9",
                        "conditions": [{"type": "Ready", "status": "True"}],
                        "containerStatuses": [{"name": name, "ready": True, "restartCount": 0,
                                               "state": {"running": {"startedAt": "2025-01-06T00:00:00Z"}}}]}},
            {"apiVersion": "v1", "kind": "Service", "metadata": meta(name),
             "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.9", "selector": labels,
                      "ports": [{"port": 80, "targetPort": port if name == "cart" else 8080}]}},
        ]  # fmt: skip
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1", "uid": "n1"}, "spec": {},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}}  # fmt: skip
    return [*found, node]


def row(columns, **cells):
    return [str(cells.get(column.replace(".", "_"), "")) for column in columns]


def write_table(path, columns, rows):
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def write_snapshot_folder(folder: Path, *, manifest: bool = True) -> Path:
    """Write the snapshot ``Scenario-7`` and its truth below a folder; returns the snapshot."""
    root = folder / "Scenario-7"
    (root / "alerts").mkdir(parents=True)
    (root / "metrics").mkdir()
    (root / "topology_information").mkdir()
    alert = {
        "labels": {"alertname": "HighRequestErrorRate", "namespace": "shop", "service_name": "web"},
        "annotations": {}, "state": "firing", "activeAt": "2025-01-06T00:07:00.000000000Z", "value": "1e+00",
    }  # fmt: skip
    (root / "alerts" / "alerts_at_2025-01-06T00-00-00.000000.json").write_text("[]")
    (root / "alerts" / "alerts_at_2025-01-06T00-10-00.000000.json").write_text(json.dumps([alert]))
    objects = [
        row(LOG, Timestamp=f"2025-01-06 00:{minute:02}:00.000000000", Body=json.dumps(each))
        for minute, port in ((0, 8080), (5, 8080), (10, 9999))
        for each in build_objects(port)
    ]
    write_table(root / "k8s_objects_raw.tsv", LOG, objects)
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": meta("cart.1", resourceVersion="1"),
             "regarding": {"kind": "Pod", "namespace": "shop", "name": "cart-5d9c-x1"}, "reason": "Started",
             "note": "Started container", "type": "Normal", "eventTime": "2025-01-06T00:00:01.000000Z"}  # fmt: skip
    body = json.dumps({"object": event, "type": "ADDED"})
    write_table(root / "k8s_events_raw.tsv", LOG, [row(LOG, Timestamp="2025-01-06 00:00:01.000000000", Body=body)])
    resource = {"k8s.pod.name": "web-5d9c-x1", "k8s.container.name": "web"}
    lines = [
        row(LOG, Timestamp=f"2025-01-06 00:0{minute}:00.500000000", ServiceName="web", Body=text,
            ResourceAttributes=repr(resource))
        for minute, text in ((1, "listening on :8080"), (8, "error: cart:80: connection refused"))
    ]  # fmt: skip
    write_table(root / "otel_logs_raw.tsv", LOG, lines)
    failed = {"StatusCode": "Error", "StatusMessage": "connection refused", "Duration": 2_000_000}
    spans = [
        row(SPAN, Timestamp="2025-01-06 00:08:00.000000000", TraceId="a" * 32, SpanId="b" * 16, SpanName="GET /",
            SpanKind="Server", ServiceName="web", SpanAttributes="{'http.route': '/'}", **failed),
        row(SPAN, Timestamp="2025-01-06 00:08:00.001000000", TraceId="a" * 32, SpanId="c" * 16, ParentSpanId="b" * 16,
            SpanName="get cart", SpanKind="Client", ServiceName="web", Events_Name="[", **failed),
    ]  # fmt: skip
    write_table(root / "otel_traces_raw.tsv", SPAN, spans)
    columns = ("metric_name", "timestamp", "value", "pod_name", "namespace", "tags")
    samples = [
        ["up", f"2025-01-06 00:{minute:02}:00.000", "1.0", "web-5d9c-x1", "shop",
         "{'namespace': 'shop', 'pod': 'web-5d9c-x1', 'container': 'web'}"]
        for minute in range(11)
    ]  # fmt: skip
    write_table(root / "metrics" / "pod_web-5d9c-x1_raw.tsv", columns, [*samples, samples[0]])
    truth = folder / "truths" / "Scenario-7"
    truth.mkdir(parents=True)
    (truth / "ground_truth.yaml").write_text(TRUTH)
    if manifest:
        write_manifest(root)
    return root


def write_manifest(root: Path) -> None:
    """Write the manifest of a folder as it is."""
    (root / "manifest.json").unlink(missing_ok=True)
    files = [
        {"path": path.relative_to(root).as_posix(), "bytes": path.stat().st_size,
         "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in sorted(root.rglob("*")) if path.is_file()
    ]  # fmt: skip
    times = {"start": "2025-01-06T00:00:00Z", "injection": "2025-01-06T00:06:00Z", "handover": END}
    document = {"name": root.name, "app": "shop 1.0", "clock": "Virtual", "seed": 1, "times": times, "files": files}
    (root / "manifest.json").write_text(json.dumps(document))
