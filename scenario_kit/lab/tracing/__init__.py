"""Traces of a world as existing tools read them: Jaeger's query API, and OpenTelemetry's JSON."""

from scenario_kit.lab.tracing.jaeger import Asked, build_error_reply, reply
from scenario_kit.lab.tracing.otlp import serialize_lines

__all__ = ["Asked", "serialize_lines", "build_error_reply", "reply"]
