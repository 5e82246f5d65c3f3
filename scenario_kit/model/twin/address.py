"""Addresses that programs dial: where they read them, and the registries that hand them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import PORT, SECONDS, describe

#: What is spoken over a connection.
Protocol = Literal["http", "grpc", "redis", "memcached", "sql", "mongodb", "kafka", "tcp", "udp"]
#: What a callee is: systems of OpenTelemetry's conventions, and products that speak another one's protocol.
Product = Literal[
    "", "activemq", "artemis", "aws_sqs", "cassandra", "clickhouse", "cockroachdb", "couchbase", "couchdb", "db2",
    "documentdb", "dragonfly", "dynamodb", "elasticsearch", "etcd", "ferretdb", "gcp_pubsub", "hbase", "influxdb",
    "kafka", "keydb", "mariadb", "memcached", "minio", "mongodb", "mssql", "mysql", "nats", "neo4j", "opensearch",
    "oracle", "postgresql", "pulsar", "rabbitmq", "redis", "redpanda", "rocketmq", "scylladb", "servicebus", "spanner",
    "sqlite", "tidb", "trino", "valkey", "yugabytedb", "zookeeper",
]  # fmt: skip
#: The protocol of products that are spoken to over one protocol only.
PROTOCOLS: Final[Mapping[str, str]] = {
    "activemq": "tcp", "artemis": "tcp", "cassandra": "tcp", "cockroachdb": "sql", "db2": "sql",
    "documentdb": "mongodb", "dragonfly": "redis", "ferretdb": "mongodb", "kafka": "kafka", "keydb": "redis",
    "mariadb": "sql",
    "memcached": "memcached", "mongodb": "mongodb", "mssql": "sql", "mysql": "sql", "oracle": "sql",
    "postgresql": "sql", "rabbitmq": "tcp", "redis": "redis", "redpanda": "kafka", "scylladb": "tcp", "sqlite": "sql",
    "tidb": "sql", "valkey": "redis", "yugabytedb": "sql", "zookeeper": "tcp",
}  # fmt: skip
#: Other words for products.
PRODUCT_SYNONYMS: Final[Mapping[str, str]] = {
    "postgres": "postgresql", "pg": "postgresql", "amqp": "rabbitmq", "rabbit": "rabbitmq", "sqlserver": "mssql",
    "mongo": "mongodb", "maria": "mariadb", "elastic": "elasticsearch",
}  # fmt: skip
#: The client library whose messages a program prints for a product, where that is another one's or the protocol's.
CLIENT_LIBRARIES: Final[Mapping[str, str]] = {
    "mariadb": "mysql", "tidb": "mysql", "postgresql": "sql", "cockroachdb": "sql", "yugabytedb": "sql",
    "valkey": "redis", "keydb": "redis", "dragonfly": "redis", "redpanda": "kafka", "documentdb": "mongodb",
    "ferretdb": "mongodb",
}  # fmt: skip


class AddressSource(Value, frozen=True, kw_only=True):
    """Where a program reads an address.

    It is a variable or a key of the configuration file, one of either for the host and one for the port, or a fixed
    text.
    """

    component: Annotated[
        str, describe("The component whose environment holds the variables and that hands the address out.")
    ] = ""
    env: Annotated[str, describe("The variable that holds the address.")] = ""
    key: Annotated[str, describe("The key of the component's configuration file that holds the address.")] = ""
    host_env: Annotated[str, describe("The variable that holds the host alone.")] = ""
    port_env: Annotated[str, describe("The variable that holds the port alone.")] = ""
    host_key: Annotated[str, describe("The key of the configuration file that holds the host alone.")] = ""
    port_key: Annotated[str, describe("The key of the configuration file that holds the port alone.")] = ""
    text: Annotated[
        str,
        describe(
            "The address itself. `$(NAME)` in it is a variable of the program, empty where it has none of that name. "
            "Beside a key it stands for the file in the image, which counts where none is mounted."
        ),
    ] = ""
    default_port: Annotated[
        int, describe("The port where the address names none; 0 for that of its scheme.", **PORT)
    ] = 0


class RegistryModel(Value, frozen=True, kw_only=True):
    """A service registry kept in memory: what it lists is lost with its process.

    By default services register once, entries of processes that are gone stay listed, and watchers learn of changes at
    once (Consul without health checks). Clients of Eureka or Nacos renew their entries and read the list at intervals.
    """

    component: Annotated[str, describe("The component that is the registry.")]
    resolve_seconds: Annotated[
        float,
        describe(
            "How long watchers keep what they know after the registry was replaced, before they read the new one.",
            unit=SECONDS,
            ge=0,
        ),
    ] = 10.0
    heartbeat_seconds: Annotated[
        float,
        describe(
            "The interval at which services renew their entries, and register again where they are not listed; they "
            "then also leave the list when they are told to end. 0 for services that register once and never leave.",
            unit=SECONDS,
            ge=0,
        ),
    ] = 0.0
    lease_seconds: Annotated[
        float,
        describe("How long an entry stays listed that is not renewed; 0 for ever.", unit=SECONDS, ge=0),
    ] = 0.0
    fetch_seconds: Annotated[
        float,
        describe(
            "The interval at which callers read the list, from whichever registry answers; `resolveSeconds` then has "
            "no effect. 0 for callers that learn of changes at once.",
            unit=SECONDS,
            ge=0,
        ),
    ] = 0.0


class Registration(Value, frozen=True, kw_only=True):
    """A name under which a process announces its address and first port when it has come up.

    The registry's address is that of the edge to it. It does so once, or at the registry's `heartbeatSeconds`.
    """

    registry: Annotated[str, describe("The component that is the registry.")]
    name: Annotated[str, describe("The name under which the process is listed.")]
