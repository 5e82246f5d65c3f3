"""The MCP server, driven by the SDK's own client: in process and by HTTP; by stdio it is in tests/e2e."""

import json
import threading

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client

from scenario_kit.errors import UsageError
from scenario_kit.solver.programs.drive import drive
from scenario_kit.solver.programs.mcp_bridge import CallBridge
from scenario_kit.solver.programs.mcp_server import build_server, serve_http
from scenario_kit.solver.session import SessionLimits

ANSWER = {"entities": [], "propagations": [], "alerts_explained": []}


@pytest.fixture
def serving(investigate):
    """A run whose solver is the client of the bridge."""
    threads = []

    def begin(**given):
        bridge, run = CallBridge(), investigate(**given)
        threads.append(threading.Thread(target=drive, args=(run, bridge)))
        threads[-1].start()
        return bridge, run

    def wait():
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()

    begin.wait = wait
    yield begin
    wait()


def use(server, *calls):
    """Connect, call, and return the texts and whether each call failed."""

    async def work():
        async with Client(server) as client:
            listed = await client.list_tools()
            replied = [await client.call_tool(name, arguments) for name, arguments in calls]
            return listed.tools, [(each.content[0].text, each.is_error) for each in replied]

    return anyio.run(work)


def test_client_solves(serving):
    bridge, run = serving()
    tools, replied = use(
        build_server(bridge, "It is slow."),
        ("get_incident", {}),
        ("exec_kubectl_cmd_safely", {"cmd": "kubectl get pods"}),
        ("exec_kubectl_cmd_safely", {"cmd": "rm -rf /"}),
        ("get_alerts", {}),
        ("submit", {"ans": json.dumps(ANSWER)}),
        ("submit", {}),
        ("get_alerts", {}),
    )
    assert {"exec_kubectl_cmd_safely", "get_metrics", "get_traces", "get_logs", "submit"} <= {
        each.name for each in tools
    }
    incident = json.loads(replied[0][0])
    assert (incident["brief"], incident["namespaces"], incident["limits"]["turns"]) == ("It is slow.", ["shop"], 100)
    assert [failed for _, failed in replied] == [False, False, True, False, False, False, False]
    assert replied[1][0] == "ran get/pods"
    assert "mitigation" in replied[4][0]
    assert "the run is over: finish" in replied[5][0]
    assert "the run is over" in replied[6][0], "what comes later changes nothing"
    assert (run.state.end, run.state.turns, run.state.answer) == ("finish", 5, ANSWER)


def test_by_http_the_address_is_the_key(serving):
    bridge, run = serving()
    url = serve_http(bridge, "It is slow.", 0, "secret-token")
    assert url.startswith("http://127.0.0.1:")
    assert "secret-token" in url
    _, replied = use(url, ("escalate", {"reason": "a database", "to": "shop/StatefulSet/db", "ans": ANSWER}))
    assert replied[0][0] == "the run is over: escalated (a database)"
    assert (run.state.end, run.state.answer) == ("escalated", ANSWER)
    assert run.state.escalated_to == "shop/StatefulSet/db"
    with pytest.raises(UsageError, match="is taken"):
        serve_http(bridge, "", int(url.split(":")[2].split("/")[0]), "other")


@pytest.mark.parametrize(
    ("calls", "message", "end", "answered"),
    [
        ([("submit", {})], "without an answer", "error", False),
        ([("submit", {"ans": "it is the cart"})], "mitigation", "error", True),
        ([("stop", {"reason": "tired"})], "over: error (tired)", "error", False),
        ([("escalate", {"reason": ""})], "without a reason", "error", False),
        ([("get_alerts", {})] * 3, "all 2 turns are used", "cap", False),
    ],
)
def test_invalid_client_calls_are_answered(serving, calls, message, end, answered):
    bridge, run = serving(limits=SessionLimits(turns=2))
    _, replied = use(build_server(bridge, ""), *calls)
    assert message in replied[-1][0]
    bridge.hang_up()
    serving.wait()
    assert (run.state.end, run.state.answered) == (end, answered)


def test_disconnected_client_ends_its_run(serving):
    bridge, run = serving()
    use(build_server(bridge, ""), ("submit", {"ans": ANSWER}))
    bridge.hang_up()
    serving.wait()
    assert (run.state.end, run.state.answer) == ("error", ANSWER)


def test_lab_error_is_reported_to_the_client(serving):
    bridge = CallBridge()
    bridge.fail("the lab is gone")
    _, replied = use(build_server(bridge, ""), ("get_incident", {}), ("get_alerts", {}))
    assert replied == [("the run is over: error (the lab is gone)", True)] * 2


def test_odd_arguments_are_answered(serving):
    bridge, run = serving()
    deep = "[" * 50_000 + "]" * 50_000
    nested = json.loads("[" * 100 + "]" * 100)
    _, replied = use(
        build_server(bridge, "It is slow."),
        ("no_such_tool", {"a": 1}),
        ("get_traces", {"service": ["cart"]}),
        ("get_metrics", {"query": "up", "step": "soon"}),
        ("get_alerts", {"unknown": True}),
        ("submit", {"ans": nested}),
        ("submit", {"ans": json.dumps(nested)}),
        ("submit", {"ans": deep}),
        ("submit", {"ans": deep[:-1]}),
        ("submit", {"ans": json.dumps(ANSWER)}),
        ("stop", {"reason": 5}),
    )
    assert [failed for _, failed in replied] == [True] * 8 + [False, False]
    assert "no tool 'no_such_tool'" in replied[0][0]
    assert "service" in replied[1][0]
    assert "step" in replied[2][0]
    assert "unknown" in replied[3][0]
    assert all("nested deeper" in text for text, _ in replied[4:8])
    assert (run.state.end, run.state.answer) == ("finish", ANSWER)
