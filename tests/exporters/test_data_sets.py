"""Snapshots as RCAEval cases and OpenRCA systems: files, numbers, answers, refusals."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.errors import AuthoringError
from scenario_kit.exporters.root_components import find_root_components
from scenario_kit.exporters.service_metrics import compute_quantile, compute_rates, read_service_metrics
from scenario_kit.exporters.snapshot_incident import InjectedFault, SnapshotIncident
from scenario_kit.model.kubernetes.timestamp import Timestamp
from scenario_kit.scoring.entities.truth import CausalEdge, IncidentTruth, TruthGroup
from scenario_kit.snapshot.folder.manifest import Manifest, SnapshotTimes
from scenario_kit.snapshot.reader import SnapshotFolder
from tests.snapshot.recordings import play, play_control, write


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(play(1)[0], tmp_path_factory.mktemp("snapshots"))


def export(kind: str, snapshot: Path, out: Path) -> Path:
    assert run(["export", kind, str(snapshot), "--out", str(out)]) == 0
    (folder,) = out.iterdir()
    return folder


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_rcaeval_case_is_named_after_its_truth(snapshot: Path, tmp_path: Path) -> None:
    system = export("rcaeval", snapshot, tmp_path / "out")
    assert system.name == "otel-demo"
    (case,) = system.glob("*/*")
    assert case.relative_to(system).as_posix() == "cart_deployment-scaled-to-zero/1"
    starts = [int(row["startTime"]) / 1e6 for row in read(case / "traces.csv")]
    assert min(starts) < int((case / "inject_time.txt").read_text()) < max(starts)
    assert (case / "data.csv").read_bytes() == (case / "simple_metrics.csv").read_bytes()
    assert json.loads((case / "cluster_info.json").read_text()) == {"namespaces": ["otel-demo"]}


def write_series(path: Path, rows: list[tuple[str, int, float, dict[str, str]]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        table = csv.writer(stream, delimiter="\t")
        table.writerow(("metric_name", "timestamp", "value", "tags"))
        for name, second, value, tags in rows:
            table.writerow((name, f"2025-01-06 00:00:{second:02d}.000", value, repr(tags)))


def test_service_metrics_combine_pods_and_spans(tmp_path: Path) -> None:
    (tmp_path / "alerts").mkdir()
    for pod, cpu in (("cart-5d9-abcde", 3.0), ("cart-5d9-fghij", 6.0)):
        series = [
            ("kube_pod_owner", 0, 1.0, {"owner_kind": "ReplicaSet", "owner_name": "cart-5d9"}),
            *(("container_cpu_usage_seconds_total", s, cpu * (s > 0), {"container": "c", "id": pod}) for s in (0, 15)),
            ("container_memory_working_set_bytes", 15, 100.0, {"container": "c"}),
        ]
        write_series(tmp_path / "metrics" / f"pod_{pod}_raw.tsv", series)
    served = {"span_kind": "SPAN_KIND_SERVER", "span_name": "GET /", "status_code": "STATUS_CODE_UNSET"}
    failed = {**served, "status_code": "STATUS_CODE_ERROR"}
    client_calls = {**served, "span_kind": "SPAN_KIND_CLIENT"}
    count, bucket = (f"traces_span_metrics_duration_milliseconds_{part}" for part in ("count", "bucket"))
    series = [
        *((count, s, 30.0 * (s > 0), tags) for tags in (served, failed, client_calls) for s in (0, 15)),
        *((bucket, s, 30.0 * (s > 0), {**served, "le": le}) for le in ("10", "+Inf") for s in (0, 15)),
    ]
    write_series(tmp_path / "metrics" / "service_cart_raw.tsv", series)
    found = {(sample.service, sample.metric): sample for sample in read_service_metrics(SnapshotFolder(tmp_path))}
    assert {metric: sample.value for (_, metric), sample in found.items()} == {
        "cpu": pytest.approx(0.6), "mem": 200, "workload": pytest.approx(4), "error": pytest.approx(2),
        "latency-50": pytest.approx(0.005), "latency-90": pytest.approx(0.009),
    }  # fmt: skip
    assert {service for service, _ in found} == {"cart"}
    assert {metric for _, metric in found} == {"cpu", "mem", "workload", "error", "latency-50", "latency-90"}
    assert len({sample.at for sample in found.values()}) == 1


def test_rcaeval_has_all_spans_and_log_lines(snapshot: Path, tmp_path: Path) -> None:
    (case,) = export("rcaeval", snapshot, tmp_path / "out").glob("*/*")
    for name, table in (("traces.csv", "otel_traces_raw.tsv"), ("logs.csv", "otel_logs_raw.tsv")):
        with (snapshot / table).open(newline="") as stream:
            recorded = list(csv.DictReader(stream, delimiter="\t"))
        assert len(read(case / name)) == len(recorded) > 0
    span = read(case / "traces.csv")[0]
    assert int(span["startTime"]) // 1000 == int(span["startTimeMillis"])
    assert {row["statusCode"] for row in read(case / "traces.csv")} <= {"0", "2"}


def score(prediction: dict[str, dict[str, str]], points: str) -> float:
    """Score as OpenRCA does where there is one failure: met points / points, values up to the ends of lines."""
    (answer,) = prediction.values()
    expected = {
        "root cause component": re.findall(r"The only predicted root cause component is ([^\n]+)", points),
        "root cause reason": re.findall(r"The only predicted root cause reason is ([^\n]+)", points),
        "root cause occurrence datetime": re.findall(
            r"The only root cause occurrence time is within 1 minutes \(i.e., <=1min\) of ([^\n]+)", points
        ),
    }
    met = [answer[key] == value for key, values in expected.items() for value in values]
    return sum(met) / len(met)


def test_openrca_record_answers_its_queries(snapshot: Path, tmp_path: Path) -> None:
    system = export("openrca", snapshot, tmp_path / "out")
    (record,) = read(system / "record.csv")
    assert (record["level"], record["component"], record["reason"]) == ("service", "cart", "deployment scaled to zero")
    oracle = {
        "1": {
            "root cause occurrence datetime": record["datetime"],
            "root cause component": record["component"],
            "root cause reason": record["reason"],
        }
    }
    wrong = {"1": dict.fromkeys(oracle["1"], "frontend")}
    queries = read(system / "query.csv")
    assert [query["task_index"] for query in queries] == [f"task_{i}" for i in range(1, 8)]
    for query in queries:
        assert score(oracle, query["scoring_points"]) == 1
        assert score(wrong, query["scoring_points"]) == 0
        assert "network delay" in query["instruction"]  # reasons that it was not, too
        assert "Components are" in query["instruction"]
    (day,) = (system / "telemetry").iterdir()
    assert re.fullmatch(r"\d{4}_\d\d_\d\d", day.name)
    assert sorted(path.relative_to(day).as_posix() for path in day.rglob("*.csv")) == [
        "log/log_service.csv", "metric/metric_container.csv", "metric/metric_service.csv", "trace/trace_span.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["rcaeval", "openrca"])
def test_control_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control = write(play_control(2), tmp_path / "snapshots", control=True)
    assert run(["export", kind, str(control), "--out", str(tmp_path / "out")]) == 1
    assert "nothing is broken there" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def build(*groups: TruthGroup, edges: tuple[CausalEdge, ...] = ()) -> SnapshotIncident:
    times = SnapshotTimes(start=Timestamp("2025-01-06T00:00:00Z"), handover=Timestamp("2025-01-06T00:10:00Z"))
    manifest = Manifest(name="Scenario-1", app="shop 1", clock="Virtual", seed=1, times=times)
    truth = IncidentTruth(incident="x", groups=groups, edges=edges)
    faults = tuple(InjectedFault(g.id, "t", float(i), (g.id,)) for i, g in enumerate(groups) if g.root)
    return SnapshotIncident(Path("x"), manifest, truth, "", ("shop",), (), faults)


def group(id: str, *, root: bool = False) -> TruthGroup:
    kind, _, name = id.partition("/")
    return TruthGroup(id=id, kind=kind, names=(name,), root=root)


def edge(source: str, target: str) -> CausalEdge:
    return CausalEdge(source=source, target=target)


@pytest.mark.parametrize(
    ("incident", "expected"),
    [
        (build(group("Deployment/a", root=True)), [("a", "service")]),
        (build(group("Service/a", root=True), group("Deployment/b")), [("a", "service")]),
        (build(group("Node/n", root=True)), [("n", "node")]),
        (
            build(
                group("ConfigMap/c", root=True), group("Secret/s"), group("Deployment/near"), group("Deployment/far"),
                edges=(
                    edge("ConfigMap/c", "Secret/s"), edge("Secret/s", "Deployment/near"),
                    edge("Deployment/near", "Deployment/far"),
                ),
            ),
            [("near", "service")],
        ),
        (
            build(group("Deployment/b", root=True), group("Deployment/a", root=True)),
            [("b", "service"), ("a", "service")],
        ),
    ],
)  # fmt: skip
def test_root_cause_is_component_or_first_victim(incident, expected) -> None:
    assert [(root.name, root.level) for root in find_root_components(incident)] == expected


def test_cause_without_affected_component_is_refused() -> None:
    with pytest.raises(AuthoringError, match="ConfigMap/c is not a component and affects none"):
        find_root_components(build(group("ConfigMap/c", root=True)))


def test_fallen_counter_counts_as_a_reset() -> None:
    assert list(compute_rates({0.0: 10.0, 15.0: 40.0, 30.0: 3.0})) == [(15.0, 2.0), (30.0, 0.2)]


@pytest.mark.parametrize(
    ("share", "buckets", "expected"),
    [
        (0.5, [(10, 4), (20, 8), (float("inf"), 8)], 10),
        (0.9, [(10, 5), (20, 10), (float("inf"), 10)], 18),
        (0.9, [(10, 5), (20, 5), (float("inf"), 10)], 20),  # beyond the last bound: that one
        (0.5, [(10, 0), (float("inf"), 0)], None),
        (0.5, [], None),
    ],
)
def test_quantiles_match_prometheus(share, buckets, expected) -> None:
    assert compute_quantile(share, buckets) == (pytest.approx(expected) if expected is not None else None)
