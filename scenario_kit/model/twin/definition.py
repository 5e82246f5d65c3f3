"""The definition of an app's twin: the content of ``twin.yaml`` for one version of the app, as a value.

Everything that is particular to an application stands here as data; how it is simulated is the lab's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from scenario_kit.model.base import Object, Value
from scenario_kit.model.twin.address import RegistryModel
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.model.twin.edge import Edge
from scenario_kit.model.twin.fields import BYTES, CORES, MILLISECONDS, SECONDS, describe
from scenario_kit.model.twin.flag import FlagModel
from scenario_kit.model.twin.load import LoadModel
from scenario_kit.model.twin.queue import QueueModel
from scenario_kit.model.twin.telemetry import CollectorModel, Exporter

#: A place in the document: names of fields, keys of maps, and indices of lists.
Place = tuple[str | int, ...]


class Assumption(Value, frozen=True, kw_only=True):
    """A number that nothing upstream settles. A campaign varies it between `low` and `high`.

    `$name` in place of a number stands for the assumption of that name.
    """

    value: Annotated[float, describe("The number, as the first trial takes it.")]
    low: Annotated[float, describe("The least that it may be.")]
    high: Annotated[float, describe("The most that it may be.")]
    why: Annotated[str, describe("What the number is, and why it is not known.")] = ""


class TwinConstants(Value, frozen=True, kw_only=True):
    """Constants of networks and machines."""

    sigma: Annotated[float, describe("Standard deviation of the logarithm of all latencies (log-normal).", ge=0)] = 0.5
    hop_ms: Annotated[
        float, describe("Median time of a network hop between pods.", unit=MILLISECONDS, group="Network", ge=0)
    ] = 0.3
    latency_scale: Annotated[float, describe("Factor of all `ownMs` and `hopMs`.", group="Scale", ge=0)] = 1.0
    cpu_scale: Annotated[float, describe("Factor of all CPU times.", group="Scale", ge=0)] = 1.0
    node_cores: Annotated[
        float, describe("CPU that a container without limit can have.", unit=CORES, group="Scale", gt=0)
    ] = 4.0
    http_pool_seconds: Annotated[
        float,
        describe(
            "How long HTTP clients keep pooled connections to endpoints that a changed Service no longer has.",
            unit=SECONDS,
            group="Connections",
            ge=0,
        ),
    ] = 60.0
    reconnect_seconds: Annotated[
        float,
        describe(
            "Longest back-off of a client that reconnects after an outage.", unit=SECONDS, group="Connections", ge=0
        ),
    ] = 120.0
    first_dial_seconds: Annotated[
        float,
        describe(
            "How long an attempt to connect hangs that begins during a partition.",
            unit=SECONDS,
            group="Connections",
            ge=0,
        ),
    ] = 20.0
    tcp_timeout_seconds: Annotated[
        float,
        describe(
            "After how long the kernel closes an open connection that packets no longer cross.",
            unit=SECONDS,
            group="Connections",
            ge=0,
        ),
    ] = 900.0
    retransmit_seconds: Annotated[
        float,
        describe("First retransmission timeout of TCP; it doubles each time.", unit=SECONDS, group="Network", gt=0),
    ] = 0.2
    retransmit_limit_seconds: Annotated[
        float, describe("Longest retransmission timeout of TCP.", unit=SECONDS, group="Network", gt=0)
    ] = 120.0
    retransmissions: Annotated[int, describe("How often TCP sends a segment again at most.", group="Network", ge=0)] = (
        15
    )
    message_bytes: Annotated[float, describe("Size of a message.", unit=BYTES, group="Network", ge=0)] = 2048.0


class TwinDocument(Value, frozen=True, kw_only=True):
    """The whole of `twin.yaml`."""

    assumptions: Annotated[dict[str, Assumption], describe("Numbers that nothing upstream settles, by name.")] = {}
    constants: Annotated[TwinConstants, describe("Constants of networks and machines.")] = TwinConstants()
    images: Annotated[
        tuple[str, ...], describe("Further images that can be pulled, beside those that `app.yaml` lists.")
    ] = ()
    idle_images: Annotated[tuple[str, ...], describe("Images, as globs, whose programs run and do nothing.")] = (
        "*/pause:*",
        "*/pause@*",
    )
    components: Annotated[dict[str, ComponentModel], describe("How each component behaves, by name.")]
    edges: Annotated[tuple[Edge, ...], describe("Which component dials which.")] = ()
    load: Annotated[LoadModel, describe("The users.")]
    flags: Annotated[FlagModel | None, describe("The feature flags; leave out if there are none.")] = None
    queues: Annotated[tuple[QueueModel, ...], describe("Message brokers.")] = ()
    registries: Annotated[tuple[RegistryModel, ...], describe("Service registries.")] = ()
    exporters: Annotated[tuple[Exporter, ...], describe("Components that the collector scrapes.")] = ()
    collector: Annotated[CollectorModel | None, describe("Where spans become metrics; leave out if they do not.")] = (
        None
    )


class TwinDefinition(TwinDocument, frozen=True, kw_only=True):
    """A twin as it is loaded: numbers stand in place of assumptions. ``uses`` says where, by name."""

    uses: dict[str, tuple[Place, ...]] = {}

    def with_assumptions(self, values: Mapping[str, float]) -> TwinDefinition:
        """Return this twin under other values of assumptions.

        Raises:
            ValueError: there is no such assumption, or its value does not fit where it is used.
        """
        document: Object = msgspec.json.decode(msgspec.json.encode(self))  # with lists, which can be written to
        for name, value in values.items():
            if name not in self.assumptions:
                known = ", ".join(sorted(self.assumptions)) or "none"
                raise ValueError(f"assumptions: '{name}' is not one of this app's; it has {known}")
            for place in (("assumptions", name, "value"), *self.uses.get(name, ())):
                _put(document, place, normalize_number(value))
        return TwinDefinition.from_json(document)


def normalize_number(value: float) -> float:
    """Return the number as JSON has it: 4.0 is an integer, so that fields that count take it."""
    return int(value) if float(value).is_integer() else value


def _put(document: Object, place: Place, value: float) -> None:
    """Write a value at a place; mappings that hold nothing but defaults have been left out."""
    part: Any = document
    for step in place[:-1]:
        part = part.setdefault(step, {}) if isinstance(part, dict) else part[step]
    part[place[-1]] = value
