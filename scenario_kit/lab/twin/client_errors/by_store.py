"""What clients of stores print when they fail: their own words, and those that the store sent them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.lab.twin.address import Address
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model import StoreEffect

_PSQL: Final = 'psql: error: connection to server at "{host}" ({ip}), port {port} failed: '
_UNKNOWN: Final = 'psql: error: could not translate host name "{host}" to address: '
_POSTGRES: Final = {
    "refused": _PSQL + "Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?",
    "noname": _UNKNOWN + "Name or service not known",
    "unanswered": _UNKNOWN + "Temporary failure in name resolution",
    "dropped": _PSQL + "Connection timed out",
    "plain": _PSQL + "server does not support SSL, but SSL was required",
    "denied": _PSQL + 'FATAL:  password authentication failed for user "{user}"',
    "barred": _PSQL + 'FATAL:  role "{user}" is not permitted to log in',
    "nowhere": _PSQL + 'FATAL:  database "{database}" does not exist',
    "full": _PSQL + "FATAL:  sorry, too many clients already",
    "foreign": _PSQL + "received invalid response to SSL negotiation",
}
_REDIS: Final = {
    "refused": "Could not connect to Valkey at {host}:{port}: Connection refused",
    "noname": "Could not connect to Valkey at {host}:{port}: Name does not resolve",
    "unanswered": "Could not connect to Valkey at {host}:{port}: Try again",
    "dropped": "Could not connect to Valkey at {host}:{port}: Operation timed out",
    "denied": "(error) NOAUTH Authentication required.",
    "full": "(error) ERR max number of clients reached",
    "foreign": "Error: Protocol error",
}
_WRONG: Final = "AUTH failed: WRONGPASS invalid username-password pair or user is disabled.\n"
_SQL_FULL: Final = "FATAL: sorry, too many clients already"
_NOAUTH: Final = "NOAUTH Authentication required."

#: What a program reads from its store, by protocol and outcome, then by dialect.
STORES: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("sql", "forbidden"): {
        "go": "pq: permission denied for table {table}",
        "python": "psycopg2.errors.InsufficientPrivilege: permission denied for table {table}",
        "dotnet": "42501: permission denied for table {table}",
    },
    ("sql", "barred"): {
        "go": 'pq: role "{user}" is not permitted to log in',
        "python": 'FATAL:  role "{user}" is not permitted to log in',
        "dotnet": '28000: role "{user}" is not permitted to log in',
    },
    ("sql", "plain"): {
        "go": "pq: SSL is not enabled on the server",
        "python": "server does not support SSL, but SSL was required",
        "dotnet": "SSL connection requested. No SSL enabled connection from this host is configured.",
        "java": "The server does not support SSL.",
        "node": "The server does not support SSL connections",
        "rust": "server does not support TLS",
    },
    ("sql", "nowhere"): {
        "go": 'pq: database "{database}" does not exist',
        "python": 'FATAL:  database "{database}" does not exist',
        "dotnet": '3D000: database "{database}" does not exist',
        "java": 'FATAL: database "{database}" does not exist',
        "node": 'database "{database}" does not exist',
        "rust": 'database "{database}" does not exist',
    },
    ("sql", "full"): {
        "go": "pq: sorry, too many clients already",
        "python": _SQL_FULL,
        "dotnet": "53300: sorry, too many clients already",
    },
    ("mongodb", "denied"): {"go": "(Unauthorized) command {command} requires authentication"},
    ("redis", "late"): {
        "dotnet": "StackExchange.Redis.RedisTimeoutException: Timeout awaiting response (outbound=0KiB, inbound=0KiB, "
        "5000ms elapsed, timeout is 5000ms), serverEndpoint: {host}:{port}",
    },
    ("redis", "denied"): {
        "go": _NOAUTH,
        "dotnet": "It was not possible to connect to the redis server(s). There was an authentication failure; check "
        "that passwords (or client certificates) are configured correctly: (RedisServerException) " + _NOAUTH,
    },
}


def describe_refusal(scheme: str, outcome: str, address: Address, ip: str) -> tuple[int, str]:
    """Describe the exit code and the last words of a client that gets no connection, or no login."""
    outcome = "unanswered" if outcome == "misanswered" else outcome
    names = {"host": address.host, "port": address.port, "user": address.user, "ip": ip, "database": address.desired}
    if scheme in ("postgres", "postgresql"):
        return 2, _POSTGRES.get(outcome, _POSTGRES["refused"]).format(**names)
    if scheme == "redis":
        wrong = _WRONG if outcome == "denied" and address.password else ""
        return 1, wrong + _REDIS.get(outcome, _REDIS["refused"]).format(**names)
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
