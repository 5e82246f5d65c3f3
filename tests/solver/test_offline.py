"""A snapshot as a solver sees it: the state at hand-over, behind the same tools as a lab."""

import json
import sys
from pathlib import Path

import pytest

from scenario_kit.errors import AuthoringError, NotFound
from scenario_kit.snapshot.reader import SnapshotFolder, TableRow
from scenario_kit.solver.offline.alerts_and_events import build_history, list_events
from scenario_kit.solver.offline.api_server import ApiRequest, SnapshotApi
from scenario_kit.solver.offline.api_tables import find_pod_status, format_age
from scenario_kit.solver.offline.evidence import SnapshotEvidence
from scenario_kit.solver.offline.metrics import collect_series
from scenario_kit.solver.offline.state import list_present

sys.path.insert(0, str(Path(__file__).parent))
import recorded

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@pytest.fixture
def evidence(tmp_path):
    return SnapshotEvidence(SnapshotFolder(recorded.write_snapshot_folder(tmp_path)))


@pytest.fixture
def api(evidence):
    return SnapshotApi(evidence.objects, lambda pod, since: evidence.logs(pod, since=since), evidence.now)


def ask(api, path, query="", accept="", method="GET"):
    answer = api.answer(ApiRequest(method, path, query, accept))
    return answer.status, json.loads(answer.body) if answer.type == "application/json" else answer.body.decode()


def test_snapshot_state_is_as_of_hand_over(evidence):
    assert evidence.now == 1_736_122_200.0
    assert evidence.namespaces == ("shop",)
    (cart,) = [o for o in evidence.list("Service", "shop") if o["metadata"]["name"] == "cart"]
    assert cart["spec"]["ports"][0]["targetPort"] == 9999
    (timeline,) = evidence.alerts.timelines
    assert (timeline.name, timeline.labels["service_name"]) == ("HighRequestErrorRate", "web")
    assert timeline.firing[0].start == evidence.now - 180
    assert [each.text for each in evidence.logs(evidence.list("Pod")[1], since=evidence.now - 300)] == [
        "error: cart:80: connection refused"
    ]
    (trace,) = evidence.list_traces(evidence.now - 600, evidence.now)
    assert (trace.errors, trace.root.attributes["http.route"]) == (2, "/")
    (series,) = evidence.read_series()
    assert (series.labels["__name__"], series.labels["container"], len(series.points)) == ("up", "web", 11)


def test_snapshot_without_manifest_ends_with_its_last_alerts(tmp_path):
    folder = recorded.write_snapshot_folder(tmp_path, manifest=False)
    evidence = SnapshotEvidence(SnapshotFolder(folder))
    assert evidence.now == 1_736_122_200.0
    for path in (folder / "alerts").glob("*"):
        path.unlink()
    with pytest.raises(AuthoringError, match="has no end time"):
        _ = SnapshotEvidence(SnapshotFolder(folder)).now


def build_row(**cells):
    return TableRow(cells.items(), (Path("k8s_objects_raw.tsv"), 2))


def show_at(minute, **body):
    meta = {"name": "a", "namespace": "shop", "uid": "1", "creationTimestamp": "2025-01-06T00:00:00Z"}
    given = {"kind": "Service", "apiVersion": "v1", "metadata": meta | body.pop("metadata", {}), **body}
    return build_row(Timestamp=f"2025-01-06 00:{minute:02}:00.000000000", Body=json.dumps(given))


@pytest.mark.parametrize(
    ("rows", "exact", "spec", "status"),
    [
        ([show_at(0, spec=1), show_at(5, spec=1)], True, "00:00", None),
        ([show_at(0, spec=1), show_at(5, spec=2), show_at(10, spec=2)], True, "00:05", None),
        ([show_at(0, spec=1), show_at(5, spec=2), show_at(10, spec=1)], True, "00:10", None),
        ([show_at(0, spec=1, status="a"), show_at(5, spec=1, status="b")], True, "00:00", "00:05"),
        ([show_at(minute, metadata={"resourceVersion": f"{minute}"}) for minute in (0, 5)], True, "00:00", None),
    ],
    ids=["never", "once", "and back", "status alone", "a version is no change"],
)  # fmt: skip
def test_change_time_is_the_first_list_showing_it(rows, exact, spec, status):
    (obj,) = list_present(rows, exact=exact)
    times = {each.get("subresource", ""): each["time"][11:16] for each in obj["metadata"]["managedFields"]}
    assert times == {"": spec} | ({"status": status} if status else {})


def test_object_absent_from_the_last_list_is_deleted():
    rows = [show_at(0), show_at(4, metadata={"name": "b", "uid": "2"}), show_at(8)]
    assert [o["metadata"]["name"] for o in list_present(rows, exact=True)] == ["a"]
    assert [o["metadata"]["name"] for o in list_present(rows, exact=False)] == ["a", "b"]
    late = [*rows, show_at(20)]
    assert [o["metadata"]["name"] for o in list_present(late, exact=False)] == ["a"]


