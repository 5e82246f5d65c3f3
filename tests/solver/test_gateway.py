"""The tools of a solver over fakes: scoped, bounded, and tolerant of any call."""

import json
from types import SimpleNamespace

import msgspec
import pytest

from scenario_kit.errors import MetricsError
from scenario_kit.model import AlertHistory, AlertTimeline, Interval
from scenario_kit.ports import LogLine, Series
from scenario_kit.solver.gateway.alerts import list_alerts
from scenario_kit.solver.gateway.answers import LONGEST_ANSWER, BadCall, ToolAnswer, answer_list, cut_middle
from scenario_kit.solver.gateway.logs import parse_log_query
from scenario_kit.solver.gateway.tools import TOOLS, Sources, describe_tools, use_tool
from scenario_kit.solver.gateway.traces import shorten_trace

NOW = 1_760_000_000.0
POD = {
    "kind": "Pod",
    "metadata": {"name": "cart-1", "namespace": "shop", "labels": {"app.kubernetes.io/component": "cart"}},
    "spec": {"containers": [{"name": "cart"}, {"name": "side"}]},
}
LINES = [
    LogLine("cart-1", "cart", NOW - 20, "error: no route"),
    LogLine("cart-1", "cart", NOW - 10, "all is well"),
    LogLine("cart-1", "side", NOW - 5, "error: side"),
]
TRACE = {
    "traceID": "t1",
    "processes": {"p1": {"serviceName": "cart"}},
    "spans": [
        {"spanID": "a", "processID": "p1", "operationName": "get", "startTime": 5_000_000, "duration": 1500,
         "tags": [{"key": "error", "value": True}, {"key": "otel.status_description", "value": "refused"}]},
        {"spanID": "b", "processID": "p1", "operationName": "db", "startTime": 5_000_100, "duration": 100,
         "references": [{"refType": "CHILD_OF", "spanID": "a"}],
         "tags": [{"key": "span.kind", "value": "client"}, {"key": "server.address", "value": "db"}]},
    ],
}  # fmt: skip


class _Metrics:
    def __init__(self):
        self.requests = []

    def instant(self, expr, at):
        self.requests.append(expr)
        if "slow" in expr:
            raise MetricsError("Prometheus refused (HTTP 503): timeout: expression evaluation", slow=True)
        if "gone" in expr:
            raise MetricsError("no response from Prometheus")
        if "broken" in expr:
            raise MetricsError("Prometheus refused (HTTP 422): many-to-many; asked: http://127.0.0.1", evaluation=True)
        return [Series({"pod": "cart-1"}, [(at, float("inf"))])]

    def range(self, expr, start, end, step):
        self.requests.append((expr, start, end, step))
        return [Series({}, [(start, 1.0), (end, float("nan"))])]


class _Traces:
    def __init__(self):
        self.requests = []

    def ask(self, path, query=""):
        self.requests.append((path, query))
        if path == "services/none/operations":
            return 404, {"data": None, "errors": [{"msg": "no such service"}]}
        return 200, {"data": [TRACE] if path == "traces" else ["cart"]}


@pytest.fixture
def sources():
    history = AlertHistory(start=NOW - 600, end=NOW, timelines=(
        AlertTimeline(name="Errors", labels={"service_name": "cart"}, firing=(Interval(start=NOW - 60),)),
        AlertTimeline(name="Over", firing=(Interval(start=NOW - 300, end=NOW - 200),)),
        AlertTimeline(name="Slow", pending=(Interval(start=NOW - 30),)),
    ))  # fmt: skip
    cluster = SimpleNamespace(
        list=lambda kind, namespace: [POD],
        logs=lambda pod, since: [line for line in LINES if line.at >= since],
    )
    return Sources(
        namespaces=("shop",),
        cluster=cluster,
        kubectl=SimpleNamespace(run=lambda command: ToolAnswer(content=" ".join(command.arguments))),
        metrics=_Metrics(),
        traces=_Traces(),
        alerts=lambda: history,
        now=lambda: NOW,
    )


