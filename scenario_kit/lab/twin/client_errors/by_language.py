"""Error messages of programs for failed connections, by language."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scenario_kit.lab.twin.client_errors.words import CLIENTS, DIALECTS, STORES
from scenario_kit.lab.twin.outcome import UNREACHED, ConnectionOutcome
from scenario_kit.model.twin.address import CLIENT_LIBRARIES

#: Clients whose messages wrap that of the transport.
_PROTOCOLS: Mapping[tuple[str, str], str] = {
    ("go", "mongodb"): "server selection error: server selection timeout, current topology: {{ Type: Unknown, Servers: "
    "[{{ Addr: {host}:{port}, Type: Unknown, Last error: connection() error occurred during connection handshake: "
    "{words} }}, ] }}",
}

#: What placeholders of messages stand for where the caller does not know better.
_UNKNOWN: Mapping[str, object] = {
    "resolver": "10.96.0.10", "user": "", "host": "", "ip": "", "port": 0, "command": "insert", "name": "",
}  # fmt: skip

#: The prefix of an error with a gRPC code.
_CODED = re.compile(r"\d+ [A-Z_]+: ")

#: Messages of clients around the error that a store returned.
_ANSWERED: Mapping[tuple[str, str], str] = {
    ("dotnet", "redis"): "StackExchange.Redis.RedisServerException: {words}",
}

#: Messages of gRPC clients around the error of the transport.
_WRAPPED: Mapping[str, str] = {
    "go": 'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: {words}"',
    "node": "14 UNAVAILABLE: No connection established. Last error: {words}",
    "python": 'StatusCode.UNAVAILABLE details = "{words}"',
    "dotnet": 'Status(StatusCode="Unavailable", Detail="{words}")',
}


#: Outcomes that Go's HTTP client returns as errors of the request.
_OF_REQUESTS = UNREACHED | {
    ConnectionOutcome.CALL_CANCELED,
    ConnectionOutcome.CONNECTION_RESET,
    ConnectionOutcome.DEADLINE_EXCEEDED,
    ConnectionOutcome.TLS_MISMATCH,
}

#: A span that is named after a method and a route.
_ROUTE = re.compile(r"(?P<method>[A-Z]+) (?P<path>/\S*)$")


def describe_request(client: tuple[str, str], outcome: ConnectionOutcome, url: str, route: str, words: str) -> str:
    """Return a client's message for a failed request, by language and protocol, around that of its transport.

    Go's HTTP client puts method and URL before it (``url.Error``); its instrumentation, below, sees the transport's.
    """
    found = _ROUTE.fullmatch(route)
    if client != ("go", "http") or outcome not in _OF_REQUESTS or found is None:
        return words
    return f'{found["method"].capitalize()} "{url}{found["path"]}": {words}'


def describe_failure(failure: str, reason: str) -> str:
    """Return the error of a failed operation as callers see it: its own text with the reason, or one with a code."""
    return reason if _CODED.match(reason) else failure.replace("{cause}", reason)


def describe_answer(dialect: str, protocol: str, words: str) -> str:
    """Return a client's message for an error that the callee returned."""
    return _ANSWERED.get((dialect, protocol), "{words}").replace("{words}", words) if words else words


def describe_cause(dialect: str, outcome: ConnectionOutcome, protocol: str, **known: object) -> str:
    """Return the message for a failed call, by language and protocol, or product such as ``mysql``."""
    protocol = CLIENT_LIBRARIES.get(protocol, protocol)
    spoken = {**DIALECTS.get(dialect, DIALECTS["go"]), **CLIENTS.get((dialect, protocol), {})}
    if outcome == ConnectionOutcome.SERVFAIL and outcome not in spoken:
        outcome = ConnectionOutcome.DNS_TIMEOUT  # most libraries treat both as a temporary failure
    template = STORES.get((protocol, outcome), {}).get(dialect) or spoken.get(
        outcome, "unexpected answer from {host}:{port}"
    )
    words = template.format(**{**_UNKNOWN, **known})
    if protocol == "grpc" and outcome in UNREACHED:
        return _WRAPPED.get(dialect, "{words}").format(words=words)
    if outcome in UNREACHED and (dialect, protocol) in _PROTOCOLS:
        return _PROTOCOLS[dialect, protocol].format(words=words, host=known.get("host", ""), port=known.get("port", 0))
    return words