def test_recreated_object_counts_once():
    (obj,) = list_present([show_at(0, spec=1), show_at(5, spec=2, metadata={"uid": "2"})], exact=False)
    assert obj["spec"] == 2


def test_events_of_both_api_groups_are_merged(evidence):
    (event,) = evidence.list("Event")
    assert (event["message"], event["involvedObject"]["name"]) == ("Started container", "cart-5d9c-x1")
    deleted = [{"Body": json.dumps({"type": kind, "object": event})} for kind in ("ADDED", "DELETED")]
    assert list_events(deleted) == []


@pytest.mark.parametrize(
    ("active", "start"),
    [("2025-01-06T00:00:00.123456789Z", 1_736_121_600.123456), ("2025-01-06T00:00:00Z", 1_736_121_600.0), ("", 5.0),
     ("soon", 5.0)],
)  # fmt: skip
def test_active_time_is_parsed(active, start):
    (timeline,) = build_history([{"labels": {"alertname": "A"}, "state": "pending", "activeAt": active}], 5.0).timelines
    assert timeline.pending[0].start == pytest.approx(start)
    assert timeline.firing == ()


def test_untagged_samples_use_columns_as_labels():
    rows = [
        build_row(
            metric_name="m", timestamp=f"2025-01-06 00:00:{second}", value=value, service_name="cart", namespace="shop",
            bucket_le="+Inf",
        )
        for second, value in (("00.000", "1.0"), ("15.000", "broken"), ("3", "2.0"))
    ]  # fmt: skip
    (series,) = collect_series(rows, "service_name")
    assert series.labels == {"__name__": "m", "service_name": "cart", "namespace": "shop", "le": "+Inf"}
    assert [value for _, value in series.points] == [1.0]


@pytest.mark.parametrize(
    ("path", "query", "names"),
    [
        ("/api/v1/namespaces/shop/pods", "", ["cart-5d9c-x1", "web-5d9c-x1"]),
        ("/api/v1/pods", "labelSelector=app%3Dcart", ["cart-5d9c-x1"]),
        ("/api/v1/pods", "labelSelector=app+notin+(cart)", ["web-5d9c-x1"]),
        ("/api/v1/pods", "fieldSelector=metadata.name%3Dcart-5d9c-x1", ["cart-5d9c-x1"]),
        ("/api/v1/pods", "fieldSelector=status.phase%21%3DRunning", []),
        ("/api/v1/namespaces/other/pods", "", []),
        ("/api/v1/namespaces", "", ["shop"]),
        ("/api/v1/nodes", "", ["worker-1"]),
        ("/apis/apps/v1/deployments", "", ["cart", "web"]),
        ("/apis/networking.k8s.io/v1/networkpolicies", "", []),
        ("/api/v1/events", "fieldSelector=involvedObject.name%3Dcart-5d9c-x1", ["cart.1"]),
    ],
)
def test_api_lists(api, path, query, names):
    status, document = ask(api, path, query)
    assert (status, [each["metadata"]["name"] for each in document["items"]]) == (200, names)


