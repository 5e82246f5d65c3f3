"""Traces of a world in the formats of existing tools: Jaeger's query API and OTLP JSON."""

from scenario_kit.lab.tracing.jaeger import TraceSource, build_error_reply, reply
from scenario_kit.lab.tracing.otlp import serialize_lines

__all__ = ["TraceSource", "serialize_lines", "build_error_reply", "reply"]