def items(answer):
    assert answer.ok, answer.content
    return json.loads(answer.content)["items"]


def test_active_at_is_the_start_of_pending():
    pending = (Interval(start=NOW - 90, end=NOW - 60),)
    history = AlertHistory(start=NOW - 600, end=NOW, timelines=(
        AlertTimeline(name="Errors", pending=pending, firing=(Interval(start=NOW - 60),)),
    ))  # fmt: skip
    assert list_alerts(history)[0]["activeAt"] == "2025-10-09T08:51:50Z"


def test_tool_lists_current_alerts(sources):
    found = items(use_tool(sources, "get_alerts", {}))
    assert [(each["labels"]["alertname"], each["state"]) for each in found] == [
        ("Errors", "firing"),
        ("Slow", "pending"),
    ]
    assert found == list_alerts(sources.alerts())


@pytest.mark.parametrize(
    ("query", "scoped"),
    [
        ("up", 'up{namespace="shop"}'),
        ('sum(rate(x{a="b"}[5m]))', 'sum(rate(x{namespace="shop",a="b"}[5m]))'),
        ('{__name__=~".+"}', '{namespace="shop",__name__=~".+"}'),
        ('x{namespace="other"}', 'x{namespace="shop",namespace="other"}'),
        ('x or y{namespace!="shop"}', 'x{namespace="shop"} or y{namespace="shop",namespace!="shop"}'),
    ],
)
def test_queries_are_scoped_to_the_app(sources, query, scoped):
    use_tool(sources, "get_metrics", {"query": query})
    assert sources.metrics.requests == [scoped]


def test_values_are_formatted_as_prometheus_does(sources):
    assert items(use_tool(sources, "get_metrics", {"query": "up"})) == [
        {"metric": {"pod": "cart-1"}, "value": [NOW, "+Inf"]}
    ]
    found = items(use_tool(sources, "get_metrics", {"query": "up", "last_n_minutes": 1}))
    assert found == [{"metric": {}, "values": [[NOW - 60, "1.0"], [NOW, "NaN"]]}]


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("nothing", {}, "no tool 'nothing'"),
        ("get_metrics", {}, "query"),
        ("get_metrics", {"query": "sum("}, "PromQL"),
        ("get_metrics", {"query": "up", "step": 0}, "step is 0"),
        ("get_metrics", {"query": "up", "last_n_minutes": 1e9}, "minutes"),
        ("get_metrics", {"query": "max_over_time(up[100000d])"}, "too far"),
        ("get_metrics", {"query": "broken"}, "many-to-many"),
        ("get_metrics", {"query": "slow"}, "timeout"),
        ("get_metrics", {"query": "up + " * 5000 + "up"}, "characters"),
        ("get_logs", {"query": '{app="cart"}', "last_n_minutes": 1e300}, "last_n_minutes"),
        ("get_logs", {"query": '{app="cart"}', "last_n_minutes": -1}, "last_n_minutes"),
        ("exec_kubectl_cmd_safely", {"cmd": "get pods\0"}, "NUL"),
        ("exec_kubectl_cmd_safely", {"cmd": "get pods " + "x" * 200_000}, "characters"),
        ("get_metrics", {"query": "up", "extra": 1}, "extra"),
        ("get_traces", {"service": "cart", "limit": 1000}, "limit"),
        ("get_traces", {"service": "cart", "last_n_minutes": -1}, "last_n_minutes"),
        ("get_operations", {"service": "none"}, "no such service"),
        ("get_logs", {"query": "error"}, "selector"),
        ("get_logs", {"query": '{host="x"}'}, "no label 'host'"),
        ("get_logs", {"query": '{app=~"("}'}, "RE2"),
        ("get_logs", {"query": '{app="cart"} | json'}, "cannot be read"),
        ("get_label_values", {"label": "host"}, "no label 'host'"),
        ("wait", {"seconds": 0}, "seconds is 0"),
        ("wait", {"seconds": 1e9}, "seconds"),
        ("exec_kubectl_cmd_safely", {"cmd": "rm -rf /"}, "not supported"),
        ("exec_kubectl_cmd_safely", {"cmd": 5}, "cmd"),
    ],
)
def test_invalid_call_is_answered_with_its_problem(sources, tool, arguments, problem):
    answer = use_tool(sources, tool, arguments)
    assert (answer.ok, answer.valid) == (False, False)
    assert problem in answer.content
    assert "asked:" not in answer.content, "where Prometheus listens is nobody's business"


