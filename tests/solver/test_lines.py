"""Lines of the solver protocol: each is a message or a refusal with its problem."""

import json
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.solver.protocol.lines import (
    LONGEST_LINE,
    BadLine,
    decode_solver_line,
    encode_line,
    list_types,
)
from scenario_kit.solver.protocol.messages import CallMessage, EndMessage, KitMessage, StageMessage, SubmitMessage


def test_messages_survive_the_way():
    call = CallMessage(tool="wait", id="1", arguments={"seconds": 5})
    assert decode_solver_line(encode_line(call)) == call
    stage = StageMessage(stage="mitigation", now="2026-11-26T00:00:00Z", turns_left=3)
    assert msgspec.json.decode(encode_line(stage), type=KitMessage) == stage
    assert encode_line(EndMessage(reason="cap")).endswith(b"\n")


def test_line_type_selects_the_message():
    assert decode_solver_line(b'{"type": "submit", "answer": {"entities": []}}') == SubmitMessage(
        answer={"entities": []}
    )
    assert list_types() == ["call", "submit", "escalate", "stop", "note", "usage"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"I think it is the cart.\n", "not JSON"),
        (b"[]", "not a message"),
        (b"{}", "type"),
        (b'{"type": "guess"}', "guess"),
        (b'{"type": "call"}', "tool"),
        (b'{"type": "call", "tool": "wait", "args": {}}', "args"),
        (b'{"type": "call", "tool": "wait", "arguments": []}', "arguments"),
        (b'{"type": "usage", "tokens": {"input": "many"}}', "input"),
        (b'{"type": "note", "text": "\xff"}', ""),
        (b"x" * (LONGEST_LINE + 1), "bytes"),
        (b"[" * 100_000, ""),
        (b'{"type": "submit", "answer": ' + b"9" * 5000 + b"}", "out of range"),
        (b'{"type": "submit", "answer": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper"),
        (b'{"type": "submit", "answer": ' + b"[" * 70 + b"]" * 70 + b"}", "nested deeper"),
        (b'{"type": "call", "tool": "x", "arguments": {"a": ' + b'{"a": ' * 70 + b"1" + b"}" * 71 + b"}", "nested"),
    ],
)
def test_invalid_line_names_its_problem(line, problem):
    with pytest.raises(BadLine) as caught:
        decode_solver_line(line)
    assert problem in caught.value.problem
    assert caught.value.fix


@given(st.binary(max_size=200))
def test_bytes_are_a_message_or_a_refusal(line):
    with suppress(BadLine):
        assert json.loads(encode_line(decode_solver_line(line)))["type"] in list_types()
