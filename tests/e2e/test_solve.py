"""An incident in the hands of solvers: what docs/solve.md shows, as it stands there, in the lab of the session."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
from pages import ROOT, environment, perform, session

SCENARIO = "product-catalog-wrong-target-port"

#: What the Service is to be again.
REPAIR = '[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 8080}]'


def test_page_of_solvers(lab, tmp_path: Path) -> None:
    runs = tmp_path / "solutions"
    shown = [shown.command for shown in session((ROOT / "docs" / "solve.md").read_text())]
    commands = [command for command in shown if "--snapshot" not in command]  # tests/e2e/test_snapshot.py does
    solving = [f"{each} --name {lab.name} --runs {runs}" for each in commands[:-1]]
    message = perform([*solving, commands[-1].replace("solutions/", f"{runs}/")], ROOT)
    assert "recall_gated_precision" in message

    oracle, loudest, program = (
        json.loads((runs / SCENARIO / name / "1" / "record.json").read_text())
        for name in ("oracle", "loudest-alert", "python")
    )
    assert (oracle["stop_reason"], oracle["resolved"], oracle["stop_message"]) == ("finish", True, "")
    assert any(name.endswith("/Service/product-catalog") for name in oracle["changed"])
    assert (loudest["stop_reason"], loudest["resolved"], loudest["changed"]) == ("finish", False, [])
    assert len(loudest["answer"]["entities"]) == 1, "it saw an alert and blamed somebody"
    assert all(call["valid"] and call["ok"] for call in loudest["tool_calls"])
    assert any("product-catalog" in call["output"] for call in loudest["tool_calls"] if "cmd" in call["args"])
    assert (program["stop_reason"], program["turns"]) == ("finish", 2)
    assert "resolved" not in program
    assert 'alertname":"HighRequestErrorRate' in program["tool_calls"][0]["output"]
    assert program["end"] - program["start"] == 30

    for record in (loudest, program):  # what is wrong is in no answer that a solver got
        assert SCENARIO not in json.dumps(record["tool_calls"])


def test_client_of_mcp_solves_through_the_tools(lab, tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    import anyio
    from mcp import Client, StdioServerParameters

    named = [str(ROOT / "catalog" / "scenarios" / SCENARIO), "--name", lab.name, "--runs", str(tmp_path)]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "scenario_kit.cli", "mcp", *named], env=environment(), cwd=str(ROOT)
    )
    record = tmp_path / SCENARIO / "mcp" / "1" / "record.json"

    async def solve() -> list[str]:
        async with Client(server, read_timeout_seconds=200) as client:

            async def use(tool: str, **arguments: object) -> str:
                replied = await client.call_tool(tool, arguments)
                assert not replied.is_error, replied.content[0].text
                return replied.content[0].text

            home = json.loads(await use("get_incident"))["namespaces"][0]
            messages = [
                await use("get_alerts"),
                await use("exec_kubectl_cmd_safely", cmd="get svc product-catalog -o yaml"),
            ]
            query = 'kube_deployment_status_replicas_available{deployment="product-catalog"}'
            messages += [await use("get_metrics", query=query), await use("get_logs", query='{app="frontend"}')]
            messages += [await use("get_traces", service="frontend", errors=True)]
            cause = {"name": f"{home}/Service/product-catalog", "contributing_factor": True}
            messages += [await use("submit", ans={"entities": [cause], "propagations": [], "alerts_explained": []})]
            await use("exec_kubectl_cmd_safely", cmd=f"patch svc product-catalog --type=json -p '{REPAIR}'")
            await use("wait", seconds=600)
            messages += [await use("submit")]
            with anyio.fail_after(200):
                while not record.exists():  # it is judged once everything is said
                    await anyio.sleep(0.2)
            return messages

    messages = anyio.run(solve)
    assert "HighRequestErrorRate" in messages[0]
    assert "targetPort: 9999" in messages[1]
    assert all(home.count("items") for home in (messages[2], messages[4]))
    kept = json.loads(record.read_text())
    assert (kept["stop_reason"], kept["resolved"], kept["turns"]) == ("finish", True, 9)
    assert all(call["ok"] for call in kept["tool_calls"])
