"""Descriptors of Chaos Mesh's protocols, from its ``.proto`` files."""

from __future__ import annotations

import json
from pathlib import Path

from google.protobuf import json_format

from scenario_kit.lab.chaos_daemon.protocol import compute_digest
from scenario_kit.lab.toolchain.assets import PROTO
from tools.chaos.proto_reader import describe


def describe_protocols(folder: Path) -> str:
    """Return the text of ``protocol.json``: a descriptor per file, one message or service per line.

    Args:
        folder: the Chaos Mesh assets.
    """
    files = (folder / PROTO, Path(__file__).with_name("dns.proto"))
    return "{\n" + ",\n".join(f"{json.dumps(path.name)}: {_describe_file(path)}" for path in files) + "\n}\n"


def _describe_file(path: Path) -> str:
    content = path.read_bytes()
    file = json_format.MessageToDict(describe(content.decode("utf-8"), path.name))
    parts = [f"{json.dumps(key)}: {_dump(value)}" for key, value in file.items()]
    return f'{{"digest": {json.dumps(compute_digest(content))}, "file": {{\n' + ",\n".join(parts) + "\n}}"


def _dump(value: object) -> str:
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in value) + "\n]"
    return json.dumps(value)
