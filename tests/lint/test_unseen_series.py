"""Alert rules over series that nothing exports, and suggested corrections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file
from scenario_kit.lint.fix import fix_file
from scenario_kit.lint.rules.alerts.series_of_app import list_unseen
from scenario_kit.lint.rules.alerts.unseen_series import list_exported
from scenario_kit.model.twin.telemetry import Exporter, Signal
from tests.lint.test_pack_rules import pack
from tests.lint.truth_violations import build_pack_rule

CATALOG = Catalog()
CALLS = "traces_span_metrics_calls_total"
UP = Signal(measure="Constant")
NAME, LABEL, VALUE = "a series that nothing exports", "a label that", "a value that"


def list_messages(path: Path) -> list[str]:
    return [f.message.removeprefix("'CartFails' asks for ") for f in lint_file(path, CATALOG) if f.code == "SK315"]


@pytest.mark.parametrize(
    ("expr", "messages"),
    [
        (f"sum(rate({CALLS}[2m])) > 5", []),
        (f'sum(rate({CALLS}{{service_name=~"cart|ad"}}[2m])) > 5', []),
        (f'sum(rate({CALLS}{{service_name!="nobody"}}[2m])) > 5', []),
        (f'sum(rate({CALLS}{{tier=""}}[2m])) > 5', []),
        (f'sum(rate({CALLS}{{tier!~"edge"}}[2m])) > 5', []),
        (f'sum(rate({{__name__="{CALLS}"}}[2m])) > 5', []),
        ('sum({__name__=~"kube_.+"}) > 5', []),
        (f'sum by (tier) (label_replace({CALLS}, "tier", "$1", "service_name", "(.+)")) > 5', []),
        ('kube_pod_container_status_waiting_reason{reason=~"ErrImage.*|ImagePull.*"} > 0', []),
        ("histogram_quantile(0.9, sum by (le) (rate(traces_span_metrics_duration_milliseconds_bucket[5m]))) > 9", []),
        ("rate(traces_span_metrics_call_total[2m]) > 5", [f"{NAME}: traces_span_metrics_call_total"]),
        ("up == 0", [f"{NAME}: up"]),
        ('absent({__name__="nothing_total"})', [f"{NAME}: nothing_total"]),
        (f'rate({CALLS}{{service="cart"}}[2m]) > 5', [f"{LABEL} {CALLS} does not have: service"]),
        (f'rate({CALLS}{{service_name="carts"}}[2m]) > 5', [f'{VALUE} service_name of {CALLS} never has: "carts"']),
        (f'{CALLS}{{status_code=~"ERROR|FAILED"}} > 5', [f'{VALUE} status_code of {CALLS} never has: "ERROR|FAILED"']),
        ('kube_pod_status_phase{phase="Dead"}', [f'{VALUE} phase of kube_pod_status_phase never has: "Dead"']),
        ('kube_pod_status_ready{condition="True"}', [f'{VALUE} condition of kube_pod_status_ready never has: "True"']),
        (f"sum by (service) (rate({CALLS}[2m])) > 5", [f"groups by a label that {CALLS} does not have: service"]),
        (f"sum by (service_name, cluster, job) (rate({CALLS}[2m])) > 5", []),
        (
            "sum by (tier) (kube_pod_owner + kube_pod_info) > 5",
            ["groups by a label that kube_pod_owner and kube_pod_info do not have: tier"],
        ),
        (f"sum(rate({CALLS}[2m])) > 5 and on () absent(nothing_total)", [f"{NAME}: nothing_total"]),
    ],
)  # fmt: skip
def test_impossible_series_are_reported(expr: str, messages: list[str], tmp_path: Path) -> None:
    assert list_messages(pack([build_pack_rule(expr=expr)], tmp_path)) == messages


def write(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "catalog" / "alerts" / "own.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


RECORDED = {"record": "sli:errors:ratio", "expr": f"sum(rate({CALLS}[5m]))"}


@pytest.mark.parametrize(("recorded", "count"), [("sli:errors:ratio", 0), ("sli:errors:ration", 1)])
def test_recorded_series_exist(recorded: str, count: int, tmp_path: Path) -> None:
    rules = [RECORDED, build_pack_rule(expr=f"{recorded} > 5")]
    assert len(list_messages(write(tmp_path, {"groups": [{"name": "own", "rules": rules}]}))) == count


def test_recording_rules_and_prometheus_rule_objects_are_checked(tmp_path: Path) -> None:
    rules = [{**RECORDED, "expr": "sum(rate(nothing_total[5m]))"}]
    groups = [{"name": "own", "rules": rules}]
    document = {
        "apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "metadata": {"name": "own"},
        "spec": {"groups": groups},
    }  # fmt: skip
    (finding,) = [f for f in lint_file(write(tmp_path, document), CATALOG) if f.code == "SK315"]
    assert finding.message == "'sli:errors:ratio' asks for a series that nothing exports: nothing_total"
    assert finding.position is not None


@pytest.mark.parametrize(
    ("expr", "meant"),
    [
        ("rate(traces_span_metrics_call_total[2m]) > 5", f"rate({CALLS}[2m]) > 5"),
        (f'rate({CALLS}{{service_name="carts"}}[2m]) > 5', f'rate({CALLS}{{service_name="cart"}}[2m]) > 5'),
        ('kube_pod_status_ready{condition="True"} > 0', 'kube_pod_status_ready{condition="true"} > 0'),
        ("http_requests_total > 5", None),
    ],
)
def test_fix_writes_the_unambiguous_series(expr: str, meant: str | None, tmp_path: Path) -> None:
    result = fix_file(pack([build_pack_rule(expr=expr)], tmp_path), CATALOG)
    assert yaml.safe_load(result.new)["groups"][0]["rules"][0]["expr"] == (meant or expr)


def test_series_of_an_exporter_of_the_twin_exists() -> None:
    app = CATALOG.app("otel-demo", "2.2.0")
    assert app.twin is not None
    own = Exporter(component="kafka", port=9308, series={"own_total": Signal(measure="Calls"), 'up_own{a="b"}': UP})
    more = msgspec.structs.replace(app, twin=msgspec.structs.replace(app.twin, exporters=(own,)))
    assert list_exported(more) == {"own_total", "up_own"}
    assert list_exported(app) == frozenset(), "series.yaml has those of the catalogue's apps"
    assert list_unseen("own_total + nothing_total", more) == {"nothing_total": f"{NAME}: nothing_total"}
    assert set(list_unseen("own_total + nothing_total", app)) == {"own_total", "nothing_total"}
