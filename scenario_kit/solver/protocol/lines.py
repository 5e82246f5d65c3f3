"""Encoding and decoding of messages as lines of JSON."""

from __future__ import annotations

import typing
from typing import Any, Final

import msgspec

from scenario_kit.model.base import encode_json
from scenario_kit.solver.protocol.messages import KitMessage, SolverMessage

#: Maximum size of a line in bytes.
LONGEST_LINE: Final = 4 << 20
#: Maximum number of levels of objects and lists in a message.
MOST_LEVELS: Final = 64
_SOLVER: Final = msgspec.json.Decoder(SolverMessage)


class BadLine(ValueError):
    """A line that is not a message; ``fix`` says what is expected."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


def encode_line(message: KitMessage | SolverMessage) -> bytes:
    """Encode a message as one line."""
    return encode_json(message) + b"\n"


def decode_solver_line(line: bytes) -> SolverMessage:
    """Decode a solver's message.

    Raises:
        BadLine: the line is too long, not JSON, or not a message.
    """
    if len(line) > LONGEST_LINE:
        raise BadLine(f"a line of {len(line)} bytes; the maximum is {LONGEST_LINE}", "send less in one message")
    try:
        message = typing.cast("SolverMessage", _SOLVER.decode(line))
    except msgspec.ValidationError as error:
        raise BadLine(f"not a message of the protocol: {error}", f"types are {', '.join(list_types())}") from error
    except RecursionError as error:
        raise build_depth_error() from error
    except (msgspec.DecodeError, ValueError) as error:  # the latter for invalid UTF-8, and numbers of many digits
        raise BadLine(f"not JSON: {error}; observed {line[:80]!r}", "send one JSON object per line") from error
    check_depth(message)
    return message


def check_depth(message: SolverMessage) -> None:
    """Check that the values of a message can be recorded and read again.

    Raises:
        BadLine: they are nested too deeply.
    """
    level = [getattr(message, name) for name in message.__struct_fields__]
    for _ in range(MOST_LEVELS):
        level = [part for value in level if isinstance(value, dict | list) for part in _list_parts(value)]
        if not level:
            return
    raise build_depth_error()


def build_depth_error() -> BadLine:
    """Build the error about values that are nested too deeply."""
    return BadLine(f"values nested deeper than {MOST_LEVELS} levels", "send values of fewer levels")


def _list_parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    """List the values in an object or a list."""
    return list(value.values()) if isinstance(value, dict) else value


def list_types() -> list[str]:
    """List the message types of solvers."""
    return [str(message.__struct_config__.tag) for message in typing.get_args(SolverMessage)]