@pytest.mark.parametrize(
    ("method", "path", "query", "status", "says"),
    [
        ("GET", "/api/v1/namespaces/shop/pods/no", "", 404, 'pods "no" not found'),
        ("GET", "/apis/apps/v1/namespaces/shop/deployments/no", "", 404, 'deployments.apps "no" not found'),
        ("GET", "/apis/chaos-mesh.org/v1alpha1/podchaos", "", 404, "could not find"),
        ("GET", "/api/v1/namespaces/shop/pods/web-5d9c-x1/exec", "", 404, "could not find"),
        ("GET", "/", "", 404, "could not find"),
        ("GET", "/api/v1/pods", "labelSelector=%28", 400, "unable to parse"),
        ("GET", "/api/v1/pods", "fieldSelector=spec.x%3D1", 400, "field label not supported"),
        ("GET", "/api/v1/pods", "watch=true", 405, "cannot be watched"),
        ("DELETE", "/api/v1/namespaces/shop/pods/web-5d9c-x1", "", 405, "it is read-only"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", 405, "it is read-only"),
        ("GET", "/api/v1/namespaces/shop/pods/web-5d9c-x1/log", "container=no", 400, "is not valid"),
        ("GET", "/api/v1/namespaces/shop/pods/web-5d9c-x1/log", "tailLines=x", 400, "whole number"),
        ("GET", "/api/v1/namespaces/shop/pods/web-5d9c-x1/log", "sinceTime=x", 400, "sinceTime"),
        ("GET", "/api/v1/namespaces/shop/pods/web-5d9c-x1/log", "previous=true", 400, "previous container instances"),
    ],
)
def test_api_refuses(api, method, path, query, status, says):
    observed, document = ask(api, path, query, method=method)
    assert (observed, document["kind"]) == (status, "Status")
    assert says in document["message"]


@pytest.mark.parametrize(
    ("query", "lines"),
    [("", 2), ("tailLines=1", 1), ("tailLines=0", 0), ("sinceSeconds=300", 1), ("sinceTime=2025-01-06T00:05:00Z", 1)],
)
def test_api_answers_lines(api, query, lines):
    status, text = ask(api, "/api/v1/namespaces/shop/pods/web-5d9c-x1/log", query)
    assert (status, len(text.splitlines())) == (200, lines)


def test_api_serves_tables(api):
    _, table = ask(api, "/api/v1/namespaces/shop/pods", accept=TABLE)
    assert [each["name"] for each in table["columnDefinitions"]][:5] == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert table["rows"][0]["cells"][:5] == ["cart-5d9c-x1", "1/1", "Running", "0", "10m"]
    _, one = ask(api, "/apis/apps/v1/namespaces/shop/deployments/cart", accept=TABLE)
    assert one["rows"][0]["cells"][:4] == ["cart", "1/1", "1", "1"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (600, "10m"), (10_799, "179m"), (10_800, "3h"),
     (12_000, "3h20m"), (30_000, "8h"), (172_800, "2d"), (180_000, "2d2h"), (864_000, "10d"), (-5, "<invalid>")],
)  # fmt: skip
def test_age_is_formatted_as_kubectl_does(seconds, text):
    assert format_age(seconds) == text


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"phase": "Pending"}, "Pending"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}, "CrashLoopBackOff"),
        ({"containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}, "ExitCode:3"),
        ({"containerStatuses": [{"state": {"terminated": {"signal": 9}}}]}, "Signal:9"),
        ({"initContainerStatuses": [{"state": {"running": {}}}]}, "Init:0/1"),
        ({"initContainerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]}, "Init:ErrImagePull"),
        ({"initContainerStatuses": [{"state": {"terminated": {"exitCode": 0}}}], "phase": "Running"}, "Running"),
    ],
)
def test_status_of_a_pod(status, text):
    assert find_pod_status({"metadata": {}, "spec": {"initContainers": [{}]}, "status": status}) == text


def test_a_started_sidecar_does_not_keep_a_pod_initializing() -> None:
    spec = {"initContainers": [{"name": "proxy", "restartPolicy": "Always"}], "containers": [{"name": "web"}]}
    proxy = {"name": "proxy", "state": {"running": {}}, "ready": True, "restartCount": 2}
    status = {"phase": "Running", "initContainerStatuses": [{**proxy, "started": True}]}

    assert find_pod_status({"metadata": {}, "spec": spec, "status": status}) == "Running"
    status["initContainerStatuses"] = [{**proxy, "started": False}]
    assert find_pod_status({"metadata": {}, "spec": spec, "status": status}) == "Init:0/1"


def test_logs_of_a_non_pod_are_not_found(evidence):
    with pytest.raises(NotFound):
        evidence.logs(evidence.list("Service")[0])


@pytest.fixture
def kubectl(evidence, tmp_path, binary):
    from scenario_kit.cli.solving.snapshot_services import SnapshotKubectl

    binary("kubectl")
    made = SnapshotKubectl(evidence, tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("cmd", "ok", "says"),
    [
        ("get pods", True, "web-5d9c-x1"),
        ("get po -A -o wide", True, "10.244.0.9"),
        ("get all", True, "deployment.apps/cart"),
        ("get svc cart -o jsonpath={.spec.ports[0].targetPort}", True, "9999"),
        ("describe svc cart", True, "TargetPort:"),
        ("get events", True, "Started container"),
        ("logs deploy/web --tail=1", True, "connection refused"),
        ("get nosuch", False, "doesn't have a resource type"),
        ("delete pod web-5d9c-x1", False, "which is read-only"),
        ("exec web-5d9c-x1 -- ls", False, "which is read-only"),
        ("top pods", False, "get_metrics"),
    ],
)
def test_real_kubectl_reads_a_snapshot(kubectl, cmd, ok, says):
    from scenario_kit.solver.gateway.kubectl_command import parse_kubectl

    answer = kubectl.run(parse_kubectl(cmd))
    assert says in answer.content
    assert answer.ok == ok


def test_prometheus_answers_from_a_snapshot(evidence, tmp_path, binary):
    from scenario_kit.cli.solving.snapshot_services import SnapshotMetrics

    binary("prometheus")
    metrics = SnapshotMetrics(evidence, tmp_path)
    try:
        (series,) = metrics.instant("count_over_time(up[20m])", evidence.now)
        assert series.points[0][1] == 11
        (series,) = metrics.range("up", evidence.now - 120, evidence.now, 60.0)
        assert len(series.points) == 3
    finally:
        metrics.close()
