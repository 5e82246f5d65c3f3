"""Outcomes of connection attempts and calls."""

from __future__ import annotations

from enum import Enum
from typing import Literal, assert_never


class ConnectionOutcome(Enum):
    """The outcome of an attempt; the value is the span attribute ``error.type``."""

    OK = "ok"
    #: Nothing listens, or a Service has no endpoints.
    CONNECTION_REFUSED = "refused"
    #: Packets are dropped.
    CONNECTION_TIMEOUT = "dropped"
    #: The peer closed the connection during a call.
    CONNECTION_RESET = "aborted"
    #: The callee responded with an error.
    ERROR_RESPONSE = "failure"
    #: The name does not exist.
    NXDOMAIN = "noname"
    #: The DNS server reports a failure.
    SERVFAIL = "misanswered"
    #: The DNS server does not respond.
    DNS_TIMEOUT = "unanswered"
    #: The service registry has no address.
    NO_ADDRESSES = "unlisted"
    #: The port speaks another protocol.
    PROTOCOL_MISMATCH = "foreign"
    #: The caller requires TLS, the port has none.
    TLS_MISMATCH = "plain"
    #: Wrong user or password.
    AUTHENTICATION_FAILED = "denied"
    #: The role exists but may not log in.
    LOGIN_NOT_PERMITTED = "barred"
    UNKNOWN_DATABASE = "nowhere"
    TOO_MANY_CONNECTIONS = "full"
    #: The user lacks the privilege on a table.
    PERMISSION_DENIED = "forbidden"
    #: Another session has locked the table.
    LOCK_TIMEOUT = "locked"
    #: The caller gave up before the response.
    DEADLINE_EXCEEDED = "late"
    #: The caller's own caller gave up before the response.
    CALL_CANCELED = "canceled"


#: The stage an attempt reached: name resolution, connection, session, or call.
Stage = Literal["Name", "Connection", "Session", "Call"]


def find_stage(outcome: ConnectionOutcome) -> Stage:
    """Return the stage at which an attempt ended; a successful one reaches the call."""
    match outcome:
        case ConnectionOutcome.NXDOMAIN | ConnectionOutcome.SERVFAIL | ConnectionOutcome.DNS_TIMEOUT:
            return "Name"
        case ConnectionOutcome.CONNECTION_REFUSED | ConnectionOutcome.CONNECTION_TIMEOUT:
            return "Connection"
        case (
            ConnectionOutcome.AUTHENTICATION_FAILED
            | ConnectionOutcome.LOGIN_NOT_PERMITTED
            | ConnectionOutcome.UNKNOWN_DATABASE
            | ConnectionOutcome.TOO_MANY_CONNECTIONS
            | ConnectionOutcome.PROTOCOL_MISMATCH
            | ConnectionOutcome.TLS_MISMATCH
        ):
            return "Session"
        case (
            ConnectionOutcome.OK
            | ConnectionOutcome.NO_ADDRESSES
            | ConnectionOutcome.CONNECTION_RESET
            | ConnectionOutcome.ERROR_RESPONSE
            | ConnectionOutcome.PERMISSION_DENIED
            | ConnectionOutcome.LOCK_TIMEOUT
            | ConnectionOutcome.DEADLINE_EXCEEDED
            | ConnectionOutcome.CALL_CANCELED
        ):
            return "Call"
        case _:
            assert_never(outcome)


#: Outcomes without a usable DNS answer.
NO_ANSWER = frozenset({ConnectionOutcome.DNS_TIMEOUT, ConnectionOutcome.SERVFAIL})
#: Outcomes without a connection.
UNREACHED = frozenset(each for each in ConnectionOutcome if find_stage(each) in ("Name", "Connection"))
#: Outcomes without a connection that calls can use.
UNCONNECTED = frozenset(each for each in ConnectionOutcome if find_stage(each) != "Call")
