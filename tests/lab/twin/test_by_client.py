"""What libraries say of a failed connection: by language and protocol, with the names that are known."""

from __future__ import annotations

from typing import get_args

import pytest

from scenario_kit.lab.twin.client_errors.by_language import describe_cause, describe_request
from scenario_kit.lab.twin.client_errors.words import CLIENTS, DIALECTS
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.twin.address import Protocol

NAMES = {"host": "orders-db", "port": 4711, "ip": "10.96.0.7", "user": "shop", "database": "shop"}
OUTCOMES = (
    ConnectionOutcome.CONNECTION_RESET,
    ConnectionOutcome.CONNECTION_REFUSED,
    ConnectionOutcome.NXDOMAIN,
    ConnectionOutcome.DNS_TIMEOUT,
    ConnectionOutcome.SERVFAIL,
    ConnectionOutcome.CONNECTION_TIMEOUT,
    ConnectionOutcome.TLS_MISMATCH,
    ConnectionOutcome.AUTHENTICATION_FAILED,
    ConnectionOutcome.PROTOCOL_MISMATCH,
    ConnectionOutcome.DEADLINE_EXCEEDED,
)


@pytest.mark.parametrize(
    ("dialect", "outcome", "protocol", "expected"),
    [
        ("java", ConnectionOutcome.CONNECTION_REFUSED, "http", "java.net.ConnectException: Connection refused"),
        (
            "java",
            ConnectionOutcome.CONNECTION_REFUSED,
            "kafka",
            "Connection to node -1 (orders-db/10.96.0.7:4711) could not be established",
        ),
        ("java", ConnectionOutcome.CONNECTION_REFUSED, "sql", "PSQLException: Connection to orders-db:4711 refused."),
        ("java", ConnectionOutcome.CONNECTION_REFUSED, "grpc", "StatusRuntimeException: UNAVAILABLE: io exception"),
        ("java", ConnectionOutcome.SERVFAIL, "redis", "java.net.UnknownHostException: orders-db"),
        (
            "go",
            ConnectionOutcome.AUTHENTICATION_FAILED,
            "mongodb",
            "(Unauthorized) command insert requires authentication",
        ),
        ("java", ConnectionOutcome.NXDOMAIN, "mongodb", "servers=[{address=orders-db:4711"),
        (
            "python",
            ConnectionOutcome.CONNECTION_REFUSED,
            "http",
            "HTTPConnectionPool(host='orders-db', port=4711): Max retries exceeded",
        ),
        (
            "python",
            ConnectionOutcome.CONNECTION_REFUSED,
            "grpc",
            "failed to connect to all addresses; last error: ipv4:10.96.0.7:4711",
        ),
        ("python", ConnectionOutcome.SERVFAIL, "grpc", "DNS server returned general failure"),
        ("python", ConnectionOutcome.NXDOMAIN, "sql", 'could not translate host name "orders-db" to address'),
        ("python", ConnectionOutcome.DEADLINE_EXCEEDED, "redis", "Timeout reading from orders-db:4711"),
        (
            "node",
            ConnectionOutcome.CONNECTION_REFUSED,
            "kafka",
            "KafkaJSConnectionError: Connection error: connect ECONNREFUSED 10.96.0.7:4711",
        ),
        ("node", ConnectionOutcome.CONNECTION_REFUSED, "http", "connect ECONNREFUSED 10.96.0.7:4711"),
        ("java", ConnectionOutcome.CONNECTION_REFUSED, "mysql", "CommunicationsException: Communications link failure"),
        (
            "go",
            ConnectionOutcome.AUTHENTICATION_FAILED,
            "mysql",
            "Error 1045 (28000): Access denied for user 'shop'@'%' (using password: YES)",
        ),
        (
            "python",
            ConnectionOutcome.CONNECTION_REFUSED,
            "mysql",
            "Can't connect to MySQL server on 'orders-db' ([Errno 111] Connection refused)",
        ),
        ("python", ConnectionOutcome.AUTHENTICATION_FAILED, "mysql", "pymysql.err.OperationalError: Error 1045"),
        ("node", ConnectionOutcome.AUTHENTICATION_FAILED, "rabbitmq", "ACCESS_REFUSED - Login was refused"),
        ("dotnet", ConnectionOutcome.NXDOMAIN, "rabbitmq", "None of the specified endpoints were reachable"),
        ("go", ConnectionOutcome.CONNECTION_REFUSED, "mariadb", "dial tcp 10.96.0.7:4711: connect: connection refused"),
        ("ruby", ConnectionOutcome.CONNECTION_REFUSED, "http", "dial tcp 10.96.0.7:4711: connect: connection refused"),
    ],
)
def test_client_errors_match_their_library(dialect: str, outcome: str, protocol: str, expected: str) -> None:
    assert expected in describe_cause(dialect, outcome, protocol, **NAMES)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("protocol", [*get_args(Protocol), "mysql", "rabbitmq"])
def test_client_errors_have_no_unfilled_placeholders(protocol: str, outcome: str) -> None:
    for dialect in DIALECTS:
        words = describe_cause(dialect, outcome, protocol, **NAMES)
        assert words
        assert not {"{host}", "{port}", "{ip}", "{user}", "{words}", "%s"} & set(words.split())
        assert "{{" not in words or dialect == "envoy"
        assert "{host}" not in words
        assert "%s" not in words


def test_only_kafka_has_brokers_and_only_postgresql_an_sql_error() -> None:
    for dialect, protocol in CLIENTS:
        message = " ".join(CLIENTS[dialect, protocol].values())
        assert ("bootstrap" in message.lower() or "Kafka" in message) == (protocol == "kafka")


def test_store_refusal_names_the_command() -> None:
    assert (
        describe_cause("go", ConnectionOutcome.AUTHENTICATION_FAILED, "mongodb", command="find")
        == "(Unauthorized) command find requires authentication"
    )


@pytest.mark.parametrize(
    ("client", "outcome", "route", "expected"),
    [
        (("go", "http"), ConnectionOutcome.CONNECTION_REFUSED, "POST /ship", 'Post "http://web:80/ship": words'),
        (("go", "http"), ConnectionOutcome.DNS_TIMEOUT, "GET /", 'Get "http://web:80/": words'),
        (("go", "http"), ConnectionOutcome.CONNECTION_RESET, "DELETE /a/{id}", 'Delete "http://web:80/a/{id}": words'),
        (("go", "http"), ConnectionOutcome.ERROR_RESPONSE, "POST /ship", "words"),  # a status is no error
        (("go", "http"), ConnectionOutcome.CONNECTION_REFUSED, "ship", "words"),  # no route is known
        (("go", "grpc"), ConnectionOutcome.CONNECTION_REFUSED, "POST /ship", "words"),
        (("python", "http"), ConnectionOutcome.CONNECTION_REFUSED, "POST /ship", "words"),
    ],
)
def test_go_names_the_request_that_failed(
    client: tuple[str, str], outcome: ConnectionOutcome, route: str, expected: str
) -> None:
    assert describe_request(client, outcome, "http://web:80", route, "words") == expected
