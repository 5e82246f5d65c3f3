"""The tools of a run as an MCP server, over standard input and output or streamable HTTP.

The protocol is the official SDK's (package ``mcp``, extra ``mcp`` of this project).
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scenario_kit.errors import UsageError
from scenario_kit.model.base import Value, encode_json, to_plain
from scenario_kit.solver.gateway.tools import describe_tools
from scenario_kit.solver.investigation import ANSWER_FORM
from scenario_kit.solver.programs.mcp_bridge import CallBridge
from scenario_kit.solver.protocol.lines import BadLine, build_depth_error, check_depth
from scenario_kit.solver.protocol.messages import (
    CallMessage,
    EndMessage,
    EscalateMessage,
    KitMessage,
    ResultMessage,
    SolverMessage,
    StageMessage,
    StopMessage,
    SubmitMessage,
    ToolDescription,
)

if TYPE_CHECKING:
    from mcp.server import Server

_TEXT: Final = {"type": "string"}


def _describe(name: str, description: str, properties: dict[str, Any], *required: str) -> ToolDescription:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolDescription(name=name, description=description, parameters=schema)


#: Tools for the messages of the protocol that are not tool calls.
SESSION_TOOLS: Final = (
    _describe("get_incident", "Get the brief, the app's namespaces, the stages and the limits. It is no turn.", {}),
    _describe(
        "submit", f"End the present stage. A diagnosis takes `ans`, as JSON: {ANSWER_FORM}. A mitigation takes none.",
        {"ans": {"description": "the answer, as JSON or an object"}},
    ),
    _describe(
        "escalate", "Hand over to the owners of the object `to` (namespace/Kind/name), which ends the run.",
        {"reason": _TEXT, "to": _TEXT, "ans": {"description": "what is known so far, as for submit"}}, "reason",
    ),
    _describe("stop", "End the run without a further answer.", {"reason": _TEXT}),
)  # fmt: skip


class ToolReply(Value, frozen=True, kw_only=True):
    """A text for the client and whether the call failed."""

    text: str
    failed: bool = False


def require_sdk() -> None:
    """Check that the SDK is installed.

    Raises:
        UsageError: it is missing.
    """
    try:
        import mcp.server  # noqa: F401
    except ImportError as error:
        raise UsageError("the package mcp is not installed", fix="pip install 'scenario-kit[mcp]'") from error


def answer_call(bridge: CallBridge, name: str, arguments: dict[str, Any]) -> ToolReply:
    """Answer a tool call in the caller's thread."""
    if name == "get_incident":
        return _render_start(bridge)
    try:
        message = _build_message(name, arguments)
        check_depth(message)
    except BadLine as error:
        return ToolReply(text=f"error: {error.problem}\nfix: {error.fix}", failed=True)
    return _render(bridge.request(message))


def _build_message(name: str, arguments: dict[str, Any]) -> SolverMessage:
    match name:
        case "submit":
            return SubmitMessage(answer=_read_answer(arguments.get("ans", arguments.get("solution"))))
        case "escalate":
            return EscalateMessage(
                reason=str(arguments.get("reason", "")), to=str(arguments.get("to", "")),
                answer=_read_answer(arguments.get("ans")),
            )  # fmt: skip
        case "stop":
            return StopMessage(reason=str(arguments.get("reason", "")))
        case _:
            return CallMessage(tool=name, arguments=arguments)


def _read_answer(given: Any) -> Any:
    """Decode an answer given as JSON text; invalid JSON stays a string, which is not a valid answer.

    Raises:
        BadLine: it is nested too deeply to be decoded; the number of levels depends on the version of Python.
    """
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given) if given.strip() else None
    except RecursionError as error:
        raise build_depth_error() from error
    except (msgspec.DecodeError, ValueError):
        return given


def _render_start(bridge: CallBridge) -> ToolReply:
    start = bridge.wait_start()
    if isinstance(start, EndMessage):
        return _render(start)
    plain = {key: value for key, value in to_plain(start).items() if key not in ("type", "tools", "protocol")}
    return ToolReply(text=encode_json(plain).decode())


def _render(message: KitMessage) -> ToolReply:
    match message:
        case ResultMessage():
            return ToolReply(text=message.content, failed=not message.ok)
        case StageMessage():
            return ToolReply(text=f"the answer is taken; the stage {message.stage} begins at {message.now}")
        case EndMessage():
            text = f"the run is over: {message.reason}" + (f" ({message.message})" if message.message else "")
            return ToolReply(text=text, failed=message.reason not in ("finish", "escalated"))
        case _:
            return ToolReply(text=encode_json(message).decode(), failed=True)


def build_server(bridge: CallBridge, brief: str) -> Server[Any]:
    """Build the server of a run; its instructions are the brief of the incident."""
    import anyio.to_thread
    from mcp import types
    from mcp.server import Server

    async def list_tools(_context: Any, _parameters: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=each.name, description=each.description, input_schema=each.parameters)
                for each in (*describe_tools(), *SESSION_TOOLS)
            ]
        )

    async def call_tool(_context: Any, parameters: types.CallToolRequestParams) -> types.CallToolResult:
        answer = partial(answer_call, bridge, parameters.name, dict(parameters.arguments or {}))
        replied = await anyio.to_thread.run_sync(answer, abandon_on_cancel=True)
        content = types.TextContent(type="text", text=replied.text)
        return types.CallToolResult(content=[content], is_error=replied.failed)

    instructions = f"{brief}\nFind the root causes, submit them, then repair the app and submit again."
    return Server("scenario-kit", instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool)


def serve_stdio(bridge: CallBridge, brief: str) -> None:
    """Serve on stdio in a thread; hang up the bridge when the client disconnects."""
    import anyio
    from mcp.server.stdio import stdio_server

    server = build_server(bridge, brief)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    _start(partial(anyio.run, serve), bridge)


def serve_http(bridge: CallBridge, brief: str, port: int, token: str) -> str:
    """Serve on loopback in a thread; returns the URL, which contains the token.

    Raises:
        UsageError: the port is in use.
    """
    import uvicorn

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        raise UsageError(f"port {port} is taken: {error.strerror}", fix="omit --port to use a free one") from error
    path = f"/{token}/mcp"
    app = build_server(bridge, brief).streamable_http_app(streamable_http_path=path, host="127.0.0.1")
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
    _start(partial(server.run, sockets=[listening]), bridge)
    return f"http://127.0.0.1:{listening.getsockname()[1]}{path}"


def _start(serve: Callable[[], object], bridge: CallBridge) -> None:
    def run() -> None:
        try:
            serve()
        finally:
            bridge.hang_up()

    threading.Thread(target=run, daemon=True, name="mcp").start()