def test_traces_are_short(sources):
    (trace,) = items(use_tool(sources, "get_traces", {"service": "cart", "errors": True}))
    assert trace["spans"] == [
        {"span": "a", "parent": "", "service": "cart", "operation": "get", "start": 5.0, "ms": 1.5, "error": "refused"},
        {"span": "b", "parent": "a", "service": "cart", "operation": "db", "start": 5.0001, "ms": 0.1, "peer": "db"},
    ]
    assert "tag=error%3Atrue" in sources.traces.requests[0][1]


@pytest.mark.parametrize(
    ("tags", "peer"),
    [
        ({"span.kind": "client", "server.address": "valkey", "peer.service": "store"}, "store"),
        ({"span.kind": "producer", "net.peer.name": "kafka"}, "kafka"),
        ({"span.kind": "client", "upstream_cluster": "frontend"}, "frontend"),
        ({"span.kind": "server", "server.address": "cart"}, None),  # a server's own address
        ({"span.kind": "client"}, None),
    ],
)
def test_callee_of_a_span_is_kept(tags, peer):
    span = TRACE["spans"][1] | {"tags": [{"key": key, "value": value} for key, value in tags.items()]}
    (short,) = shorten_trace(TRACE | {"spans": [span]})["spans"]
    assert short.get("peer") == peer


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ('{app="cart"}', ["error: no route", "all is well", "error: side"]),
        ('{app="cart", container="cart"} |= "error"', ["error: no route"]),
        ('{app=~"c.*", container!="cart"}', ["error: side"]),
        ('{app="cart"} != "error"', ["all is well"]),
        ('{app="cart"} |~ "^error.*(route|side)$" !~ `route`', ["error: side"]),
        ('{app="frontend"}', []),
        ("{}", ["error: no route", "all is well", "error: side"]),
    ],
)
def test_lines_are_chosen(sources, query, texts):
    answer = use_tool(sources, "get_logs", {"query": query})
    assert answer.ok
    assert [line.split(" ", 3)[3] for line in answer.content.splitlines() if texts] == texts


def test_log_query_matches_whole_labels_and_partial_lines():
    assert not parse_log_query('{app=~"car"}').chooses({"app": "cart"})
    assert parse_log_query('{app="cart"} |~ "rou"').matches("no route")
    with pytest.raises(BadCall):
        parse_log_query('{app="cart" container="x"}')


def test_wait_reports_its_seconds(sources):
    assert use_tool(sources, "wait", {"seconds": 120}).seconds == 120


def test_every_tool_has_a_parameter_schema():
    described = {tool.name: tool.parameters for tool in describe_tools()}
    assert set(described) == set(TOOLS)
    assert described["get_metrics"]["required"] == ["query"]
    assert set(described["get_traces"]["properties"]) == {"service", "last_n_minutes", "limit", "errors"}
    assert described["get_alerts"]["properties"] == {}
    json.dumps(described)


def test_long_answers_are_truncated():
    text = "a" * 30_000 + "b" * 30_000
    short = cut_middle(text)
    assert len(short) <= LONGEST_ANSWER
    assert short.startswith("aaa")
    assert short.endswith("bbb")
    assert "characters left out" in short
    document = msgspec.json.decode(answer_list(["x" * 40] * 10, longest=100).content)
    assert document == {"items": ["x" * 40] * 2, "left_out": 8}
