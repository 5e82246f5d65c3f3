"""The content of ``twin.yaml`` for one version of an app.

All that is specific to an application is data in this file; the lab's simulation is generic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from scenario_kit.model.base import Object, Value
from scenario_kit.model.json_document import Place
from scenario_kit.model.twin.address import RegistryModel
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.model.twin.edge import Edge
from scenario_kit.model.twin.fields import BYTES, CORES, MILLISECONDS, SECONDS, describe
from scenario_kit.model.twin.flag import FlagModel
from scenario_kit.model.twin.load import LoadModel
from scenario_kit.model.twin.queue import QueueModel
from scenario_kit.model.twin.telemetry import CollectorModel, Exporter


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
    """A loaded twin with assumptions resolved. ``uses`` holds their places by name."""

    uses: dict[str, tuple[Place, ...]] = {}

    def with_assumptions(self, values: Mapping[str, float]) -> TwinDefinition:
        """Return this twin with other values of assumptions.

        Raises:
            ValueError: there is no such assumption, or the value is invalid where it is used.
        """
        document: Object = msgspec.json.decode(msgspec.json.encode(self))  # mutable lists
        for name, value in values.items():
            if name not in self.assumptions:
                known = ", ".join(sorted(self.assumptions)) or "none"
                raise ValueError(f"assumptions: '{name}' is not one of this app's; it has {known}")
            for place in (("assumptions", name, "value"), *self.uses.get(name, ())):
                _put(document, place, normalize_number(value))
        return TwinDefinition.from_json(document)


def normalize_number(value: float) -> float:
    """Return whole numbers as integers, as JSON does, for fields that count."""
    return int(value) if float(value).is_integer() else value


def _put(document: Object, place: Place, value: float) -> None:
    """Set a value at a place; mappings with only defaults were omitted."""
    part: Any = document
    for step in place[:-1]:
        part = part.setdefault(step, {}) if isinstance(part, dict) else part[step]
    part[place[-1]] = value
