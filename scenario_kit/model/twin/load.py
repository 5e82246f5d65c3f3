"""Users: how many there are, what they ask for, and how often."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import MIB, MOST, SECONDS, SHARE, describe

#: A pause of a user in seconds.
_Pause = Annotated[float, Meta(ge=0, le=MOST[SECONDS])]


class Setting(Value, frozen=True, kw_only=True):
    """A number that a process reads from its environment."""

    env: Annotated[str, describe("The variable that holds the number.")] = ""
    default: Annotated[float, describe("The number without the variable.", ge=0, le=1_000_000)] = 0.0


class Route(Value, frozen=True, kw_only=True):
    """A kind of request that users send. `{route}` in calls and span names stands for its name."""

    per_iteration: Annotated[
        float, describe("How many requests of it one iteration of a user sends on average.", ge=0, le=100_000)
    ]
    draws: Annotated[
        dict[str, dict[str, Annotated[float, Meta(ge=0)]]],
        describe("Numbers drawn for each request, by name: a distribution of value → probability."),
    ] = {}


class Crowd(Value, frozen=True, kw_only=True):
    """Users of another kind, who come with a load generator whose variable `env` says true, yes or on."""

    env: Annotated[str, describe("The load generator's variable that brings them.")]
    share: Annotated[float, describe("The share of the load generator's users that they are.", **SHARE)] = 0.0
    users: Annotated[float, describe("How many of them come in addition to the load generator's users.", ge=0)] = 0.0
    memory_mib: Annotated[float, describe("Memory of the load generator that each of them takes.", unit=MIB, ge=0)] = (
        0.0
    )
    think_seconds: Annotated[
        tuple[_Pause, _Pause], describe("Shortest and longest pause between two iterations.", unit=SECONDS)
    ] = (1.0, 10.0)
    tasks: Annotated[
        dict[str, Route], describe("What they do, by the name of an operation of the load generator's own component.")
    ]


class LoadModel(Value, frozen=True, kw_only=True):
    """The load: users who think, send an iteration's requests in sequence, and think again (Locust, k6).

    With `connections` the loop is open (arrival rates of k6, wrk2): `users` is a number of iterations per second, which
    begin however long others take.
    """

    component: Annotated[str, describe("The component that generates the load.")]
    entry: Annotated[str, describe("What users call: `component/operation`, with `{route}` for the route's name.")]
    users: Annotated[Setting, describe("Number of users; iterations per second in an open loop.")]
    connections: Annotated[
        Setting | None,
        describe("Connections of an open loop; what would need more is dropped. Leave out for a closed loop."),
    ] = None
    spawn_rate: Annotated[Setting, describe("Users that come per second.")] = Setting(default=1.0)
    stages_env: Annotated[str, describe("The variable that holds stages of the number of users.")] = ""
    think_seconds: Annotated[
        tuple[_Pause, _Pause], describe("Shortest and longest pause of a user between two iterations.", unit=SECONDS)
    ] = (1.0, 10.0)
    routes: Annotated[dict[str, Route], describe("Kinds of requests, by name.")]
    user_classes: Annotated[dict[str, Crowd], describe("Users of other kinds, by name.")] = {}
    log: Annotated[str, describe("What the load generator prints for a failed request.")] = ""
