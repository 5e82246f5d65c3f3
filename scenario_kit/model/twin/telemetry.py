"""Metrics that components export, and the collector that turns spans into metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import PORT, describe


class Signal(Value, frozen=True, kw_only=True):
    """The value of one exported series: `measure` times `factor`, plus `offset`."""

    measure: Annotated[
        Literal["Uptime", "Calls", "Errors", "Connections", "Memory", "Keys", "Constant"],
        describe(
            "What is measured of the component: `Uptime` in seconds, `Calls` and `Errors` since its start, open "
            "`Connections`, `Memory` in bytes, `Keys` in its caches; `Constant` is 1."
        ),
    ]
    operations: Annotated[
        tuple[str, ...], describe("The operations whose calls, errors or keys count; empty for all.")
    ] = ()
    factor: Annotated[float, describe("Factor.")] = 1.0
    offset: Annotated[float, describe("Summand.")] = 0.0


class Exporter(Value, frozen=True, kw_only=True):
    """Series that the collector scrapes from a component, while it reaches it."""

    component: Annotated[str, describe("The component that exports.")]
    port: Annotated[int, describe("The port on which it is scraped.", **PORT)]
    labels: Annotated[dict[str, str], describe("Labels of all its series.")] = {}
    series: Annotated[
        dict[str, Signal],
        describe('The series by metric: `metric`, or `metric{label="value"}` for one with labels of its own.'),
    ] = {}


class CollectorModel(Value, frozen=True, kw_only=True):
    """The collector, where spans become metrics. Counters live in it and are lost with it."""

    component: Annotated[str, describe("The component that is the collector.")]
