"""What well-known client libraries say of a failed connection, by language and protocol or product, then by outcome.

Where a pair or an outcome is not listed, the language's own words do (`phrases`). The words are those that the
libraries print: pgjdbc, lettuce, the drivers of MongoDB, Kafka's clients, grpc, psycopg2, redis-py, requests and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.lab.twin.outcome import ConnectionOutcome

_PGJDBC: Final = "org.postgresql.util.PSQLException: "
_LETTUCE: Final = "io.lettuce.core.RedisConnectionException: Unable to connect to {host}/<unresolved>:{port}"
_UNRESOLVED: Final = "Couldn't resolve server {host}:{port} from bootstrap.servers as DNS resolution failed for {host}"
_JAVA_MONGO: Final = (
    "com.mongodb.MongoTimeoutException: Timed out while waiting for a server that matches ReadPreferenceServerSelector"
    "{{readPreference=primary}}. Client view of cluster state is {{type=UNKNOWN, servers=[{{address={host}:{port}, "
    "type=UNKNOWN, state=CONNECTING, exception={{com.mongodb.MongoSocketOpenException: Exception opening socket}}, "
    "caused by {{%s}}}}]}}"
)
_URLLIB3: Final = (
    "HTTPConnectionPool(host='{host}', port={port}): Max retries exceeded with url: / (Caused by %s("
    "<urllib3.connection.HTTPConnection object>: Failed to %s))"
)
_LIBPQ: Final = 'connection to server at "{host}" ({ip}), port {port} failed: '
_RUNNING: Final = "\n\tIs the server running on that host and accepting TCP/IP connections?"
_PYMONGO: Final = "pymongo.errors.ServerSelectionTimeoutError: {host}:{port}: %s, Timeout: 30s, Topology Description: "
_PYMONGO_TAIL: Final = "<TopologyDescription topology_type: Unknown, servers: [('{host}', {port})]>"
_IPV4: Final = "failed to connect to all addresses; last error: ipv4:{ip}:{port}: "
_PYKAFKA: Final = "KafkaConnectionError: Connection at {host}:{port} failed: "
_NODE_MONGO: Final = "MongoServerSelectionError: "
_NETTY: Final = "io.grpc.StatusRuntimeException: UNAVAILABLE: "

#: What a server of MySQL sends, whatever the client adds in front.
_MYSQL_SAYS: Final[Mapping[ConnectionOutcome, str]] = {
    ConnectionOutcome.AUTHENTICATION_FAILED: "Error 1045 (28000): Access denied for user '{user}'@'%' (using "
    "password: YES)",
    ConnectionOutcome.UNKNOWN_DATABASE: "Error 1049 (42000): Unknown database '{database}'",
    ConnectionOutcome.TOO_MANY_CONNECTIONS: "Error 1040: Too many connections",
}
_PYMYSQL: Final = "pymysql.err.OperationalError: (2003, \"Can't connect to MySQL server on '{host}' (%s)\")"
_RABBIT_DENIES: Final = (
    "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
)
_PIKA: Final = "pika.exceptions.AMQPConnectionError: %s"

SPOKEN: Final[Mapping[tuple[str, str], Mapping[ConnectionOutcome, str]]] = {
    ("java", "grpc"): {
        ConnectionOutcome.CONNECTION_RESET: _NETTY + "Network closed for unknown reason",
        ConnectionOutcome.CONNECTION_REFUSED: _NETTY
        + "io exception: finishConnect(..) failed: Connection refused: {host}/{ip}:{port}",
        ConnectionOutcome.NXDOMAIN: _NETTY + "Unable to resolve host {host}",
        ConnectionOutcome.DNS_TIMEOUT: _NETTY + "Unable to resolve host {host}",
        ConnectionOutcome.CONNECTION_TIMEOUT: _NETTY + "io exception: connection timed out: {host}/{ip}:{port}",
        ConnectionOutcome.DEADLINE_EXCEEDED: "io.grpc.StatusRuntimeException: DEADLINE_EXCEEDED: deadline exceeded",
        ConnectionOutcome.PROTOCOL_MISMATCH: "io.grpc.StatusRuntimeException: UNIMPLEMENTED: Method not found",
    },
    ("java", "kafka"): {
        ConnectionOutcome.CONNECTION_REFUSED: "Connection to node -1 ({host}/{ip}:{port}) could not be "
        "established. Node may not be available.",
        ConnectionOutcome.NXDOMAIN: _UNRESOLVED,
        ConnectionOutcome.DNS_TIMEOUT: _UNRESOLVED,
        ConnectionOutcome.CONNECTION_TIMEOUT: "Disconnecting from node -1 due to socket connection setup timeout.",
        ConnectionOutcome.PROTOCOL_MISMATCH: "Bootstrap broker {host}:{port} disconnected",
        ConnectionOutcome.DEADLINE_EXCEEDED: "Timed out waiting for a response from {host}:{port}",
    },
    ("java", "sql"): {
        ConnectionOutcome.CONNECTION_RESET: _PGJDBC + "An I/O error occurred while sending to the backend.",
        ConnectionOutcome.CONNECTION_REFUSED: _PGJDBC
        + "Connection to {host}:{port} refused. Check that the hostname and port are correct and "
        "that the postmaster is accepting TCP/IP connections.",
        ConnectionOutcome.NXDOMAIN: _PGJDBC
        + "The connection attempt failed. Caused by: java.net.UnknownHostException: {host}",
        ConnectionOutcome.DNS_TIMEOUT: _PGJDBC
        + "The connection attempt failed. Caused by: java.net.UnknownHostException: {host}",
        ConnectionOutcome.CONNECTION_TIMEOUT: _PGJDBC
        + "The connection attempt failed. Caused by: java.net.SocketTimeoutException: Connect timed out",
        ConnectionOutcome.AUTHENTICATION_FAILED: _PGJDBC + 'FATAL: password authentication failed for user "{user}"',
        ConnectionOutcome.DEADLINE_EXCEEDED: _PGJDBC + "ERROR: canceling statement due to user request",
    },
    ("java", "redis"): {
        ConnectionOutcome.CONNECTION_REFUSED: _LETTUCE
        + ". Caused by: java.net.ConnectException: Connection refused: {host}/{ip}:{port}",
        ConnectionOutcome.NXDOMAIN: _LETTUCE + ". Caused by: java.net.UnknownHostException: {host}",
        ConnectionOutcome.DNS_TIMEOUT: _LETTUCE + ". Caused by: java.net.UnknownHostException: {host}",
        ConnectionOutcome.CONNECTION_TIMEOUT: _LETTUCE
        + ". Caused by: io.netty.channel.ConnectTimeoutException: connection timed out: {host}/{ip}:{port}",
        ConnectionOutcome.AUTHENTICATION_FAILED: "io.lettuce.core.RedisCommandExecutionException: NOAUTH "
        "Authentication required.",
        ConnectionOutcome.DEADLINE_EXCEEDED: "io.lettuce.core.RedisCommandTimeoutException: Command timed out "
        "after 1 minute(s)",
    },
    ("java", "mongodb"): {
        ConnectionOutcome.CONNECTION_REFUSED: _JAVA_MONGO % "java.net.ConnectException: Connection refused",
        ConnectionOutcome.NXDOMAIN: _JAVA_MONGO % "java.net.UnknownHostException: {host}",
        ConnectionOutcome.DNS_TIMEOUT: _JAVA_MONGO % "java.net.UnknownHostException: {host}",
        ConnectionOutcome.CONNECTION_TIMEOUT: _JAVA_MONGO % "java.net.SocketTimeoutException: Connect timed out",
        ConnectionOutcome.AUTHENTICATION_FAILED: "com.mongodb.MongoSecurityException: Exception authenticating "
        "MongoCredential{{userName='{user}'}}",
        ConnectionOutcome.DEADLINE_EXCEEDED: "com.mongodb.MongoSocketReadTimeoutException: Timeout while "
        "receiving message",
    },
    ("python", "grpc"): {
        ConnectionOutcome.CONNECTION_REFUSED: _IPV4 + "connection refused",
        ConnectionOutcome.NXDOMAIN: "DNS resolution failed for {host}:{port}: Domain name not found",
        ConnectionOutcome.SERVFAIL: "DNS resolution failed for {host}:{port}: DNS server returned general failure",
        ConnectionOutcome.DNS_TIMEOUT: "DNS resolution failed for {host}:{port}: Timeout while contacting DNS servers",
        ConnectionOutcome.CONNECTION_TIMEOUT: _IPV4 + "FD Shutdown",
        ConnectionOutcome.PROTOCOL_MISMATCH: "Method not found!",
        ConnectionOutcome.DEADLINE_EXCEEDED: "Deadline Exceeded",
    },
    ("python", "http"): {
        ConnectionOutcome.CONNECTION_REFUSED: _URLLIB3
        % ("NewConnectionError", "establish a new connection: [Errno 111] Connection refused"),
        ConnectionOutcome.NXDOMAIN: _URLLIB3
        % ("NameResolutionError", "resolve '{host}' ([Errno -2] Name or service not known)"),
        ConnectionOutcome.DNS_TIMEOUT: _URLLIB3
        % ("NameResolutionError", "resolve '{host}' ([Errno -3] Temporary failure in name resolution)"),
        ConnectionOutcome.CONNECTION_TIMEOUT: "HTTPConnectionPool(host='{host}', port={port}): Max retries "
        "exceeded with url: / (Caused by "
        "ConnectTimeoutError(<urllib3.connection.HTTPConnection object>, 'Connection to {host} timed out.'))",
        ConnectionOutcome.DEADLINE_EXCEEDED: "HTTPConnectionPool(host='{host}', port={port}): Read timed out.",
    },
    ("python", "sql"): {
        ConnectionOutcome.CONNECTION_RESET: "server closed the connection unexpectedly\n\tThis probably means "
        "the server terminated abnormally\n"
        "\tbefore or while processing the request.",
        ConnectionOutcome.CONNECTION_REFUSED: _LIBPQ + "Connection refused" + _RUNNING,
        ConnectionOutcome.NXDOMAIN: 'could not translate host name "{host}" to address: Name or service not known',
        ConnectionOutcome.DNS_TIMEOUT: 'could not translate host name "{host}" to address: Temporary failure in '
        "name resolution",
        ConnectionOutcome.CONNECTION_TIMEOUT: _LIBPQ + "Connection timed out" + _RUNNING,
        ConnectionOutcome.AUTHENTICATION_FAILED: _LIBPQ + 'FATAL:  password authentication failed for user "{user}"',
    },
    ("python", "redis"): {
        ConnectionOutcome.CONNECTION_RESET: "Connection closed by server.",
        ConnectionOutcome.CONNECTION_REFUSED: "Error 111 connecting to {host}:{port}. Connection refused.",
        ConnectionOutcome.NXDOMAIN: "Error -2 connecting to {host}:{port}. Name or service not known.",
        ConnectionOutcome.DNS_TIMEOUT: "Error -3 connecting to {host}:{port}. Temporary failure in name resolution.",
        ConnectionOutcome.CONNECTION_TIMEOUT: "Timeout connecting to server",
        ConnectionOutcome.AUTHENTICATION_FAILED: "Authentication required.",
        ConnectionOutcome.DEADLINE_EXCEEDED: "Timeout reading from {host}:{port}",
    },
    ("python", "mongodb"): {
        ConnectionOutcome.CONNECTION_REFUSED: _PYMONGO % "[Errno 111] Connection refused" + _PYMONGO_TAIL,
        ConnectionOutcome.NXDOMAIN: _PYMONGO % "[Errno -2] Name or service not known" + _PYMONGO_TAIL,
        ConnectionOutcome.DNS_TIMEOUT: _PYMONGO % "[Errno -3] Temporary failure in name resolution" + _PYMONGO_TAIL,
        ConnectionOutcome.CONNECTION_TIMEOUT: _PYMONGO % "timed out" + _PYMONGO_TAIL,
        ConnectionOutcome.AUTHENTICATION_FAILED: "Authentication failed.",
        ConnectionOutcome.DEADLINE_EXCEEDED: "{host}:{port}: timed out",
    },
    ("python", "kafka"): {
        ConnectionOutcome.CONNECTION_REFUSED: _PYKAFKA + "[Errno 111] ECONNREFUSED",
        ConnectionOutcome.NXDOMAIN: "DNS lookup failed for {host}:{port}: [Errno -2] Name or service not known",
        ConnectionOutcome.DNS_TIMEOUT: "DNS lookup failed for {host}:{port}: [Errno -3] Temporary failure in "
        "name resolution",
        ConnectionOutcome.CONNECTION_TIMEOUT: _PYKAFKA + "timeout",
        ConnectionOutcome.DEADLINE_EXCEEDED: "KafkaTimeoutError: Batch for topic containing 1 record(s) expired",
    },
    ("node", "redis"): {
        ConnectionOutcome.AUTHENTICATION_FAILED: "ReplyError: NOAUTH Authentication required.",
        ConnectionOutcome.DEADLINE_EXCEEDED: "Error: Command timed out",
    },
    ("node", "mongodb"): {
        ConnectionOutcome.CONNECTION_REFUSED: _NODE_MONGO + "connect ECONNREFUSED {ip}:{port}",
        ConnectionOutcome.NXDOMAIN: _NODE_MONGO + "getaddrinfo ENOTFOUND {host}",
        ConnectionOutcome.DNS_TIMEOUT: _NODE_MONGO + "getaddrinfo EAI_AGAIN {host}",
        ConnectionOutcome.CONNECTION_TIMEOUT: _NODE_MONGO + "Server selection timed out after 30000 ms",
        ConnectionOutcome.AUTHENTICATION_FAILED: "MongoServerError: Authentication failed.",
        ConnectionOutcome.DEADLINE_EXCEEDED: "MongoNetworkTimeoutError: connection timed out",
    },
    ("node", "kafka"): {
        ConnectionOutcome.CONNECTION_REFUSED: "KafkaJSConnectionError: Connection error: connect ECONNREFUSED "
        "{ip}:{port}",
        ConnectionOutcome.NXDOMAIN: "KafkaJSConnectionError: Connection error: getaddrinfo ENOTFOUND {host}",
        ConnectionOutcome.DNS_TIMEOUT: "KafkaJSConnectionError: Connection error: getaddrinfo EAI_AGAIN {host}",
        ConnectionOutcome.CONNECTION_TIMEOUT: "KafkaJSConnectionError: Connection timeout",
        ConnectionOutcome.DEADLINE_EXCEEDED: "KafkaJSRequestTimeoutError: Request Produce timed out",
    },
    ("go", "redis"): {
        ConnectionOutcome.AUTHENTICATION_FAILED: "NOAUTH Authentication required.",
        ConnectionOutcome.DEADLINE_EXCEEDED: "read tcp: i/o timeout",
    },
    ("go", "mysql"): _MYSQL_SAYS,
    ("java", "mysql"): {
        **dict.fromkeys(
            (
                ConnectionOutcome.CONNECTION_RESET,
                ConnectionOutcome.CONNECTION_REFUSED,
                ConnectionOutcome.NXDOMAIN,
                ConnectionOutcome.DNS_TIMEOUT,
                ConnectionOutcome.CONNECTION_TIMEOUT,
                ConnectionOutcome.DEADLINE_EXCEEDED,
            ),
            "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure",
        ),
        ConnectionOutcome.AUTHENTICATION_FAILED: "java.sql.SQLException: Access denied for user '{user}'@'%' "
        "(using password: YES)",
        ConnectionOutcome.UNKNOWN_DATABASE: "java.sql.SQLSyntaxErrorException: Unknown database '{database}'",
        ConnectionOutcome.TOO_MANY_CONNECTIONS: "java.sql.SQLNonTransientConnectionException: Data source "
        "rejected establishment of connection, "
        'message from server: "Too many connections"',
    },
    ("python", "mysql"): {
        **{outcome: f"pymysql.err.OperationalError: {said}" for outcome, said in _MYSQL_SAYS.items()},
        ConnectionOutcome.CONNECTION_REFUSED: _PYMYSQL % "[Errno 111] Connection refused",
        ConnectionOutcome.NXDOMAIN: _PYMYSQL % "[Errno -2] Name or service not known",
        ConnectionOutcome.DNS_TIMEOUT: _PYMYSQL % "[Errno -3] Temporary failure in name resolution",
        ConnectionOutcome.CONNECTION_TIMEOUT: _PYMYSQL % "timed out",
    },
    ("node", "mysql"): {outcome: f"Error: {said}" for outcome, said in _MYSQL_SAYS.items()},
    ("dotnet", "mysql"): {
        **{outcome: f"MySqlConnector.MySqlException (0x80004005): {said}" for outcome, said in _MYSQL_SAYS.items()},
        **dict.fromkeys(
            (
                ConnectionOutcome.CONNECTION_REFUSED,
                ConnectionOutcome.NXDOMAIN,
                ConnectionOutcome.DNS_TIMEOUT,
                ConnectionOutcome.CONNECTION_TIMEOUT,
            ),
            "MySqlConnector.MySqlException (0x80004005): Unable to connect to any of the specified MySQL hosts.",
        ),
    },
    ("go", "rabbitmq"): {
        ConnectionOutcome.AUTHENTICATION_FAILED: 'Exception (403) Reason: "username or password not allowed"'
    },
    ("java", "rabbitmq"): {
        ConnectionOutcome.AUTHENTICATION_FAILED: "com.rabbitmq.client.AuthenticationFailureException: " + _RABBIT_DENIES
    },
    ("python", "rabbitmq"): {
        ConnectionOutcome.CONNECTION_REFUSED: _PIKA
        % "AMQPConnectorSocketConnectError: ConnectionRefusedError(111, 'Connection refused')",
        ConnectionOutcome.NXDOMAIN: _PIKA % "AddressResolutionError: gaierror(-2, 'Name or service not known')",
        ConnectionOutcome.DNS_TIMEOUT: _PIKA
        % "AddressResolutionError: gaierror(-3, 'Temporary failure in name resolution')",
        ConnectionOutcome.CONNECTION_TIMEOUT: _PIKA % "AMQPConnectorSocketConnectError: TimeoutError()",
        ConnectionOutcome.AUTHENTICATION_FAILED: f"pika.exceptions.ProbableAuthenticationError: "
        f"ConnectionClosedByBroker: (403) '{_RABBIT_DENIES}'",
    },
    ("node", "rabbitmq"): {
        ConnectionOutcome.AUTHENTICATION_FAILED: f"Error: Handshake terminated by server: 403 (ACCESS-REFUSED) "
        f'with message "{_RABBIT_DENIES}"',
    },
    ("dotnet", "rabbitmq"): dict.fromkeys(
        (
            ConnectionOutcome.CONNECTION_REFUSED,
            ConnectionOutcome.NXDOMAIN,
            ConnectionOutcome.DNS_TIMEOUT,
            ConnectionOutcome.CONNECTION_TIMEOUT,
            ConnectionOutcome.AUTHENTICATION_FAILED,
        ),
        "RabbitMQ.Client.Exceptions.BrokerUnreachableException: None of the specified endpoints were reachable",
    ),
    ("dotnet", "mongodb"): {
        ConnectionOutcome.CONNECTION_REFUSED: "System.TimeoutException: A timeout occurred after 30000ms "
        "selecting a server using "
        'CompositeServerSelector. Client view of cluster state is {{ ClusterId : "1", State : "Disconnected", Servers: '
        '[{{ EndPoint: "Unspecified/{host}:{port}", State: "Disconnected" }}] }}',
    },
}
