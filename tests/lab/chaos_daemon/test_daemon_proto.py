from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.chaos_daemon.protocol import (
    DATA,
    Messages,
    build_messages,
    load_daemon_messages,
    load_name_server_messages,
)
from scenario_kit.lab.toolchain import chaos_assets
from tools.chaos.proto_reader import describe
from tools.chaos.protocols import describe_protocols

SMALL = """
syntax = "proto3"; /* a
comment */ package a.b;
import "google/protobuf/empty.proto";
option go_package = "x";
enum Mode { OFF = 0; ON = 3; }
message Outer {
  reserved 4, 5;
  enum Mode { FAST = 0; }   // hides the outer one
  message Inner { string text = 2; }
  Mode mode = 1;
  repeated Inner inner = 7 [deprecated = true];
  b.Other other = 9;
}
message Other { Mode mode = 1; Outer.Inner inner = 2; repeated double numbers = 3; }
service Talk {
  rpc Say (Outer) returns (google.protobuf.Empty) {}
  rpc Ask (Other) returns (Outer);
}
"""


def build(text: str) -> Messages:
    return build_messages(describe(text, "x.proto"), "Talk")


def test_numbers_scopes_and_repeats() -> None:
    messages = build(SMALL)
    assert messages.service == "a.b.Talk"
    say, ask = messages.calls["Say"], messages.calls["Ask"]
    assert say.reply().SerializeToString() == b""
    assert say.request(inner=[{"text": "x"}]).SerializeToString() == b"\x3a\x03\x12\x01x"
    assert ask.request(mode="ON").SerializeToString() == b"\x08\x03"
    assert say.request(other={"inner": {"text": "y"}}).other.inner.text == "y"
    assert ask.reply is say.request


def test_two_versions_live_side_by_side() -> None:
    first, second = build(SMALL), build(SMALL.replace("text = 2", "text = 5"))
    assert first.calls["Say"].request(inner=[{"text": "x"}]).SerializeToString() == b"\x3a\x03\x12\x01x"
    assert second.calls["Say"].request(inner=[{"text": "x"}]).SerializeToString() == b"\x3a\x03\x2a\x01x"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"proto3"', '"proto2"', "syntax 'proto2', expected proto3"),
        ("google/protobuf/empty", "google/protobuf/any", "only google/protobuf/empty.proto is known"),
        ("b.Other other = 9;", "Missing other = 9;", "type Missing is not defined"),
        ("b.Other other = 9;", "oneof x { string y = 9; }", r"x\.proto:13: 'oneof' in message Outer"),
        ("b.Other other = 9;", "map<string, string> x = 9;", "'map' in message Outer"),
        ("b.Other other = 9;", "b.Other other;", "expected '=', found ';'"),
        ("b.Other other = 9;", "b.Other other = x;", "expected a number, found 'x'"),
        ("rpc Say (Outer)", "rpc Say (stream Outer)", "Say streams"),
        ("service Talk", "serves Talk", "unexpected 'serves'"),
        ("rpc Ask", "call Ask", "unexpected 'call'"),
        ("returns (Outer);\n}", "returns (Outer);", "unexpected end of file"),
    ],
)
def test_unsupported_input_is_refused(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(ToolchainError, match=message):
        build(SMALL.replace(old, new))


def test_missing_or_other_version_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "chaosdaemon.proto"
    with pytest.raises(ToolchainError, match="cannot read the chaos daemon's protocol: No such file"):
        load_daemon_messages(file)
    file.write_text(SMALL)
    with pytest.raises(ToolchainError, match="a version of Chaos Mesh that this release does not support") as error:
        load_daemon_messages(file)
    assert "lab install" in error.value.fix


def test_name_server_protocol_has_its_calls() -> None:
    messages = load_name_server_messages()
    assert messages.service == "pb.DNS"
    assert set(messages.calls) == {"SetDNSChaos", "CancelDNSChaos"}


def test_line_numbers_count_comments() -> None:
    with pytest.raises(ToolchainError, match="f:4: unexpected"):
        describe('syntax = "proto3";\n/* one\ntwo */\nnonsense', "f")


@pytest.mark.lab
def test_installed_file(messages: object) -> None:
    assert messages.service == "pb.ChaosDaemon"  # type: ignore[attr-defined]
    assert len(messages.calls) == 16  # type: ignore[attr-defined]


@pytest.mark.lab
def test_committed_descriptors_match_installed_files() -> None:
    assert describe_protocols(chaos_assets()) == DATA.read_text()
