"""Reads a snapshot by what is published of ITBench's layout. It imports nothing of the kit, so that it can disagree."""

import ast
import csv
import json
import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

LOG_COLUMNS = [
    "Timestamp",
    "TimestampTime",
    "TraceId",
    "SpanId",
    "TraceFlags",
    "SeverityText",
    "SeverityNumber",
    "ServiceName",
    "Body",
    "ResourceSchemaUrl",
    "ResourceAttributes",
    "ScopeSchemaUrl",
    "ScopeName",
    "ScopeVersion",
    "ScopeAttributes",
    "LogAttributes",
    "EventName",
]
TRACE_COLUMNS = [
    "Timestamp",
    "TraceId",
    "SpanId",
    "ParentSpanId",
    "TraceState",
    "SpanName",
    "SpanKind",
    "ServiceName",
    "ResourceAttributes",
    "ScopeName",
    "ScopeVersion",
    "SpanAttributes",
    "Duration",
    "StatusCode",
    "StatusMessage",
    "Events.Timestamp",
    "Events.Name",
    "Events.Attributes",
    "Links.TraceId",
    "Links.SpanId",
    "Links.TraceState",
    "Links.Attributes",
]
POD_COLUMNS = ["metric_name", "timestamp", "value", "pod_name", "namespace", "tags"]
SERVICE_COLUMNS = [
    "metric_name",
    "timestamp",
    "value",
    "service_name",
    "namespace",
    "bucket_le",
    "tags",
    "metric_type",
    "status_code",
]
NANOS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}")
MILLIS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")
RFC3339_NANO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
EXPONENT = re.compile(r"-?\d(\.\d+)?e[+-]\d\d+")
HEX16 = re.compile(r"[0-9a-f]{16}")

csv.field_size_limit(1 << 30)


def table(path, columns):
    """Rows as mappings; every row as long as the header."""
    with Path(path).open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream, delimiter="\t")
        assert next(reader) == columns, path
        return [dict(zip(columns, cells, strict=True)) for cells in reader]


def mapping(cell):
    value = ast.literal_eval(cell)
    assert isinstance(value, dict), cell
    assert all(isinstance(k, str) and isinstance(v, str) for k, v in value.items()), cell
    return value


