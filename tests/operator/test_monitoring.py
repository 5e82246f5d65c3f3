"""The probes and metrics of the operator."""

import re
import urllib.error
import urllib.request

import pytest

from operators.monitoring.endpoint import SILENCE_SECONDS, Heartbeat, OperatorEndpoint, parse_address, serve
from operators.monitoring.measurements import Measurements, list_ended
from scenario_kit.catalog import find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.model import StepStatus
from scenario_kit.trial import TrialStatus


def probes(*, beats=True, silent=0.0, missing="", measurements=None):
    now = [0.0]
    heartbeat = Heartbeat(lambda: now[0])
    if beats:
        heartbeat.beat()
    now[0] = silent
    return OperatorEndpoint(heartbeat, lambda: missing, (measurements or Measurements()).registry)


@pytest.mark.parametrize(
    ("setting", "alive", "ready"),
    [
        ({}, 200, 200),
        ({"silent": SILENCE_SECONDS}, 200, 200),
        ({"silent": SILENCE_SECONDS + 1}, 503, 503),
        ({"beats": False, "silent": 9999.0}, 200, 200),
        ({"missing": "the API server does not answer"}, 200, 503),
    ],
    ids=["works", "late", "hung", "waits for the Lease", "no API server"],
)
def test_probes_report_liveness_and_readiness(setting, alive, ready):
    server = probes(**setting)
    assert server.answer("/healthz")[0] == alive
    status, _, body = server.answer("/readyz?verbose")
    assert status == ready
    assert (body == b"ok\n") == (ready == 200)


def step(index, outcome, kind="inject"):
    return StepStatus(index=index, step=f"{kind} x", outcome=outcome, started_at=10.0, finished_at=40.0)


def test_steps_and_trials_are_counted_once():
    measurements = Measurements()
    running = TrialStatus(steps=(step(0, "Held", "deploy"), step(1, "Running")))
    ended = TrialStatus(steps=(step(0, "Held", "deploy"), step(1, "Broken"), step(2, "Skipped")), outcome="Broken")
    for before, after in ((TrialStatus(), running), (running, running), (running, ended), (ended, ended)):
        measurements.count_progress(before, after)
    with pytest.raises(UsageError):
        measurements.count_errors("scenario", lambda: parse_address("x"))()
    assert measurements.count_errors("scenario", lambda: 7)() == 7
    text = probes(measurements=measurements).answer("/metrics")[2].decode()
    assert 'scenario_kit_operator_steps_total{outcome="Held",step="deploy"} 1.0' in text
    assert 'scenario_kit_operator_steps_total{outcome="Broken",step="inject"} 1.0' in text
    assert 'scenario_kit_operator_step_seconds_sum{step="inject"} 30.0' in text
    assert 'scenario_kit_operator_trials_total{outcome="Broken"} 1.0' in text
    assert 'scenario_kit_operator_handler_errors_total{handler="scenario"} 1.0' in text
    assert "scenario_kit_operator_leader 0.0" in text
    assert 'outcome="Skipped"' not in text


def test_retried_step_is_counted_when_it_ends():
    assert [
        s.index for s in list_ended(TrialStatus(steps=(step(0, "Running"),)), TrialStatus(steps=(step(0, "Infra"),)))
    ] == [0]


@pytest.mark.parametrize(
    ("text", "address"), [("127.0.0.1:8080", ("127.0.0.1", 8080)), ("[::]:1", ("::", 1)), ("0.0.0.0:0", ("0.0.0.0", 0))]
)
def test_address(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["8080", ":8080", "host", "host:", "host:http", "host:70000"])
def test_invalid_address_is_refused(text):
    with pytest.raises(UsageError, match="HOST:PORT"):
        parse_address(text)


def test_paths_are_served():
    server = serve(("127.0.0.1", 0), probes())
    try:
        base = f"http://127.0.0.1:{server.server_address[1]}"
        with urllib.request.urlopen(f"{base}/metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain")
            assert b"# HELP scenario_kit_operator_leader" in answer.read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{base}/debug")
        assert refused.value.code == 404
        with pytest.raises(UsageError, match="in use"):
            serve(("127.0.0.1", server.server_address[1]), probes())
    finally:
        server.shutdown()
        server.server_close()


def test_every_metric_is_documented():
    page = (find_data_root() / "docs" / "install.md").read_text()
    described = {name.removesuffix("_total") for name in re.findall(r"`(scenario_kit_operator_\w+)`", page)}
    assert described == {family.name for family in Measurements().registry.collect()}
