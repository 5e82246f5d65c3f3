"""What well-known client libraries say of a failed connection, by language and protocol or product, then by outcome.

Where a pair or an outcome is not listed, the language's own words do (`phrases`). The words are those that the
libraries print: pgjdbc, lettuce, the drivers of MongoDB, Kafka's clients, grpc, psycopg2, redis-py, requests and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
_MYSQL_SAYS: Final[Mapping[str, str]] = {
    "denied": "Error 1045 (28000): Access denied for user '{user}'@'%' (using password: YES)",
    "nowhere": "Error 1049 (42000): Unknown database '{database}'",
    "full": "Error 1040: Too many connections",
}
_PYMYSQL: Final = "pymysql.err.OperationalError: (2003, \"Can't connect to MySQL server on '{host}' (%s)\")"
_RABBIT_DENIES: Final = (
    "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
)
_PIKA: Final = "pika.exceptions.AMQPConnectionError: %s"

SPOKEN: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("java", "grpc"): {
        "aborted": _NETTY + "Network closed for unknown reason",
        "refused": _NETTY + "io exception: finishConnect(..) failed: Connection refused: {host}/{ip}:{port}",
        "noname": _NETTY + "Unable to resolve host {host}",
        "unanswered": _NETTY + "Unable to resolve host {host}",
        "dropped": _NETTY + "io exception: connection timed out: {host}/{ip}:{port}",
        "late": "io.grpc.StatusRuntimeException: DEADLINE_EXCEEDED: deadline exceeded",
        "foreign": "io.grpc.StatusRuntimeException: UNIMPLEMENTED: Method not found",
    },
    ("java", "kafka"): {
        "refused": "Connection to node -1 ({host}/{ip}:{port}) could not be established. Node may not be available.",
        "noname": _UNRESOLVED,
        "unanswered": _UNRESOLVED,
        "dropped": "Disconnecting from node -1 due to socket connection setup timeout.",
        "foreign": "Bootstrap broker {host}:{port} disconnected",
        "late": "Timed out waiting for a response from {host}:{port}",
    },
    ("java", "sql"): {
        "aborted": _PGJDBC + "An I/O error occurred while sending to the backend.",
        "refused": _PGJDBC + "Connection to {host}:{port} refused. Check that the hostname and port are correct and "
        "that the postmaster is accepting TCP/IP connections.",
        "noname": _PGJDBC + "The connection attempt failed. Caused by: java.net.UnknownHostException: {host}",
        "unanswered": _PGJDBC + "The connection attempt failed. Caused by: java.net.UnknownHostException: {host}",
        "dropped": _PGJDBC
        + "The connection attempt failed. Caused by: java.net.SocketTimeoutException: Connect timed out",
        "denied": _PGJDBC + 'FATAL: password authentication failed for user "{user}"',
        "late": _PGJDBC + "ERROR: canceling statement due to user request",
    },
    ("java", "redis"): {
        "refused": _LETTUCE + ". Caused by: java.net.ConnectException: Connection refused: {host}/{ip}:{port}",
        "noname": _LETTUCE + ". Caused by: java.net.UnknownHostException: {host}",
        "unanswered": _LETTUCE + ". Caused by: java.net.UnknownHostException: {host}",
        "dropped": _LETTUCE
        + ". Caused by: io.netty.channel.ConnectTimeoutException: connection timed out: {host}/{ip}:{port}",
        "denied": "io.lettuce.core.RedisCommandExecutionException: NOAUTH Authentication required.",
        "late": "io.lettuce.core.RedisCommandTimeoutException: Command timed out after 1 minute(s)",
    },
    ("java", "mongodb"): {
        "refused": _JAVA_MONGO % "java.net.ConnectException: Connection refused",
        "noname": _JAVA_MONGO % "java.net.UnknownHostException: {host}",
        "unanswered": _JAVA_MONGO % "java.net.UnknownHostException: {host}",
        "dropped": _JAVA_MONGO % "java.net.SocketTimeoutException: Connect timed out",
        "denied": "com.mongodb.MongoSecurityException: Exception authenticating MongoCredential{{userName='{user}'}}",
        "late": "com.mongodb.MongoSocketReadTimeoutException: Timeout while receiving message",
    },
    ("python", "grpc"): {
        "refused": _IPV4 + "connection refused",
        "noname": "DNS resolution failed for {host}:{port}: Domain name not found",
        "misanswered": "DNS resolution failed for {host}:{port}: DNS server returned general failure",
        "unanswered": "DNS resolution failed for {host}:{port}: Timeout while contacting DNS servers",
        "dropped": _IPV4 + "FD Shutdown",
        "foreign": "Method not found!",
        "late": "Deadline Exceeded",
    },
    ("python", "http"): {
        "refused": _URLLIB3 % ("NewConnectionError", "establish a new connection: [Errno 111] Connection refused"),
        "noname": _URLLIB3 % ("NameResolutionError", "resolve '{host}' ([Errno -2] Name or service not known)"),
        "unanswered": _URLLIB3
        % ("NameResolutionError", "resolve '{host}' ([Errno -3] Temporary failure in name resolution)"),
        "dropped": "HTTPConnectionPool(host='{host}', port={port}): Max retries exceeded with url: / (Caused by "
        "ConnectTimeoutError(<urllib3.connection.HTTPConnection object>, 'Connection to {host} timed out.'))",
        "late": "HTTPConnectionPool(host='{host}', port={port}): Read timed out.",
    },
    ("python", "sql"): {
        "aborted": "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n"
        "\tbefore or while processing the request.",
        "refused": _LIBPQ + "Connection refused" + _RUNNING,
        "noname": 'could not translate host name "{host}" to address: Name or service not known',
        "unanswered": 'could not translate host name "{host}" to address: Temporary failure in name resolution',
        "dropped": _LIBPQ + "Connection timed out" + _RUNNING,
        "denied": _LIBPQ + 'FATAL:  password authentication failed for user "{user}"',
    },
    ("python", "redis"): {
        "aborted": "Connection closed by server.",
        "refused": "Error 111 connecting to {host}:{port}. Connection refused.",
        "noname": "Error -2 connecting to {host}:{port}. Name or service not known.",
        "unanswered": "Error -3 connecting to {host}:{port}. Temporary failure in name resolution.",
        "dropped": "Timeout connecting to server",
        "denied": "Authentication required.",
        "late": "Timeout reading from {host}:{port}",
    },
    ("python", "mongodb"): {
        "refused": _PYMONGO % "[Errno 111] Connection refused" + _PYMONGO_TAIL,
        "noname": _PYMONGO % "[Errno -2] Name or service not known" + _PYMONGO_TAIL,
        "unanswered": _PYMONGO % "[Errno -3] Temporary failure in name resolution" + _PYMONGO_TAIL,
        "dropped": _PYMONGO % "timed out" + _PYMONGO_TAIL,
        "denied": "Authentication failed.",
        "late": "{host}:{port}: timed out",
    },
    ("python", "kafka"): {
        "refused": _PYKAFKA + "[Errno 111] ECONNREFUSED",
        "noname": "DNS lookup failed for {host}:{port}: [Errno -2] Name or service not known",
        "unanswered": "DNS lookup failed for {host}:{port}: [Errno -3] Temporary failure in name resolution",
        "dropped": _PYKAFKA + "timeout",
        "late": "KafkaTimeoutError: Batch for topic containing 1 record(s) expired",
    },
    ("node", "redis"): {
        "denied": "ReplyError: NOAUTH Authentication required.",
        "late": "Error: Command timed out",
    },
    ("node", "mongodb"): {
        "refused": _NODE_MONGO + "connect ECONNREFUSED {ip}:{port}",
        "noname": _NODE_MONGO + "getaddrinfo ENOTFOUND {host}",
        "unanswered": _NODE_MONGO + "getaddrinfo EAI_AGAIN {host}",
        "dropped": _NODE_MONGO + "Server selection timed out after 30000 ms",
        "denied": "MongoServerError: Authentication failed.",
        "late": "MongoNetworkTimeoutError: connection timed out",
    },
    ("node", "kafka"): {
        "refused": "KafkaJSConnectionError: Connection error: connect ECONNREFUSED {ip}:{port}",
        "noname": "KafkaJSConnectionError: Connection error: getaddrinfo ENOTFOUND {host}",
        "unanswered": "KafkaJSConnectionError: Connection error: getaddrinfo EAI_AGAIN {host}",
        "dropped": "KafkaJSConnectionError: Connection timeout",
        "late": "KafkaJSRequestTimeoutError: Request Produce timed out",
    },
    ("go", "redis"): {
        "denied": "NOAUTH Authentication required.",
        "late": "read tcp: i/o timeout",
    },
    ("go", "mysql"): _MYSQL_SAYS,
    ("java", "mysql"): {
        **dict.fromkeys(
            ("aborted", "refused", "noname", "unanswered", "dropped", "late"),
            "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure",
        ),
        "denied": "java.sql.SQLException: Access denied for user '{user}'@'%' (using password: YES)",
        "nowhere": "java.sql.SQLSyntaxErrorException: Unknown database '{database}'",
        "full": "java.sql.SQLNonTransientConnectionException: Data source rejected establishment of connection, "
        'message from server: "Too many connections"',
    },
    ("python", "mysql"): {
        **{outcome: f"pymysql.err.OperationalError: {said}" for outcome, said in _MYSQL_SAYS.items()},
        "refused": _PYMYSQL % "[Errno 111] Connection refused",
        "noname": _PYMYSQL % "[Errno -2] Name or service not known",
        "unanswered": _PYMYSQL % "[Errno -3] Temporary failure in name resolution",
        "dropped": _PYMYSQL % "timed out",
    },
    ("node", "mysql"): {outcome: f"Error: {said}" for outcome, said in _MYSQL_SAYS.items()},
    ("dotnet", "mysql"): {
        **{outcome: f"MySqlConnector.MySqlException (0x80004005): {said}" for outcome, said in _MYSQL_SAYS.items()},
        **dict.fromkeys(
            ("refused", "noname", "unanswered", "dropped"),
            "MySqlConnector.MySqlException (0x80004005): Unable to connect to any of the specified MySQL hosts.",
        ),
    },
    ("go", "rabbitmq"): {"denied": 'Exception (403) Reason: "username or password not allowed"'},
    ("java", "rabbitmq"): {"denied": "com.rabbitmq.client.AuthenticationFailureException: " + _RABBIT_DENIES},
    ("python", "rabbitmq"): {
        "refused": _PIKA % "AMQPConnectorSocketConnectError: ConnectionRefusedError(111, 'Connection refused')",
        "noname": _PIKA % "AddressResolutionError: gaierror(-2, 'Name or service not known')",
        "unanswered": _PIKA % "AddressResolutionError: gaierror(-3, 'Temporary failure in name resolution')",
        "dropped": _PIKA % "AMQPConnectorSocketConnectError: TimeoutError()",
        "denied": f"pika.exceptions.ProbableAuthenticationError: ConnectionClosedByBroker: (403) '{_RABBIT_DENIES}'",
    },
    ("node", "rabbitmq"): {
        "denied": f'Error: Handshake terminated by server: 403 (ACCESS-REFUSED) with message "{_RABBIT_DENIES}"',
    },
    ("dotnet", "rabbitmq"): dict.fromkeys(
        ("refused", "noname", "unanswered", "dropped", "denied"),
        "RabbitMQ.Client.Exceptions.BrokerUnreachableException: None of the specified endpoints were reachable",
    ),
    ("dotnet", "mongodb"): {
        "refused": "System.TimeoutException: A timeout occurred after 30000ms selecting a server using "
        'CompositeServerSelector. Client view of cluster state is {{ ClusterId : "1", State : "Disconnected", Servers: '
        '[{{ EndPoint: "Unspecified/{host}:{port}", State: "Disconnected" }}] }}',
    },
}
