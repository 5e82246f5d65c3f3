"""What clients of stores print when they fail: their own words, and those that the store sent them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.lab.twin.address import Address
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model import StoreEffect

_PSQL: Final = 'psql: error: connection to server at "{host}" ({ip}), port {port} failed: '
_UNKNOWN: Final = 'psql: error: could not translate host name "{host}" to address: '
_POSTGRES: Final = {
    ConnectionOutcome.CONNECTION_REFUSED: _PSQL
    + "Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?",
    ConnectionOutcome.NXDOMAIN: _UNKNOWN + "Name or service not known",
    ConnectionOutcome.DNS_TIMEOUT: _UNKNOWN + "Temporary failure in name resolution",
    ConnectionOutcome.CONNECTION_TIMEOUT: _PSQL + "Connection timed out",
    ConnectionOutcome.TLS_MISMATCH: _PSQL + "server does not support SSL, but SSL was required",
    ConnectionOutcome.AUTHENTICATION_FAILED: _PSQL + 'FATAL:  password authentication failed for user "{user}"',
    ConnectionOutcome.LOGIN_NOT_PERMITTED: _PSQL + 'FATAL:  role "{user}" is not permitted to log in',
    ConnectionOutcome.UNKNOWN_DATABASE: _PSQL + 'FATAL:  database "{database}" does not exist',
    ConnectionOutcome.TOO_MANY_CONNECTIONS: _PSQL + "FATAL:  sorry, too many clients already",
    ConnectionOutcome.PROTOCOL_MISMATCH: _PSQL + "received invalid response to SSL negotiation",
}
_REDIS: Final = {
    ConnectionOutcome.CONNECTION_REFUSED: "Could not connect to Valkey at {host}:{port}: Connection refused",
    ConnectionOutcome.NXDOMAIN: "Could not connect to Valkey at {host}:{port}: Name does not resolve",
    ConnectionOutcome.DNS_TIMEOUT: "Could not connect to Valkey at {host}:{port}: Try again",
    ConnectionOutcome.CONNECTION_TIMEOUT: "Could not connect to Valkey at {host}:{port}: Operation timed out",
    ConnectionOutcome.AUTHENTICATION_FAILED: "(error) NOAUTH Authentication required.",
    ConnectionOutcome.TOO_MANY_CONNECTIONS: "(error) ERR max number of clients reached",
    ConnectionOutcome.PROTOCOL_MISMATCH: "Error: Protocol error",
}
_WRONG: Final = "AUTH failed: WRONGPASS invalid username-password pair or user is disabled.\n"
_SQL_FULL: Final = "FATAL: sorry, too many clients already"
_NOAUTH: Final = "NOAUTH Authentication required."

#: What a program reads from its store, by protocol and outcome, then by dialect.
STORES: Final[Mapping[tuple[str, ConnectionOutcome], Mapping[str, str]]] = {
    ("sql", ConnectionOutcome.PERMISSION_DENIED): {
        "go": "pq: permission denied for table {table}",
        "python": "psycopg2.errors.InsufficientPrivilege: permission denied for table {table}",
        "dotnet": "42501: permission denied for table {table}",
    },
    ("sql", ConnectionOutcome.LOGIN_NOT_PERMITTED): {
        "go": 'pq: role "{user}" is not permitted to log in',
        "python": 'FATAL:  role "{user}" is not permitted to log in',
        "dotnet": '28000: role "{user}" is not permitted to log in',
    },
    ("sql", ConnectionOutcome.TLS_MISMATCH): {
        "go": "pq: SSL is not enabled on the server",
        "python": "server does not support SSL, but SSL was required",
        "dotnet": "SSL connection requested. No SSL enabled connection from this host is configured.",
        "java": "The server does not support SSL.",
        "node": "The server does not support SSL connections",
        "rust": "server does not support TLS",
    },
    ("sql", ConnectionOutcome.UNKNOWN_DATABASE): {
        "go": 'pq: database "{database}" does not exist',
        "python": 'FATAL:  database "{database}" does not exist',
        "dotnet": '3D000: database "{database}" does not exist',
        "java": 'FATAL: database "{database}" does not exist',
        "node": 'database "{database}" does not exist',
        "rust": 'database "{database}" does not exist',
    },
    ("sql", ConnectionOutcome.TOO_MANY_CONNECTIONS): {
        "go": "pq: sorry, too many clients already",
        "python": _SQL_FULL,
        "dotnet": "53300: sorry, too many clients already",
    },
    ("mongodb", ConnectionOutcome.AUTHENTICATION_FAILED): {
        "go": "(Unauthorized) command {command} requires authentication"
    },
    ("redis", ConnectionOutcome.DEADLINE_EXCEEDED): {
        "dotnet": "StackExchange.Redis.RedisTimeoutException: Timeout awaiting response (outbound=0KiB, inbound=0KiB, "
        "5000ms elapsed, timeout is 5000ms), serverEndpoint: {host}:{port}",
    },
    ("redis", ConnectionOutcome.AUTHENTICATION_FAILED): {
        "go": _NOAUTH,
        "dotnet": "It was not possible to connect to the redis server(s). There was an authentication failure; check "
        "that passwords (or client certificates) are configured correctly: (RedisServerException) " + _NOAUTH,
    },
}


def describe_refusal(scheme: str, outcome: ConnectionOutcome, address: Address, ip: str) -> tuple[int, str]:
    """Describe the exit code and the last words of a client that gets no connection, or no login."""
    outcome = ConnectionOutcome.DNS_TIMEOUT if outcome == ConnectionOutcome.SERVFAIL else outcome
    names = {"host": address.host, "port": address.port, "user": address.user, "ip": ip, "database": address.desired}
    if scheme in ("postgres", "postgresql"):
        return 2, _POSTGRES.get(outcome, _POSTGRES[ConnectionOutcome.CONNECTION_REFUSED]).format(**names)
    if scheme == "redis":
        wrong = _WRONG if outcome == ConnectionOutcome.AUTHENTICATION_FAILED and address.password else ""
        return 1, wrong + _REDIS.get(outcome, _REDIS[ConnectionOutcome.CONNECTION_REFUSED]).format(**names)
    return 1, f"connection to {address.host}:{address.port} failed"


def explain_rejection(scheme: str, does: StoreEffect, target: Process) -> str:
    """Explain why the store does not do what it is asked; empty where it does."""
    if scheme not in ("postgres", "postgresql"):
        return ""
    users = {*(user for user, _ in target.logins), *target.holdings.barred}
    named = does.drop_user or does.create_user or does.revoke_role or does.grant_role or does.user
    if named and users and named not in users and does.set_password is None:
        return f'ERROR:  role "{named}" does not exist'
    return ""
