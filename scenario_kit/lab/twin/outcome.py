"""How an attempt to connect ends, or a call over a connection, in the words of the protocols that are spoken there."""

from __future__ import annotations

from enum import Enum
from typing import Literal, assert_never


class ConnectionOutcome(Enum):
    """The end of an attempt; the value is what spans carry as ``error.type``."""

    OK = "ok"
    #: Nobody listens, or a Service has no endpoints.
    CONNECTION_REFUSED = "refused"
    #: Packets leave and nothing comes back.
    CONNECTION_TIMEOUT = "dropped"
    #: The peer closed the connection in the middle of a call.
    CONNECTION_RESET = "aborted"
    #: The callee answered, with an error.
    ERROR_RESPONSE = "failure"
    #: The name server knows no such name.
    NXDOMAIN = "noname"
    #: The name server reports a failure of its own.
    SERVFAIL = "misanswered"
    #: The name server does not answer.
    DNS_TIMEOUT = "unanswered"
    #: The service registry lists no address.
    NO_ADDRESSES = "unlisted"
    #: Another protocol is spoken on the port.
    PROTOCOL_MISMATCH = "foreign"
    #: The caller demands TLS on a port without.
    TLS_MISMATCH = "plain"
    #: User or password are wrong.
    AUTHENTICATION_FAILED = "denied"
    #: The role exists and may not log in.
    LOGIN_NOT_PERMITTED = "barred"
    UNKNOWN_DATABASE = "nowhere"
    TOO_MANY_CONNECTIONS = "full"
    #: The login lacks the privilege on a table.
    PERMISSION_DENIED = "forbidden"
    #: Another session holds a lock on the table.
    LOCK_TIMEOUT = "locked"
    #: The caller gave up before the answer came.
    DEADLINE_EXCEEDED = "late"


#: How far an attempt came: to a name, to a connection, to a session that calls can use, or to a call that fails.
Stage = Literal["Name", "Connection", "Session", "Call"]


def find_stage(outcome: ConnectionOutcome) -> Stage:
    """Find the stage at which an attempt ended; one that succeeds reaches the call."""
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
        ):
            return "Call"
        case _:
            assert_never(outcome)


#: Outcomes in which the name server gives no answer that can be used.
NO_ANSWER = frozenset({ConnectionOutcome.DNS_TIMEOUT, ConnectionOutcome.SERVFAIL})
#: Outcomes in which no connection came about.
UNREACHED = frozenset(each for each in ConnectionOutcome if find_stage(each) in ("Name", "Connection"))
#: Outcomes in which no connection came about that calls can use.
UNCONNECTED = frozenset(each for each in ConnectionOutcome if find_stage(each) != "Call")
