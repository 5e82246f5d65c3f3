"""Live tasks of Harbor: their parts, the calls of the oracle, the way to the incident, and how a run is scored."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit import __version__
from scenario_kit.catalog import find_data_root
from scenario_kit.cli import run
from scenario_kit.exporters.formats.harbor_live import list_oracle_calls
from scenario_kit.exporters.rules import PROGRAMS, build_rules, load_verifier
from scenario_kit.exporters.scenario_incident import read_scenarios
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.solver.gateway.kubectl_command import parse_kubectl
from tests.scoring.truths import group
from tools.image import recipes

SCENARIOS = find_data_root() / "catalog" / "scenarios"
#: What ``scenario-kit mcp`` does, as far as the way to it is concerned.
SERVER = """#!{python}
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

records = Path(sys.argv[sys.argv.index("--runs") + 1])

class Answer(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/secret/mcp", self.path
        assert self.headers["Host"].startswith("127.0.0.1"), self.headers["Host"]
        result = {{"content": [{{"type": "text", "text": json.dumps(message.get("params"))}}], "isError": False}}
        call = (message.get("params") or {{}}).get("name")
        if call == "stop":
            place = records / "some-scenario" / "run" / "1"
            place.mkdir(parents=True)
            (place / "record.json").write_text('{{"run_id": "run-1"}}')
        body = json.dumps({{"jsonrpc": "2.0", "id": message.get("id"), "result": result}})
        self.send_response(200 if "id" in message else 202)
        self.send_header("Mcp-Session-Id", "one")
        self.end_headers()
        if "id" in message:
            text = f"event: message\\ndata: {{body}}\\n\\n" if call == "get_alerts" else body
            self.wfile.write(text.encode())

server = HTTPServer(("127.0.0.1", 0), Answer)
print(f"http://127.0.0.1:{{server.server_address[1]}}/secret/mcp", flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("live")
    names = ("cart-scaled-to-zero", "busy-afternoon", "hotel-all-errors")
    assert run(["export", "harbor-live", *(str(SCENARIOS / name) for name in names), "--out", str(out)]) == 0
    return out


def find_task(tasks: Path, scenario: str) -> Path:
    (found,) = [
        path for path in tasks.iterdir()
        if json.loads((path / "environment/incident/scenario.yaml").read_text())["metadata"]["name"] == scenario
    ]  # fmt: skip
    return found


def test_every_scenario_has_a_task_and_a_control(tasks: Path) -> None:
    assert len(list(tasks.iterdir())) == 5, "two incidents with their twins, and a control"
    for task in tasks.iterdir():
        config = tomllib.loads((task / "task.toml").read_text())
        (server,) = config["environment"]["mcp_servers"]
        assert server["url"] == "http://incident:8765/mcp"
        assert config["artifacts"] == [{"source": "/tmp/records/record.json", "service": "incident"}]
        assert config["verifier"]["collect"][0]["service"] == "incident"
        services = yaml.safe_load((task / "environment/docker-compose.yaml").read_text())["services"]
        assert set(services) == {"main", "incident"}
    one, twin = find_task(tasks, "cart-scaled-to-zero"), find_task(tasks, "cart-scaled-to-zero-control")
    assert (one / "instruction.md").read_bytes() == (twin / "instruction.md").read_bytes()
    assert json.loads((one / "tests/rules.json").read_text())["incident"] is True
    assert json.loads((twin / "tests/rules.json").read_text())["incident"] is False
    assert "faults" in [p.name for p in (find_task(tasks, "hotel-all-errors") / "environment/incident").iterdir()]


def test_agent_container_leaks_nothing(tasks: Path) -> None:
    for task in tasks.iterdir():
        shown = (task / "instruction.md").read_text() + (task / "environment/Dockerfile").read_text()
        assert "scaled" not in shown
        assert "COPY" not in (task / "environment/Dockerfile").read_text()


def test_oracle_repairs_use_solver_rights_only() -> None:
    unsolved = []
    for incident in read_scenarios([SCENARIOS]):
        calls = list_oracle_calls(incident)
        if calls is None:
            unsolved.append(incident.name)
            continue
        assert calls[0]["tool"] == calls[-1]["tool"] == "submit"
        for call in calls:
            if call["tool"] == "exec_kubectl_cmd_safely":
                parsed = parse_kubectl(call["arguments"]["cmd"], call["arguments"].get("stdin", ""))
                assert parsed.arguments
    assert sorted(unsolved) == [
        "charges-declined-half-the-time", "hotel-searches-late-without-a-trace", "orders-late-without-a-trace",
        "shop-slow-since-the-sale",
    ], "feature flags and commands in stores need more than kubectl"  # fmt: skip


def test_task_image_copies_lab_image_paths(tasks: Path) -> None:
    """Its paths, as tools/image lays them out."""
    lines = (find_task(tasks, "cart-scaled-to-zero") / "environment/incident/Dockerfile").read_text().splitlines()
    copied = [line.split()[2] for line in lines if line.startswith("COPY --from=lab")]
    assert copied == [f"/{recipes.PACKAGES}", recipes.LAB.entrypoint[0], f"/{recipes.CACHE}"]
    assert lines[0] == f"FROM {recipes.LAB.name}:{__version__} AS lab"


def test_repair_unsupported_by_kubectl_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SCENARIOS / "shop-slow-since-the-sale")
    assert run(["export", "harbor-live", path, "--out", str(tmp_path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [Path(each).name.endswith("-twin") for each in found["written"]] == [True]
    assert "only the control" in found["notes"][0]


RIGHT = {"contributing_factors": [{"name": "otel-demo-x/Deployment/cart"}]}


@pytest.mark.parametrize(
    ("outcome", "record", "reward"),
    [
        ("Incident", {"answer": RIGHT, "resolved": True}, 1.0),
        ("Incident", {"answer": RIGHT, "resolved": False}, 0.5),
        ("Incident", {"answer": RIGHT}, 0.5),
        ("Incident", {"answer": {"contributing_factors": []}, "resolved": True}, 0.5),
        ("Incident", {"resolved": False}, 0.0),
        ("Incident", {}, 0.0),
        ("NoIncident", {"answer": {"contributing_factors": []}}, 1.0),
        ("NoIncident", {"answer": RIGHT}, 0.0),
        ("NoIncident", {}, 0.0),
        ("NoIncident", None, 0.0),
    ],
)
def test_record_is_scored_by_diagnosis_and_mitigation(outcome: Any, record: Any, reward: float) -> None:
    truth = IncidentTruth(incident="one", outcome=outcome, groups=(group("cart", "Deployment/cart", root=True),))
    rules = json.loads(build_rules(truth).render())
    text = None if record is None else json.dumps(record)
    assert load_verifier().score_record(rules, text)["rewards"]["reward"] == reward


@pytest.fixture
def start_gateway(tmp_path: Path) -> Iterator[Path]:
    """The programs of an incident's container, with a server that stands for ``scenario-kit mcp``."""
    for name in ("incident_gateway.py", "incident_client.py"):
        shutil.copy(PROGRAMS / name, tmp_path)
    server = tmp_path / "scenario-kit"
    server.write_text(SERVER.format(python=sys.executable))
    server.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "incident_gateway.py", "scenario.yaml", "--port", "0", "--records", "records"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        (tmp_path / "port").write_text(str(port))
        yield tmp_path
    finally:
        process.terminate()
        process.wait()


def ask(start_gateway: Path, path: str) -> int:
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{(start_gateway / 'port').read_text()}{path}", timeout=10
        ) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_gateway_forwards_to_one_server_only(start_gateway: Path) -> None:
    port = (start_gateway / "port").read_text()
    assert ask(start_gateway, "/healthz") == 200
    assert (
        ask(start_gateway, "/metrics")
        == ask(start_gateway, "/secret/mcp")
        == ask(start_gateway, "/mcp/../healthz")
        == 404
    )
    calls = [{"tool": "get_alerts", "arguments": {"a": 1}}, {"tool": "submit", "arguments": {}}]
    (start_gateway / "calls.json").write_text(json.dumps(calls))
    url = f"http://127.0.0.1:{port}/mcp"
    command = [sys.executable, "incident_client.py", "--url", url, "--calls", "calls.json"]
    done = subprocess.run(command, cwd=start_gateway, capture_output=True, text=True, check=True)
    assert '"arguments": {"a": 1}' in done.stdout
    finish = [sys.executable, "incident_gateway.py", "--finish", "--port", port, "--records", "records"]
    subprocess.run(finish, cwd=start_gateway, check=True)
    assert json.loads((start_gateway / "records" / "record.json").read_text()) == {"run_id": "run-1"}
