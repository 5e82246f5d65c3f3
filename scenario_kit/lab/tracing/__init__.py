"""Traces of a world as existing tools read them: Jaeger's query API, and OpenTelemetry's JSON."""

from scenario_kit.lab.tracing.jaeger import Asked, refused, reply
from scenario_kit.lab.tracing.otlp import lines

__all__ = ["Asked", "lines", "refused", "reply"]
