"""How programs of different languages put a failed connection into words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scenario_kit.lab.twin.client_errors.by_client import SPOKEN
from scenario_kit.lab.twin.client_errors.by_store import STORES

_GO = {
    "aborted": "EOF",
    "refused": "dial tcp {ip}:{port}: connect: connection refused",
    "noname": "dial tcp: lookup {host} on {resolver}:53: no such host",
    "misanswered": "dial tcp: lookup {host} on {resolver}:53: server misbehaving",
    "unanswered": "dial tcp: lookup {host}: i/o timeout",
    "dropped": "dial tcp {ip}:{port}: i/o timeout",
    "plain": "http: server gave HTTP response to HTTPS client",
    "denied": 'pq: password authentication failed for user "{user}"',
    "foreign": "rpc error: code = Unimplemented desc = unknown service",
    "unlisted": "rpc error: code = Unavailable desc = name resolver error: produced zero addresses",
    "late": "context deadline exceeded",
}
_NODE = {
    "aborted": "socket hang up",
    "refused": "connect ECONNREFUSED {ip}:{port}",
    "noname": "getaddrinfo ENOTFOUND {host}",
    "unanswered": "getaddrinfo EAI_AGAIN {host}",
    "dropped": "connect ETIMEDOUT {ip}:{port}",
    "plain": "write EPROTO error:0A00010B:SSL routines:tls_validate_record_header:wrong version number",
    "denied": 'password authentication failed for user "{user}"',
    "foreign": "12 UNIMPLEMENTED: The server does not implement the method",
    "late": "4 DEADLINE_EXCEEDED: Deadline exceeded",
}
_PYTHON = {
    "aborted": "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    "refused": "[Errno 111] Connection refused",
    "noname": "[Errno -2] Name or service not known",
    "unanswered": "[Errno -3] Temporary failure in name resolution",
    "dropped": "[Errno 110] Connection timed out",
    "plain": "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1016)",
    "denied": 'FATAL:  password authentication failed for user "{user}"',
    "foreign": "unexpected answer from {host}:{port}",
    "late": "timed out",
}
_DOTNET = {
    "aborted": "The response ended prematurely. (ResponseEnded)",
    "refused": "Connection refused ({host}:{port})",
    "noname": "Name or service not known ({host}:{port})",
    "unanswered": "Resource temporarily unavailable ({host}:{port})",
    "dropped": "The operation has timed out connecting to {host}:{port}",
    "plain": "The SSL connection could not be established, see inner exception.",
    "denied": '28P01: password authentication failed for user "{user}"',
    "foreign": "unexpected response from {host}:{port}",
    "late": "Timeout awaiting response from {host}:{port}",
}
_JAVA = {
    "aborted": "unexpected end of stream on http://{host}:{port}/...",
    "refused": "java.net.ConnectException: Connection refused",
    "noname": "java.net.UnknownHostException: {host}",
    "unanswered": "java.net.UnknownHostException: {host}: Temporary failure in name resolution",
    "dropped": "java.net.SocketTimeoutException: Connect timed out",
    "plain": "Unsupported or unrecognized SSL message",
    "denied": 'FATAL: password authentication failed for user "{user}"',
    "foreign": "unexpected answer from {host}:{port}",
    "late": "java.net.SocketTimeoutException: Read timed out",
}
_RUST = {
    "aborted": "connection closed before message completed for {host}:{port}",
    "refused": "tcp connect error: Connection refused (os error 111) for {host}:{port}",
    "noname": "dns error: failed to lookup address information: Name or service not known ({host})",
    "unanswered": "dns error: failed to lookup address information: Temporary failure in name resolution ({host})",
    "dropped": "tcp connect error: Connection timed out (os error 110) for {host}:{port}",
    "plain": "received corrupt message of type InvalidContentType for {host}:{port}",
    "denied": 'password authentication failed for user "{user}"',
    "foreign": "unexpected status 404 Not Found from {host}:{port}",
    "late": "operation timed out for {host}:{port}",
}
#: As the Thrift library says it.
_CPP = {
    "aborted": "No more data to read.",
    "refused": "connect() failed: Connection refused",
    "noname": "Could not resolve host for client socket.",
    "unanswered": "Could not resolve host for client socket.",
    "dropped": "connect() failed: Connection timed out",
    "plain": "SSL_connect: wrong version number",
    "denied": 'password authentication failed for user "{user}"',
    "foreign": "Invalid method name",
    "late": "THRIFT_EAGAIN (timed out)",
}
_ENVOY = {
    "aborted": "503 UC upstream_reset_before_response_started{{connection_termination}}",
    "failure": "500 - via_upstream",
    "refused": "503 UF upstream_reset_before_response_started{{remote_connection_failure,_Connection_refused}}",
    "noname": "503 UH no_healthy_upstream",
    "unanswered": "503 UH no_healthy_upstream",
    "dropped": "503 UF upstream_reset_before_response_started{{connection_timeout}}",
    "plain": "503 UF upstream_reset_before_response_started{{TLS_error:_WRONG_VERSION_NUMBER}}",
    "denied": "401 - via_upstream",
    "foreign": "404 - via_upstream",
    "late": "504 UT response_timeout",
}

#: Clients that say more than the transport does, in front of or around its words.
_PROTOCOLS: Mapping[tuple[str, str], str] = {
    ("go", "mongodb"): "server selection error: server selection timeout, current topology: {{ Type: Unknown, Servers: "
    "[{{ Addr: {host}:{port}, Type: Unknown, Last error: connection() error occurred during connection handshake: "
    "{words} }}, ] }}",
}

#: Words by dialect. A dialect that is not listed speaks like Go.
DIALECTS: Mapping[str, Mapping[str, str]] = {
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

#: Outcomes in which no connection came about.
_UNREACHED = frozenset({"refused", "noname", "unanswered", "misanswered", "dropped"})

#: Outcomes in which no connection came about that calls can use.
UNCONNECTED = _UNREACHED | {"denied", "foreign", "full", "barred", "nowhere", "plain"}

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


def describe_cause(dialect: str, outcome: str, protocol: str, **known: object) -> str:
    """Describe the cause of a failed call in the words of a language and protocol, or product such as ``mysql``."""
    spoken = {**DIALECTS.get(dialect, _GO), **SPOKEN.get((dialect, protocol), {})}
    if outcome == "misanswered" and outcome not in spoken:
        outcome = "unanswered"  # a failure that may pass, as most libraries see it
    template = STORES.get((protocol, outcome), {}).get(dialect) or spoken.get(
        outcome, "unexpected answer from {host}:{port}"
    )
    words = template.format(
        **{"resolver": "10.96.0.10", "user": "", "host": "", "ip": "", "port": 0, "command": "insert", **known}
    )
    if protocol == "grpc" and outcome in _UNREACHED:
        return _WRAPPED.get(dialect, "{words}").format(words=words)
    if outcome in _UNREACHED and (dialect, protocol) in _PROTOCOLS:
        return _PROTOCOLS[dialect, protocol].format(words=words, host=known.get("host", ""), port=known.get("port", 0))
    return words
