"""Programs whose variable for a port holds no number, such as the URL of a Service of the same name.

What they do follows from their libraries: most do not come up; others run without the port.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from scenario_kit.lab.twin.process.process import Process


class StartFailure(NamedTuple):
    """What a program prints, and its exit code."""

    text: str
    code: int


#: By language: those whose programs exit.
_FAILURES: Final[Mapping[str, StartFailure]] = {
    "go": StartFailure("listen tcp: {problem}", 1),
    "java": StartFailure('Exception in thread "main" java.lang.NumberFormatException: For input string: "{value}"', 1),
    "python": StartFailure("ValueError: invalid literal for int() with base 10: '{value}'", 1),
    "rust": StartFailure("thread 'main' panicked at src/main.rs: ParseIntError {{ kind: InvalidDigit }}", 101),
    "dotnet": StartFailure("Unhandled exception. System.FormatException: Invalid url: 'http://*:{value}'", 134),
    "envoy": StartFailure("error initializing configuration: invalid value: port_value: {value}", 1),
}
_GRPC_OF_PYTHON: Final = "RuntimeError: Failed to bind to address [::]:{value}"


def find_invalid_port(process: Process) -> StartFailure | None:
    """Return how a program fails because a port's variable holds no number; None if none does, or it runs on."""
    model = process.model
    if model is None or not (model.start.port_text or model.dialect in _FAILURES):
        return None
    for port in model.ports:
        value = process.env.get(port.env, "") if port.env else ""
        if not value or value.isdigit():
            continue
        if model.start.port_text:
            return StartFailure(model.start.port_text.replace("{value}", value), model.start.port_code)
        text, code = _FAILURES[model.dialect]
        if model.dialect == "python" and port.protocol == "grpc":
            text = _GRPC_OF_PYTHON
        problem = f"address :{value}: too many colons in address"
        if ":" not in value:
            problem = f"lookup tcp/{value}: unknown port"
        return StartFailure(text.format(value=value, problem=problem), code)
    return None
