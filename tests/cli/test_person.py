"""Input at the prompt of ``solve --human``."""

import pytest

from scenario_kit.cli.solving.person import BadInput, PersonSolver, parse_input
from scenario_kit.solver.programs.drive import SolverGone
from scenario_kit.solver.protocol.messages import (
    STAGES,
    CallMessage,
    EscalateMessage,
    NoteMessage,
    OfferedLimits,
    StartMessage,
    StopMessage,
    SubmitMessage,
)


def answer(*names):
    entities = [{"name": name, "contributing_factor": True, "reasoning": "", "evidence": ""} for name in names]
    return {"entities": entities, "propagations": [], "alerts_explained": []}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "kubectl get pods -o wide",
            CallMessage(tool="exec_kubectl_cmd_safely", arguments={"cmd": "get pods -o wide"}),
        ),
        ("  alerts ", CallMessage(tool="get_alerts")),
        ("metrics sum(up)", CallMessage(tool="get_metrics", arguments={"query": "sum(up)"})),
        ('logs {app="cart"} |= "x"', CallMessage(tool="get_logs", arguments={"query": '{app="cart"} |= "x"'})),
        ("errors cart", CallMessage(tool="get_traces", arguments={"service": "cart", "errors": True})),
        ("wait 60", CallMessage(tool="wait", arguments={"seconds": 60.0})),
        ("note the cart?", NoteMessage(text="the cart?")),
        ("submit Service/cart other/Pod/x", SubmitMessage(answer=answer("shop/Service/cart", "other/Pod/x"))),
        ("submit", SubmitMessage(answer=answer())),
        ("escalate not mine", EscalateMessage(reason="not mine")),
        ("escalate Service/db  it is down", EscalateMessage(to="shop/Service/db", reason="it is down")),
        ("escalate x/Service/db down", EscalateMessage(to="x/Service/db", reason="down")),
        ("quit", StopMessage(reason="the person stopped")),
        ("", None),
        ("help", None),
    ],
)
def test_line_means(line, message):
    assert parse_input(line, "diagnosis", "shop") == message


def test_mitigation_has_no_answer():
    assert parse_input("submit", "mitigation", "shop") == SubmitMessage()


@pytest.mark.parametrize("line", ["ls", "wait a while", "submit cart", "submit 'Service/cart", "escalate Service/db"])
def test_unknown_input_line_is_refused(line):
    with pytest.raises(BadInput):
        parse_input(line, "diagnosis", "shop")


def test_person_at_the_prompt(monkeypatch, capsys):
    typed = iter(["nonsense", "help", "kubectl apply -f - <<EOF", "kind: Pod", "EOF"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(typed))
    person = PersonSolver()
    limits = OfferedLimits(turns=5)
    person.tell(StartMessage(
        protocol=1, incident="incident-1", brief="It is slow.", namespaces=("shop",), stages=STAGES, clock="virtual",
        seconds_per_call=15.0, now="2026-11-26T10:00:00Z", limits=limits, tools=(), answer="",
    ))  # fmt: skip
    command = "apply -f - <<EOF\nkind: Pod\nEOF"
    assert person.ask(None) == CallMessage(tool="exec_kubectl_cmd_safely", arguments={"cmd": command})
    message = capsys.readouterr().out
    assert "It is slow." in message
    assert "unknown command 'nonsense'" in message
    assert message.count("escalate NAME REASON") == 2

    def close(_prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", close)
    with pytest.raises(SolverGone):
        person.ask(None)
