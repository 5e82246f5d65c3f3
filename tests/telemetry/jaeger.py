"""Spans as Jaeger's clients send them: one datagram of Thrift's compact protocol, ``Agent.emitBatch``."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from typing import Final

from scenario_kit.model.runtime.trace import Span

#: Types of fields in the compact protocol.
_TRUE, _FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 5, 6, 8, 9, 12
#: Types of a tag's value in Jaeger's model.
_STRING, _BOOL = 0, 2
#: What one datagram of Jaeger's Go client holds at most.
_MOST_BYTES: Final = 65_000
Field = tuple[int, int, bytes]


def send_spans(spans: Iterable[Span], host: str, port: int) -> None:
    """Send the spans of each process in a datagram of its own."""
    processes: dict[tuple[tuple[str, object], ...], list[Span]] = {}
    for span in spans:
        processes.setdefault(tuple(span.resource.items()), []).append(span)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for of_process in processes.values():
            datagram = encode_batch(of_process)
            assert len(datagram) <= _MOST_BYTES
            sender.sendto(datagram, (host, port))


def encode_batch(spans: Sequence[Span]) -> bytes:
    """Encode the spans of one process."""
    first = spans[0]
    tags = [_encode_tag(k, str(v)) for k, v in first.resource.items() if k != "service.name"]
    process = _encode_struct([(1, _BINARY, _encode_text(first.service)), (2, _LIST, _encode_list(_STRUCT, tags))])
    listed = _encode_list(_STRUCT, [_encode_span(span) for span in spans])
    batch = _encode_struct([(1, _STRUCT, process), (2, _LIST, listed)])
    # Protocol 0x82, version 1 and type 4: a call that nobody answers.
    return bytes([0x82, 0x81]) + _encode_number(1) + _encode_text("emitBatch") + _encode_struct([(1, _STRUCT, batch)])


def _encode_span(span: Span) -> bytes:
    tags = [] if span.kind == "INTERNAL" else [_encode_tag("span.kind", span.kind.lower())]
    tags += [_encode_tag("error", True)] if span.error else []
    return _encode_struct(
        [
            (1, _I64, _encode_signed(int(span.trace_id[16:], 16))),
            (2, _I64, _encode_signed(int(span.trace_id[:16], 16))),
            (3, _I64, _encode_signed(int(span.span_id, 16))),
            (4, _I64, _encode_signed(int(span.parent or "0", 16))),
            (5, _BINARY, _encode_text(span.name)),
            (7, _I32, _encode_signed(1)),
            (8, _I64, _encode_signed(round(span.start * 1e6))),
            (9, _I64, _encode_signed(round(span.seconds * 1e6))),
            (10, _LIST, _encode_list(_STRUCT, tags)),
        ]
    )


def _encode_tag(key: str, value: str | bool) -> bytes:
    head: list[Field] = [(1, _BINARY, _encode_text(key))]
    if isinstance(value, bool):
        return _encode_struct([*head, (2, _I32, _encode_signed(_BOOL)), (5, _TRUE if value else _FALSE, b"")])
    return _encode_struct([*head, (2, _I32, _encode_signed(_STRING)), (3, _BINARY, _encode_text(value))])


def _encode_struct(fields: Sequence[Field]) -> bytes:
    """Encode fields in the order of their numbers, which differ by less than 16."""
    out, last = b"", 0
    for number, kind, value in fields:
        out += bytes([(number - last) << 4 | kind]) + value
        last = number
    return out + b"\0"


def _encode_list(kind: int, items: Sequence[bytes]) -> bytes:
    size = len(items)
    head = bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + _encode_number(size)
    return head + b"".join(items)


def _encode_text(text: str) -> bytes:
    data = text.encode()
    return _encode_number(len(data)) + data


def _encode_signed(value: int) -> bytes:
    """Encode by zigzag, of 64 bits: an identifier is what its bits say."""
    value = value - (1 << 64) if value >= 1 << 63 else value
    return _encode_number((value << 1 ^ value >> 63) & (1 << 64) - 1)


def _encode_number(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])
