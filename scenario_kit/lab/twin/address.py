"""Addresses as programs read them: where they stand, as ``host:port``, URLs, and connection strings of databases."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from scenario_kit.model.base import Value

_PORTS = {"http": 80, "https": 443, "postgres": 5432, "postgresql": 5432, "redis": 6379}
_DATABASES = ("postgres", "postgresql")
_SECURE = ("https", "rediss", "grpcs")
#: Modes of clients of PostgreSQL that do without TLS nowhere.
_DEMANDING = ("require", "verify-ca", "verify-full", "verifyca", "verifyfull")
_PAIR = re.compile(r"(?P<key>[A-Za-z][A-Za-z _]*?)\s*=\s*(?P<value>[^;\s]*)")


class Address(NamedTuple):
    """Where a program wants to connect, as whom, and to which database. ``port`` 0 means that the text names none.

    With ``tls`` it speaks nothing else.
    """

    host: str
    port: int = 0
    user: str = ""
    password: str = ""
    database: str = ""
    tls: bool = False

    @property
    def wanted(self) -> str:
        """The database that a client of SQL asks for: where none is named, the one that is called as its user."""
        return self.database or self.user


class AddressSource(Value, frozen=True, kw_only=True):
    """Where a program reads an address: one variable, or one for the host and one for the port, or a fixed text.

    ``key`` is one of the component's configuration file, or ``host_key`` and ``port_key`` are; ``text`` then stands for
    the file in the image, which counts where none is mounted. ``$(NAME)`` in ``text`` is a variable of the program,
    empty where it has none of that name. With ``of`` the variables are those of another component, which hands the
    address out.
    """

    of: str = ""
    env: str = ""
    key: str = ""
    host_env: str = ""
    port_env: str = ""
    host_key: str = ""
    port_key: str = ""
    text: str = ""
    default_port: int = 0


def parse(text: str, default_port: int = 0) -> Address:
    """Read an address. An empty host means that the text names nothing that can be dialled.

    Understood: ``host``, ``host:port``, ``scheme://[user[:password]@]host[:port]/…``, and key-value strings such as
    ``host=db user=u password=p`` or ``Host=db;Username=u;Password=p``. What follows the host of a database's URL is the
    name of the database.
    """
    text = text.strip()
    if "://" in text:
        return _url(text, default_port)
    if "=" in text:
        return _pairs(text, default_port)
    host, _, port = text.partition(":")
    return Address(host, int(port) if port.isdigit() else default_port)


def _url(text: str, default_port: int) -> Address:
    parts = urlsplit(text)
    host = parts.hostname or ""
    try:
        port = parts.port
    except ValueError:  # a port that is no number: the program cannot dial it
        return Address("", 0)
    fallback = _PORTS.get(parts.scheme, default_port)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    database = unquote(parts.path.lstrip("/")) if parts.scheme in _DATABASES else ""
    mode = parse_qs(parts.query).get("sslmode", [""])[-1]
    tls = parts.scheme in _SECURE or (parts.scheme in _DATABASES and mode in _DEMANDING)
    return Address(host, port or fallback, user, password, database, tls)


def _pairs(text: str, default_port: int) -> Address:
    found = {m["key"].strip().lower().replace(" ", ""): m["value"] for m in _PAIR.finditer(text)}
    host = found.get("host") or found.get("server") or found.get("datasource") or ""
    port = found.get("port", "")
    user = found.get("user") or found.get("username") or found.get("userid") or ""
    database = found.get("dbname") or found.get("database") or found.get("initialcatalog") or ""
    tls = found.get("sslmode", "").lower() in _DEMANDING
    return Address(host, int(port) if port.isdigit() else default_port, user, found.get("password", ""), database, tls)
