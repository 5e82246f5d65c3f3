"""Addresses in configuration: ``host:port``, URLs, and database connection strings."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

#: Default ports by scheme.
_PORTS = {
    "amqp": 5672,
    "amqps": 5671,
    "http": 80,
    "https": 443,
    "mariadb": 3306,
    "mongodb": 27017,
    "mysql": 3306,
    "nats": 4222,
    "postgres": 5432,
    "postgresql": 5432,
    "redis": 6379,
    "rediss": 6379,
    "sqlserver": 1433,
    "ws": 80,
    "wss": 443,
}
_DATABASES = ("postgres", "postgresql", "mysql", "mariadb", "sqlserver")
_SECURE = ("https", "rediss", "grpcs", "amqps", "wss")
#: Schemes of gRPC name resolvers; the address is after the third slash.
_RESOLVERS = ("dns", "passthrough", "ipv4", "xds")
#: TLS modes of database clients that require TLS.
_DEMANDING = ("require", "required", "verify-ca", "verify-full", "verifyca", "verifyfull")
#: The data source name of Go's MySQL driver.
_DSN = re.compile(r"^(?:(?P<user>[^:@/]*)(?::(?P<password>.*))?@)?\w*\((?P<place>[^)]*)\)/(?P<database>[^?]*)")
_PAIR = re.compile(r"(?P<key>[A-Za-z][A-Za-z _]*?)\s*=\s*(?P<value>[^;\s]*)")


class Address(NamedTuple):
    """The endpoint, user and database of a connection. ``port`` is 0 if the text has none.

    With ``tls``, the program accepts only TLS.
    """

    host: str
    port: int = 0
    user: str = ""
    password: str = ""
    database: str = ""
    tls: bool = False

    @property
    def desired(self) -> str:
        """The database an SQL client requests; by default, the one with its user's name."""
        return self.database or self.user


def parse(text: str, default_port: int = 0) -> Address:
    """Parse an address. An empty host means that the text has none.

    Supported: ``host``, ``host:port``, ``user:password@host:port``, ``scheme://[user[:password]@]host[:port]/…`` (also
    in the forms ``jdbc:`` and ``dialect+driver://``), gRPC targets such as ``dns:///host:port``, data source names of
    Go's MySQL driver, and key-value strings such as ``host=db user=u password=p`` or
    ``Host=db;Username=u;Password=p``. Of several hosts the first one is used. In the URL of a database, the path is the
    name of the database.
    """
    text = text.strip().removeprefix("jdbc:")
    if text.startswith("dns:") and not text.startswith("dns://"):
        text = text.removeprefix("dns:")
    if "://" in text:
        return _parse_url(text, default_port)
    if dsn := _DSN.match(text):
        host, port = _place(dsn["place"], _PORTS["mysql"])
        return Address(host, port, dsn["user"] or "", dsn["password"] or "", dsn["database"])
    if "=" in text:
        return _parse_pairs(text, default_port)
    if "@" in text:  # programs prepend the scheme
        return _parse_url(f"any://{text}", default_port)
    return Address(*_place(text, default_port))


def _place(text: str, default_port: int) -> tuple[str, int]:
    """Parse host and port of the first of ``host[:port],…``; a port that is not a number is ignored."""
    first = text.partition(",")[0].strip()
    if first.startswith("["):
        host, _, rest = first[1:].partition("]")
        return host, int(rest[1:]) if rest[1:].isdecimal() else default_port
    host, _, port = first.partition(":")
    return host, int(port) if port.isdecimal() else default_port


def _parse_url(text: str, default_port: int) -> Address:
    scheme, _, rest = text.partition("://")
    scheme = scheme.partition("+")[0].lower()
    if scheme in _RESOLVERS:
        return Address(*_place(rest.partition("/")[2] or rest, default_port))
    place, slash, path = rest.partition("/")
    place, semicolon, settings = place.partition(";")  # the syntax of SQL Server
    before, at, hosts = place.rpartition("@")
    try:
        parts = urlsplit(f"{scheme}://{before}{at}{hosts.partition(',')[0]}{slash}{path}")
        host, port = parts.hostname or "", parts.port
    except ValueError:  # an invalid port or a partial address: the program cannot dial it
        return Address("", 0)
    parameters = {key.lower(): values[-1] for key, values in parse_qs(parts.query).items()}
    if semicolon:
        parameters |= {m["key"].lower(): m["value"] for m in _PAIR.finditer(settings + slash + path)}
    user = unquote(parts.username or "") or parameters.get("user", "")
    password = unquote(parts.password or "") or parameters.get("password", "")
    database = unquote(parts.path.lstrip("/")) or parameters.get("databasename", "") if scheme in _DATABASES else ""
    mode = (parameters.get("sslmode") or parameters.get("ssl-mode") or "").lower()
    tls = scheme in _SECURE or (scheme in _DATABASES and mode in _DEMANDING)
    return Address(host, port or _PORTS.get(scheme, default_port), user, password, database, tls)


def _parse_pairs(text: str, default_port: int) -> Address:
    found = {m["key"].strip().lower().replace(" ", ""): m["value"] for m in _PAIR.finditer(text)}
    host = found.get("host") or found.get("server") or found.get("datasource") or found.get("addr") or ""
    host, _, comma = host.removeprefix("tcp:").partition(",")
    host, number = _place(host, int(comma) if comma.isdecimal() else default_port)
    port = found.get("port", "")
    user = found.get("user") or found.get("username") or found.get("userid") or found.get("uid") or ""
    password = found.get("password") or found.get("pwd") or ""
    database = found.get("dbname") or found.get("database") or found.get("initialcatalog") or ""
    tls = found.get("sslmode", "").lower() in _DEMANDING
    return Address(host, int(port) if port.isdecimal() else number, user, password, database, tls)
