"""How programs of different languages put a failed connection into words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scenario_kit.lab.twin.client_errors.by_client import SPOKEN
from scenario_kit.lab.twin.client_errors.by_store import STORES
from scenario_kit.lab.twin.outcome import UNREACHED, ConnectionOutcome

_GO = {
    ConnectionOutcome.CONNECTION_RESET: "EOF",
    ConnectionOutcome.CONNECTION_REFUSED: "dial tcp {ip}:{port}: connect: connection refused",
    ConnectionOutcome.NXDOMAIN: "dial tcp: lookup {host} on {resolver}:53: no such host",
    ConnectionOutcome.SERVFAIL: "dial tcp: lookup {host} on {resolver}:53: server misbehaving",
    ConnectionOutcome.DNS_TIMEOUT: "dial tcp: lookup {host}: i/o timeout",
    ConnectionOutcome.CONNECTION_TIMEOUT: "dial tcp {ip}:{port}: i/o timeout",
    ConnectionOutcome.TLS_MISMATCH: "http: server gave HTTP response to HTTPS client",
    ConnectionOutcome.AUTHENTICATION_FAILED: 'pq: password authentication failed for user "{user}"',
    ConnectionOutcome.PROTOCOL_MISMATCH: "rpc error: code = Unimplemented desc = unknown service",
    ConnectionOutcome.NO_ADDRESSES: "rpc error: code = Unavailable desc = name resolver error: produced zero addresses",
    ConnectionOutcome.DEADLINE_EXCEEDED: "context deadline exceeded",
}
_NODE = {
    ConnectionOutcome.CONNECTION_RESET: "socket hang up",
    ConnectionOutcome.CONNECTION_REFUSED: "connect ECONNREFUSED {ip}:{port}",
    ConnectionOutcome.NXDOMAIN: "getaddrinfo ENOTFOUND {host}",
    ConnectionOutcome.DNS_TIMEOUT: "getaddrinfo EAI_AGAIN {host}",
    ConnectionOutcome.CONNECTION_TIMEOUT: "connect ETIMEDOUT {ip}:{port}",
    ConnectionOutcome.TLS_MISMATCH: "write EPROTO error:0A00010B:SSL routines:tls_validate_record_header:wrong "
    "version number",
    ConnectionOutcome.AUTHENTICATION_FAILED: 'password authentication failed for user "{user}"',
    ConnectionOutcome.PROTOCOL_MISMATCH: "12 UNIMPLEMENTED: The server does not implement the method",
    ConnectionOutcome.DEADLINE_EXCEEDED: "4 DEADLINE_EXCEEDED: Deadline exceeded",
}
_PYTHON = {
    ConnectionOutcome.CONNECTION_RESET: "('Connection aborted.', RemoteDisconnected('Remote end closed "
    "connection without response'))",
    ConnectionOutcome.CONNECTION_REFUSED: "[Errno 111] Connection refused",
    ConnectionOutcome.NXDOMAIN: "[Errno -2] Name or service not known",
    ConnectionOutcome.DNS_TIMEOUT: "[Errno -3] Temporary failure in name resolution",
    ConnectionOutcome.CONNECTION_TIMEOUT: "[Errno 110] Connection timed out",
    ConnectionOutcome.TLS_MISMATCH: "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1016)",
    ConnectionOutcome.AUTHENTICATION_FAILED: 'FATAL:  password authentication failed for user "{user}"',
    ConnectionOutcome.PROTOCOL_MISMATCH: "unexpected answer from {host}:{port}",
    ConnectionOutcome.DEADLINE_EXCEEDED: "timed out",
}
_DOTNET = {
    ConnectionOutcome.CONNECTION_RESET: "The response ended prematurely. (ResponseEnded)",
    ConnectionOutcome.CONNECTION_REFUSED: "Connection refused ({host}:{port})",
    ConnectionOutcome.NXDOMAIN: "Name or service not known ({host}:{port})",
    ConnectionOutcome.DNS_TIMEOUT: "Resource temporarily unavailable ({host}:{port})",
    ConnectionOutcome.CONNECTION_TIMEOUT: "The operation has timed out connecting to {host}:{port}",
    ConnectionOutcome.TLS_MISMATCH: "The SSL connection could not be established, see inner exception.",
    ConnectionOutcome.AUTHENTICATION_FAILED: '28P01: password authentication failed for user "{user}"',
    ConnectionOutcome.PROTOCOL_MISMATCH: "unexpected response from {host}:{port}",
    ConnectionOutcome.DEADLINE_EXCEEDED: "Timeout awaiting response from {host}:{port}",
}
_JAVA = {
    ConnectionOutcome.CONNECTION_RESET: "unexpected end of stream on http://{host}:{port}/...",
    ConnectionOutcome.CONNECTION_REFUSED: "java.net.ConnectException: Connection refused",
    ConnectionOutcome.NXDOMAIN: "java.net.UnknownHostException: {host}",
    ConnectionOutcome.DNS_TIMEOUT: "java.net.UnknownHostException: {host}: Temporary failure in name resolution",
    ConnectionOutcome.CONNECTION_TIMEOUT: "java.net.SocketTimeoutException: Connect timed out",
    ConnectionOutcome.TLS_MISMATCH: "Unsupported or unrecognized SSL message",
    ConnectionOutcome.AUTHENTICATION_FAILED: 'FATAL: password authentication failed for user "{user}"',
    ConnectionOutcome.PROTOCOL_MISMATCH: "unexpected answer from {host}:{port}",
    ConnectionOutcome.DEADLINE_EXCEEDED: "java.net.SocketTimeoutException: Read timed out",
}
_RUST = {
    ConnectionOutcome.CONNECTION_RESET: "connection closed before message completed for {host}:{port}",
    ConnectionOutcome.CONNECTION_REFUSED: "tcp connect error: Connection refused (os error 111) for {host}:{port}",
    ConnectionOutcome.NXDOMAIN: "dns error: failed to lookup address information: Name or service not known ({host})",
    ConnectionOutcome.DNS_TIMEOUT: "dns error: failed to lookup address information: Temporary failure in name "
    "resolution ({host})",
    ConnectionOutcome.CONNECTION_TIMEOUT: "tcp connect error: Connection timed out (os error 110) for {host}:{port}",
    ConnectionOutcome.TLS_MISMATCH: "received corrupt message of type InvalidContentType for {host}:{port}",
    ConnectionOutcome.AUTHENTICATION_FAILED: 'password authentication failed for user "{user}"',
    ConnectionOutcome.PROTOCOL_MISMATCH: "unexpected status 404 Not Found from {host}:{port}",
    ConnectionOutcome.DEADLINE_EXCEEDED: "operation timed out for {host}:{port}",
}
#: As the Thrift library says it.
_CPP = {
    ConnectionOutcome.CONNECTION_RESET: "No more data to read.",
    ConnectionOutcome.CONNECTION_REFUSED: "connect() failed: Connection refused",
    ConnectionOutcome.NXDOMAIN: "Could not resolve host for client socket.",
    ConnectionOutcome.DNS_TIMEOUT: "Could not resolve host for client socket.",
    ConnectionOutcome.CONNECTION_TIMEOUT: "connect() failed: Connection timed out",
    ConnectionOutcome.TLS_MISMATCH: "SSL_connect: wrong version number",
    ConnectionOutcome.AUTHENTICATION_FAILED: 'password authentication failed for user "{user}"',
    ConnectionOutcome.PROTOCOL_MISMATCH: "Invalid method name",
    ConnectionOutcome.DEADLINE_EXCEEDED: "THRIFT_EAGAIN (timed out)",
}
_ENVOY = {
    ConnectionOutcome.ERROR_RESPONSE: "500 - via_upstream",
    ConnectionOutcome.CONNECTION_RESET: "503 UC upstream_reset_before_response_started{{connection_termination}}",
    ConnectionOutcome.CONNECTION_REFUSED: "503 UF "
    "upstream_reset_before_response_started{{remote_connection_failure,_Connection_refused}}",
    ConnectionOutcome.NXDOMAIN: "503 UH no_healthy_upstream",
    ConnectionOutcome.DNS_TIMEOUT: "503 UH no_healthy_upstream",
    ConnectionOutcome.CONNECTION_TIMEOUT: "503 UF upstream_reset_before_response_started{{connection_timeout}}",
    ConnectionOutcome.TLS_MISMATCH: "503 UF upstream_reset_before_response_started{{TLS_error:_WRONG_VERSION_NUMBER}}",
    ConnectionOutcome.AUTHENTICATION_FAILED: "401 - via_upstream",
    ConnectionOutcome.PROTOCOL_MISMATCH: "404 - via_upstream",
    ConnectionOutcome.DEADLINE_EXCEEDED: "504 UT response_timeout",
}

#: Clients that say more than the transport does, in front of or around its words.
_PROTOCOLS: Mapping[tuple[str, str], str] = {
    ("go", "mongodb"): "server selection error: server selection timeout, current topology: {{ Type: Unknown, Servers: "
    "[{{ Addr: {host}:{port}, Type: Unknown, Last error: connection() error occurred during connection handshake: "
    "{words} }}, ] }}",
}

#: Words by dialect. A dialect that is not listed speaks like Go.
DIALECTS: Mapping[str, Mapping[ConnectionOutcome, str]] = {
    "go": _GO,
    "node": _NODE,
    "python": _PYTHON,
    "dotnet": _DOTNET,
    "java": _JAVA,
    "rust": _RUST,
    "cpp": _CPP,
    "envoy": _ENVOY,
}


#: What begins with a code of gRPC.
_CODED = re.compile(r"\d+ [A-Z_]+: ")

#: How clients wrap the words of a store that answered with an error.
_ANSWERED: Mapping[tuple[str, str], str] = {
    ("dotnet", "redis"): "StackExchange.Redis.RedisServerException: {words}",
}

#: How clients of gRPC wrap the words of the transport.
_WRAPPED: Mapping[str, str] = {
    "go": 'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: {words}"',
    "node": "14 UNAVAILABLE: No connection established. Last error: {words}",
    "python": 'StatusCode.UNAVAILABLE details = "{words}"',
    "dotnet": 'Status(StatusCode="Unavailable", Detail="{words}")',
}


def describe_failure(failure: str, reason: str) -> str:
    """Describe what callers read of an operation that failed: its own words around the reason, or one with a code of
    its own.
    """
    return reason if _CODED.match(reason) else failure.replace("{cause}", reason)


def describe_answer(dialect: str, protocol: str, words: str) -> str:
    """Describe what a client makes of the words of a callee that answered with an error."""
    return _ANSWERED.get((dialect, protocol), "{words}").replace("{words}", words) if words else words


def describe_cause(dialect: str, outcome: ConnectionOutcome, protocol: str, **known: object) -> str:
    """Describe the cause of a failed call in the words of a language and protocol, or product such as ``mysql``."""
    spoken = {**DIALECTS.get(dialect, _GO), **SPOKEN.get((dialect, protocol), {})}
    if outcome == ConnectionOutcome.SERVFAIL and outcome not in spoken:
        outcome = ConnectionOutcome.DNS_TIMEOUT  # a failure that may pass, as most libraries see it
    template = STORES.get((protocol, outcome), {}).get(dialect) or spoken.get(
        outcome, "unexpected answer from {host}:{port}"
    )
    words = template.format(
        **{"resolver": "10.96.0.10", "user": "", "host": "", "ip": "", "port": 0, "command": "insert", **known}
    )
    if protocol == "grpc" and outcome in UNREACHED:
        return _WRAPPED.get(dialect, "{words}").format(words=words)
    if outcome in UNREACHED and (dialect, protocol) in _PROTOCOLS:
        return _PROTOCOLS[dialect, protocol].format(words=words, host=known.get("host", ""), port=known.get("port", 0))
    return words