def seconds(cell):
    return datetime.strptime(cell[:26], "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC).timestamp()


def in_order(rows):
    times = [r["Timestamp"] for r in rows]
    assert all(NANOS.fullmatch(t) for t in times)
    assert times == sorted(times)
    return rows


def read_alerts(folder):
    """Return (time, alerts) of every minute, and the content of the last envelope."""
    looks = []
    for path in sorted((folder / "alerts").glob("alerts_at_*.json")):
        at = datetime.strptime(path.stem, "alerts_at_%Y-%m-%dT%H-%M-%S.%f").replace(tzinfo=UTC).timestamp()
        text = path.read_text()
        alerts = json.loads(text)
        assert text.rstrip("\n") == json.dumps(alerts, indent=4)
        for alert in alerts:
            assert {"alertname", "namespace", "severity"} <= alert["labels"].keys()
            assert "description" in alert["annotations"]
            assert alert["state"] == "firing"
            assert RFC3339_NANO.fullmatch(alert["activeAt"])
            assert EXPONENT.fullmatch(alert["value"])
            active = datetime.strptime(alert["activeAt"][:26], "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=UTC)
            assert active.timestamp() <= at
            assert "{{" not in json.dumps(alert)
        looks.append((at, alerts))
    times = [at for at, _ in looks]
    assert {b - a for a, b in pairwise(times)} <= {60.0}
    (state,) = (folder / "alerts").glob("alerts_in_alerting_state_*.json")
    assert re.fullmatch(r"alerts_in_alerting_state_\d{4}-\d\d-\d\dT\d{6}\.\d{6}Z", state.stem)
    envelope = json.loads(state.read_text())
    assert envelope["status"] == "success"
    assert "timestamp" in envelope
    return looks, envelope["data"]["alerts"]


def read_events(folder):
    """Events, each once; every write stands there in both API groups."""
    rows = in_order(table(folder / "k8s_events_raw.tsv", LOG_COLUMNS))
    seen = {}
    for row in rows:
        body, attributes = json.loads(row["Body"]), mapping(row["LogAttributes"])
        assert body["type"] in ("ADDED", "MODIFIED")
        assert attributes["event.domain"] == "k8s"
        assert attributes["k8s.resource.name"] == "events"
        assert attributes["event.name"]
        event = body["object"]
        assert mapping(row["ResourceAttributes"])["k8s.namespace.name"] == event["metadata"]["namespace"]
        assert row["ScopeName"].endswith("k8sobjectsreceiver")
        key = event["metadata"]["uid"], event["metadata"]["resourceVersion"]
        groups = seen.setdefault(key, {})
        groups[event["apiVersion"]] = event
        if event["apiVersion"] == "v1":
            assert {"involvedObject", "message"} <= event.keys()
        else:
            assert {"regarding", "note"} <= event.keys()
    assert all(set(groups) == {"v1", "events.k8s.io/v1"} for groups in seen.values())
    return [groups["v1"] for groups in seen.values()]


def read_objects(folder):
    """Objects as they were at each of the times at which all were written: (time, object)."""
    rows = in_order(table(folder / "k8s_objects_raw.tsv", LOG_COLUMNS))
    found = [(seconds(row["Timestamp"]), json.loads(row["Body"])) for row in rows]
    assert all(o["kind"] != "Secret" and "chaos-mesh" not in o["apiVersion"] for _, o in found)
    marks = sorted({at for at, _ in found})
    assert all(b - a <= 300 for a, b in pairwise(marks))
    return found


def read_logs(folder):
    rows = in_order(table(folder / "otel_logs_raw.tsv", LOG_COLUMNS))
    for row in rows:
        assert {"k8s.pod.name", "k8s.namespace.name", "service.name"} <= mapping(row["ResourceAttributes"]).keys()
        assert row["TimestampTime"] == row["Timestamp"][:19]
        assert 0 <= int(row["SeverityNumber"]) <= 24
    return rows


def read_spans(folder):
    rows = in_order(table(folder / "otel_traces_raw.tsv", TRACE_COLUMNS))
    for row in rows:
        assert row["SpanKind"] in ("Client", "Server", "Internal", "Producer", "Consumer")
        assert row["StatusCode"] in ("Unset", "Ok", "Error")
        assert int(row["Duration"]) >= 0
        assert {"k8s.pod.name", "k8s.node.name", "service.name"} <= mapping(row["ResourceAttributes"]).keys()
        mapping(row["SpanAttributes"])
        for group in ("Events", "Links"):
            lists = [ast.literal_eval(row[c]) for c in TRACE_COLUMNS if c.startswith(f"{group}.")]
            assert len({len(each) for each in lists}) == 1
    return rows


def read_metrics(folder):
    """Samples by file: pod or service, its name, rows."""
    found = []
    for path in sorted((folder / "metrics").iterdir()):
        kind, _, rest = path.name.removesuffix("_raw.tsv").partition("_")
        assert kind in ("pod", "service")
        assert path.name.endswith("_raw.tsv")
        rows = table(path, POD_COLUMNS if kind == "pod" else SERVICE_COLUMNS)
        for row in rows:
            assert row[f"{kind}_name"] == rest
            assert MILLIS.fullmatch(row["timestamp"])
            float(row["value"])
            mapping(row["tags"])
        if kind == "service":
            buckets = [r for r in rows if r["metric_name"] == "traces_span_metrics_duration_milliseconds_bucket"]
            assert all(r["bucket_le"] and r["metric_type"] == "duration_p95" for r in buckets)
            calls = [r for r in rows if r["metric_name"] == "traces_span_metrics_calls_total"]
            assert all(r["metric_type"] == "error_rate" and "ERROR" in r["status_code"] for r in calls)
        found.append((kind, rest, rows))
    return found


def read_topologies(folder):
    """The recorded graphs by phase, the operational and the static graph."""
    place = folder / "topology_information"
    recorded = {}
    for path in place.glob("*__*.json"):
        phase, part, stamp = re.fullmatch(
            r"(init|post_fault_injection|end)__(nodes|edges|graph|events)__(.+)", path.stem
        ).groups()
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}", stamp)
        recorded.setdefault(phase, {})[part] = json.loads(path.read_text())
    for parts in recorded.values():
        assert {"nodes", "edges", "graph", "events"} <= parts.keys()
        ids = {n["id"] for n in parts["nodes"]}
        for node in parts["nodes"]:
            assert set(node) == {"id", "kind", "group", "version", "namespace", "name", "labels", "uid"}
            assert all(isinstance(v, str) for v in node.values())
            assert HEX16.fullmatch(node["id"])
        assert {n["kind"] for n in parts["nodes"]} >= {"K8Cluster", "Namespace", "Pod"}
        assert all({e["source"], e["target"]} <= ids and e["type"] and e["verbose_type"] for e in parts["edges"])
    operational = json.loads((place / "operational_graph.json").read_text())
    ids = {n["id"] for n in operational["nodes"]}
    assert all(n["id"] == f"{n['kind']}/{n['name']}" for n in operational["nodes"])
    relations = {e["relation"] for e in operational["edges"]}
    assert relations <= {"contains", "depends_on", "is_alias", "calls"}
    assert all({e["source"], e["target"]} <= ids for e in operational["edges"])
    static = json.loads((place / "app_graph.json").read_text())
    names = {s["name"] for s in static["components"]["services"]} | {
        s["name"] for s in static["components"]["infrastructure"]
    }
    assert all({d["source"], d["target"]} <= names for d in static["dependencies"])
    return recorded, operational, static


def read_lite(folder):
    """The short tables: their columns, and that each row is one of the long table."""
    lite = folder / "lite"
    table(lite / "k8s_events.tsv", ["timestamp", "body", "namespace"])
    table(lite / "k8s_objects.tsv", ["timestamp", "body", "namespace", "resource_type"])
    columns = (
        "timestamp trace_id span_id trace_flags severity_text severity_number service_name body resource_attributes "
        "log_attributes"
    )
    logs = table(lite / "otel_logs.tsv", columns.split())
    assert all(int(row["severity_number"]) >= 13 for row in logs)
    columns = (
        "timestamp trace_id span_id parent_span_id trace_state span_name span_kind service_name scope_name "
        "scope_version duration status_code status_message"
    )
    spans = table(lite / "otel_traces.tsv", columns.split())
    assert all(row["status_code"] == "Error" for row in spans)
    for kind, long in (("pod", POD_COLUMNS), ("service", SERVICE_COLUMNS)):
        for path in (lite / f"metrics_{kind}").iterdir():
            rows = table(path, [c for c in long if c != "tags"])
            assert all("cpu" in r["metric_name"] or "memory" in r["metric_name"] for r in rows)
    return logs, spans
