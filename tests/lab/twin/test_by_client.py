"""What libraries say of a failed connection: by language and protocol, with the names that are known."""

from __future__ import annotations

from typing import get_args

import pytest

from scenario_kit.lab.twin.client_errors.by_client import SPOKEN
from scenario_kit.lab.twin.client_errors.by_language import DIALECTS, describe_cause
from scenario_kit.model.twin.address import Protocol

NAMES = {"host": "orders-db", "port": 4711, "ip": "10.96.0.7", "user": "shop", "database": "shop"}
OUTCOMES = (
    "aborted",
    "refused",
    "noname",
    "unanswered",
    "misanswered",
    "dropped",
    "plain",
    "denied",
    "foreign",
    "late",
)


@pytest.mark.parametrize(
    ("dialect", "outcome", "protocol", "expected"),
    [
        ("java", "refused", "http", "java.net.ConnectException: Connection refused"),
        ("java", "refused", "kafka", "Connection to node -1 (orders-db/10.96.0.7:4711) could not be established"),
        ("java", "refused", "sql", "PSQLException: Connection to orders-db:4711 refused."),
        ("java", "refused", "grpc", "StatusRuntimeException: UNAVAILABLE: io exception"),
        ("java", "misanswered", "redis", "java.net.UnknownHostException: orders-db"),
        ("go", "denied", "mongodb", "(Unauthorized) command insert requires authentication"),
        ("java", "noname", "mongodb", "servers=[{address=orders-db:4711"),
        ("python", "refused", "http", "HTTPConnectionPool(host='orders-db', port=4711): Max retries exceeded"),
        ("python", "refused", "grpc", "failed to connect to all addresses; last error: ipv4:10.96.0.7:4711"),
        ("python", "misanswered", "grpc", "DNS server returned general failure"),
        ("python", "noname", "sql", 'could not translate host name "orders-db" to address'),
        ("python", "late", "redis", "Timeout reading from orders-db:4711"),
        ("node", "refused", "kafka", "KafkaJSConnectionError: Connection error: connect ECONNREFUSED 10.96.0.7:4711"),
        ("node", "refused", "http", "connect ECONNREFUSED 10.96.0.7:4711"),
        ("java", "refused", "mysql", "CommunicationsException: Communications link failure"),
        ("go", "denied", "mysql", "Error 1045 (28000): Access denied for user 'shop'@'%' (using password: YES)"),
        ("python", "refused", "mysql", "Can't connect to MySQL server on 'orders-db' ([Errno 111] Connection refused)"),
        ("python", "denied", "mysql", "pymysql.err.OperationalError: Error 1045"),
        ("node", "denied", "rabbitmq", "ACCESS_REFUSED - Login was refused"),
        ("dotnet", "noname", "rabbitmq", "None of the specified endpoints were reachable"),
        ("go", "refused", "mariadb", "dial tcp 10.96.0.7:4711: connect: connection refused"),
        ("ruby", "refused", "http", "dial tcp 10.96.0.7:4711: connect: connection refused"),
    ],
)
def test_a_library_has_words_of_its_own(dialect: str, outcome: str, protocol: str, expected: str) -> None:
    assert expected in describe_cause(dialect, outcome, protocol, **NAMES)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("protocol", [*get_args(Protocol), "mysql", "rabbitmq"])
def test_no_words_are_left_unfilled(protocol: str, outcome: str) -> None:
    for dialect in DIALECTS:
        words = describe_cause(dialect, outcome, protocol, **NAMES)
        assert words
        assert not {"{host}", "{port}", "{ip}", "{user}", "{words}", "%s"} & set(words.split())
        assert "{{" not in words or dialect == "envoy"
        assert "{host}" not in words
        assert "%s" not in words


def test_only_kafka_has_brokers_and_only_postgresql_an_sql_error() -> None:
    for dialect, protocol in SPOKEN:
        said = " ".join(SPOKEN[dialect, protocol].values())
        assert ("bootstrap" in said.lower() or "Kafka" in said) == (protocol == "kafka")


def test_a_store_that_refuses_names_what_it_was_asked() -> None:
    assert (
        describe_cause("go", "denied", "mongodb", command="find")
        == "(Unauthorized) command find requires authentication"
    )
