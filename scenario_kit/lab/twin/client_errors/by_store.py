"""Output of failing command-line clients of stores: their own messages, and those of the store."""

from __future__ import annotations

from typing import Final

from scenario_kit.lab.twin.address import Address
from scenario_kit.lab.twin.client_errors.words import COMMANDS
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model import StoreEffect

#: The line printed before the response to a wrong password.
_WRONG: Final = "AUTH failed: WRONGPASS invalid username-password pair or user is disabled.\n"


def describe_refusal(scheme: str, outcome: ConnectionOutcome, address: Address, ip: str) -> tuple[int, str]:
    """Return the exit code and the last output of a client that fails to connect or to log in."""
    outcome = ConnectionOutcome.DNS_TIMEOUT if outcome == ConnectionOutcome.SERVFAIL else outcome
    names = {"host": address.host, "port": address.port, "user": address.user, "ip": ip, "database": address.desired}
    if scheme in ("postgres", "postgresql"):
        return 2, _choose_words("postgres", outcome).format(**names)
    if scheme == "redis":
        wrong = _WRONG if outcome == ConnectionOutcome.AUTHENTICATION_FAILED and address.password else ""
        return 1, wrong + _choose_words("redis", outcome).format(**names)
    return 1, f"connection to {address.host}:{address.port} failed"


def _choose_words(scheme: str, outcome: ConnectionOutcome) -> str:
    return COMMANDS[scheme].get(outcome, COMMANDS[scheme][ConnectionOutcome.CONNECTION_REFUSED])


def explain_rejection(scheme: str, does: StoreEffect, target: Process) -> str:
    """Return the store's error for a rejected statement; empty if it is accepted."""
    if scheme not in ("postgres", "postgresql"):
        return ""
    users = {*(user for user, _ in target.logins), *target.store_state.barred}
    named = does.drop_user or does.create_user or does.revoke_role or does.grant_role or does.user
    if named and users and named not in users and does.set_password is None:
        return f'ERROR:  role "{named}" does not exist'
    return ""
