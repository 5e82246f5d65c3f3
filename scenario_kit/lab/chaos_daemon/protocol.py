"""Message classes of Chaos Mesh's protocols, from descriptors that ``ci/chaos-schemas`` makes of its ``.proto`` files.

Field numbers differ between versions of Chaos Mesh, and a wrong number is no error in protobuf: the field arrives
empty. So the descriptors count only for the very file that they were made of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from google.protobuf import descriptor_pb2, descriptor_pool, empty_pb2, json_format, message_factory

from scenario_kit.errors import ToolchainError

DATA: Final = Path(__file__).with_suffix(".json")


class Call(NamedTuple):
    """One unary call: the classes of its request and its reply."""

    request: Any
    reply: Any


class Messages(NamedTuple):
    """A gRPC service as classes: its full name and its calls by name."""

    service: str
    calls: Mapping[str, Call]


def load_daemon_messages(installed: Path) -> Messages:
    """Load the messages of the chaos daemon, whose installed ``.proto`` file is given.

    Raises:
        ToolchainError: the file is missing, or of another version than this release knows.
    """
    try:
        content = installed.read_bytes()
    except OSError as error:
        raise ToolchainError(
            f"{installed}: the protocol of the chaos daemon cannot be read: {error.strerror}",
            fix="run `scenario-kit lab install`; it takes the file from the installed Chaos Mesh",
        ) from error
    known = _load_descriptors()[installed.name]
    if compute_digest(content) != known["digest"]:
        raise ToolchainError(
            f"{installed}: the protocol of another version of Chaos Mesh than this release knows",
            fix="run `scenario-kit lab install`, which installs the version that this release pins",
        )
    return build_messages(json_format.ParseDict(known["file"], descriptor_pb2.FileDescriptorProto()), "ChaosDaemon")


def load_name_server_messages() -> Messages:
    """Load the messages of Chaos Mesh's name server."""
    known = _load_descriptors()["dns.proto"]
    return build_messages(json_format.ParseDict(known["file"], descriptor_pb2.FileDescriptorProto()), "DNS")


def compute_digest(content: bytes) -> str:
    """Compute the digest by which a ``.proto`` file is known."""
    return hashlib.sha256(content).hexdigest()


def build_messages(file: descriptor_pb2.FileDescriptorProto, service: str) -> Messages:
    """Build the message classes of one service of a file."""
    # A pool of our own: the default pool takes each name only once.
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(empty_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())

    def message(type_name: str) -> Any:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(type_name.lstrip(".")))

    (found,) = (s for s in file.service if s.name == service)
    calls = {m.name: Call(message(m.input_type), message(m.output_type)) for m in found.method}
    return Messages(f"{file.package}.{service}", calls)


@cache
def _load_descriptors() -> Any:
    return msgspec.json.decode(DATA.read_bytes())
