"""Message classes of the Chaos Mesh protocols, from descriptors that ``ci/chaos-schemas`` generates.

Field numbers differ between versions of Chaos Mesh, and protobuf does not detect a wrong number: the field arrives
empty. So the descriptors are valid only for the exact file they were generated from.
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
    """A unary call with its request and reply classes."""

    request: Any
    reply: Any


class Messages(NamedTuple):
    """The message classes of a gRPC service: its full name, and its calls by name."""

    service: str
    calls: Mapping[str, Call]


def load_daemon_messages(installed: Path) -> Messages:
    """Load the message classes of the chaos daemon; ``installed`` is its ``.proto`` file.

    Raises:
        ToolchainError: the file is missing, or of a version that this release does not support.
    """
    try:
        content = installed.read_bytes()
    except OSError as error:
        raise ToolchainError(
            f"{installed}: cannot read the chaos daemon's protocol: {error.strerror}",
            fix="run `scenario-kit lab install`; it takes the file from the installed Chaos Mesh",
        ) from error
    known = _load_descriptors()[installed.name]
    if compute_digest(content) != known["digest"]:
        raise ToolchainError(
            f"{installed}: the protocol is from a version of Chaos Mesh that this release does not support",
            fix="run `scenario-kit lab install`, which installs the version pinned by this release",
        )
    return build_messages(json_format.ParseDict(known["file"], descriptor_pb2.FileDescriptorProto()), "ChaosDaemon")


def load_name_server_messages() -> Messages:
    """Load the message classes of the Chaos Mesh DNS server."""
    known = _load_descriptors()["dns.proto"]
    return build_messages(json_format.ParseDict(known["file"], descriptor_pb2.FileDescriptorProto()), "DNS")


def compute_digest(content: bytes) -> str:
    """Compute the digest that identifies a ``.proto`` file."""
    return hashlib.sha256(content).hexdigest()


def build_messages(file: descriptor_pb2.FileDescriptorProto, service: str) -> Messages:
    """Build the message classes of a service."""
    # A separate pool: the default pool accepts each name only once.
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
