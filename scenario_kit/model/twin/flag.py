"""Feature flags: who serves them, and what each does to a component."""

from __future__ import annotations

from typing import Annotated

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import BYTES, CORES, SECONDS, SHARE, describe


class FlagEffect(Value, frozen=True, kw_only=True):
    """What a feature flag does to a component while its value is neither zero nor false."""

    component: Annotated[str, describe("The component that evaluates the flag.")]
    operation: Annotated[str, describe("The one of its operations that is concerned; empty for all.")] = ""
    share: Annotated[float, describe("The share of calls that is concerned.", group="Amounts", **SHARE)] = 1.0
    per_item: Annotated[
        bool,
        describe(
            "Whether each call of a request is about another item, and `errorShare` that of items: all calls of the "
            "request about an item then fail alike.",
            group="Amounts",
        ),
    ] = False
    share_from_value: Annotated[bool, describe("Whether the flag's value is that share.", group="Amounts")] = False
    error_share: Annotated[float, describe("The share of those calls that fails.", group="Requests", **SHARE)] = 0.0
    failure: Annotated[
        str,
        describe(
            "What callers read of a call that fails by the flag, where it differs from the operation's `failure`.",
            group="Requests",
        ),
    ] = ""
    delay_seconds: Annotated[
        float, describe("How much longer those calls take.", unit=SECONDS, group="Requests", ge=0)
    ] = 0.0
    busy_cores: Annotated[
        float, describe("CPU that the process burns in addition.", unit=CORES, group="Resources", ge=0)
    ] = 0.0
    leak_bytes: Annotated[float, describe("Memory that each call leaks.", unit=BYTES, group="Resources", ge=0)] = 0.0
    leak_growth: Annotated[
        float, describe("By which part of itself the leaked memory grows with each call.", group="Resources", ge=0)
    ] = 0.0
    extra_records: Annotated[
        float, describe("How many more records each publish of the component brings.", group="Requests", ge=0)
    ] = 0.0
    redirect: Annotated[str, describe("The callee whose calls go to `redirectTo` instead.", group="Requests")] = ""
    redirect_to: Annotated[str, describe("The address to which those calls go.", group="Requests")] = ""
    flood_route: Annotated[str, describe("The route of which users send more requests.", group="Load")] = ""
    flood_per_iteration: Annotated[
        float, describe("How many more of them in each iteration of a user.", group="Load", ge=0)
    ] = 0.0
    users: Annotated[
        float,
        describe(
            "Number of users of a load generator without stages, in place of its own; 0 keeps it.", group="Load", ge=0
        ),
    ] = 0.0
    stop_load: Annotated[bool, describe("Whether the load generator sends no requests.", group="Load")] = False
    fail_health_checks: Annotated[bool, describe("Whether the component's health checks fail.", group="Requests")] = (
        False
    )
    when_off: Annotated[
        bool,
        describe("Whether the effect is there while the value is zero or false, and not otherwise.", group="Condition"),
    ] = False
    when_unavailable: Annotated[
        bool,
        describe(
            "Whether the effect is there, too, while the flag service does not answer or does not know the flag.",
            group="Condition",
        ),
    ] = False
    propagate_value: Annotated[
        bool,
        describe(
            "Whether the component's callers evaluate the flag through it and pass the value along with each call.",
            group="Condition",
        ),
    ] = False
    handled_errors: Annotated[
        str,
        describe(
            "The `component/operation` whose calls get an error in `errorShare` of the cases, which only the "
            "component's own spans show.",
            group="Requests",
        ),
    ] = ""
    replacement_operation: Annotated[
        str, describe("The component's operation that runs in place of `operation`.", group="Requests")
    ] = ""
    empty_responses: Annotated[bool, describe("Whether answers of the operation hold nothing.", group="Requests")] = (
        False
    )
    scale_by_value: Annotated[
        bool, describe("Whether the amounts are multiplied by the flag's value.", group="Amounts")
    ] = False
    log: Annotated[str, describe("What the component prints for each call that fails by the flag.")] = ""


class FlagModel(Value, frozen=True, kw_only=True):
    """The feature flags of the app."""

    component: Annotated[str, describe("The component that serves flags.")]
    config_map: Annotated[str, describe("The ConfigMap with the flags' document.")]
    key: Annotated[str, describe("The key of the ConfigMap.")]
    evaluation_timeout_seconds: Annotated[
        float, describe("How much longer calls take that evaluate a flag while the service hangs.", unit=SECONDS, ge=0)
    ] = 0.5
    effects: Annotated[dict[str, tuple[FlagEffect, ...]], describe("What each flag does, by the flag's name.")] = {}
