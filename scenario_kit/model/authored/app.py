"""Sample applications as data: what ``catalog/apps/<name>/app.yaml`` says, for one version of the app."""

from __future__ import annotations

from typing import Any, Literal

from scenario_kit.model.base import Object, Value
from scenario_kit.model.runtime.client import Client
from scenario_kit.model.twin.definition import TwinDefinition


class JvmResult(Value, frozen=True, kw_only=True):
    """A method of a Java program and a wrong value for it to return, written as Java writes it."""

    class_name: str
    method: str
    value: str


class Jvm(Value, frozen=True, kw_only=True):
    """A Java program: the method that runs once for each request or record, and one whose result matters."""

    class_name: str
    method: str
    returns: JvmResult | None = None


class Component(Value, frozen=True, kw_only=True):
    """A part of the app: one workload, usually one Service.

    ``name`` is also the value of the telemetry label ``service_name`` of its spans. ``workload`` is a reference
    (``Deployment/cart``), ``service`` the bare name of its Service, empty where it has none. ``serves`` is Http for
    plain HTTP/1 on its first port; ``jvm`` is None where no Java program runs.
    """

    name: str
    workload: str
    service: str = ""
    role: Literal["Entry", "App", "Store", "Queue", "Flags", "Load", "Platform"] = "App"
    serves: Literal["Http", "Other"] = "Other"
    jvm: Jvm | None = None


class CallEdge(Value, frozen=True, kw_only=True):
    """``caller`` talks to ``callee``; ``env`` or ``config`` is where the caller reads the address.

    ``via`` a registry, calls go to pods, and the callee's Service plays no part.
    """

    caller: str
    callee: str
    mode: Literal["Sync", "Swallowed", "Async"] = "Sync"
    via: Literal["Service", "Registry"] = "Service"
    env: tuple[str, ...] = ()
    config: str = ""


class Aftermath(Value, frozen=True, kw_only=True):
    """What goes on being broken once the component ``after`` was out, until each of ``restart`` starts anew."""

    after: str
    restart: tuple[str, ...]
    because: str


class LoadProfile(Value, frozen=True, kw_only=True):
    """A named traffic shape and the option values that produce it."""

    description: str = ""
    options: dict[str, Any] = {}


class FlagTrait(Value, frozen=True, kw_only=True):
    """What a feature flag does.

    ``component`` evaluates it; ``shows`` is the component that shows the effect, empty for the same. ``weak`` are
    variants that do too little to be seen. ``load`` is the load profile that it needs, empty for any. ``prepare`` is a
    strategic merge patch of the component's workload without which nothing is to be seen. ``because`` says why nothing
    is ever to be seen, where ``effect`` is None.
    """

    component: str
    shows: str = ""
    effect: Literal["Errors", "Latency", "OutOfMemory", "Lag", "NoTraffic", "NotReady", "Surge", "None"]
    weak: tuple[str, ...] = ()
    load: str = ""
    prepare: Object = {}
    because: str = ""


class FlagStore(Value, frozen=True, kw_only=True):
    """Where feature flags live: a JSON document in a ConfigMap key, and what must restart for a change to act.

    ``effects`` says what flags do, by name; it may name some that this version of the app does not have.
    """

    config_map: str
    key: str
    restart: tuple[str, ...] = ()
    effects: dict[str, FlagTrait] = {}


class LoadKnob(Value, frozen=True, kw_only=True):
    """A number that the load generator reads from this variable when it starts.

    ``flag`` is the feature flag that has the last word, whose variants are numbers; empty where there is none.
    """

    env: str
    flag: str = ""


class LoadKnobs(Value, frozen=True, kw_only=True):
    """How the load generator, the component of role ``Load``, learns how much traffic to make."""

    users: LoadKnob
    spawn_rate: LoadKnob | None = None


class App(Value, frozen=True, kw_only=True):
    """One app in one version. ``twin`` is None for apps that run on real clusters only.

    ``namespaces`` are further ones that it may have beside ``namespace``, by symbolic name, each with a description.

    ``images`` exist; ``locks`` are the digests of some of them, which rendered objects then name beside the tag.
    """

    name: str
    version: str
    title: str = ""
    namespace: str
    namespaces: dict[str, str] = {}
    entry: str
    components: tuple[Component, ...]
    calls: tuple[CallEdge, ...] = ()
    aftermath: tuple[Aftermath, ...] = ()
    loads: dict[str, LoadProfile] = {}
    alert_packs: tuple[str, ...] = ("default",)
    options: Object = {}
    images: tuple[str, ...] = ()
    locks: dict[str, str] = {}
    flags: FlagStore | None = None
    load: LoadKnobs | None = None
    clients: tuple[Client, ...] = ()
    twin: TwinDefinition | None = None

    def component(self, name: str) -> Component | None:
        """Return the component of that name, or None."""
        return next((c for c in self.components if c.name == name), None)

    def client(self, name: str) -> Client | None:
        """Return the client of that name, or None."""
        return next((c for c in self.clients if c.name == name), None)

    def callers(self, name: str) -> tuple[str, ...]:
        """Return names of the components that call ``name`` synchronously and notice its failures."""
        return tuple(dict.fromkeys(e.caller for e in self.calls if e.callee == name and e.mode == "Sync"))

    def outlasting(self, name: str) -> tuple[tuple[Component, str], ...]:
        """Return the components that have to start anew once the one of that name was out, each with the reason."""
        found = {c: a.because for a in self.aftermath if a.after == name for c in a.restart}
        return tuple((c, because) for name, because in found.items() if (c := self.component(name)) is not None)

    def dependants(self, name: str) -> tuple[str, ...]:
        """Return names of the components that talk to ``name`` in whatever mode."""
        return tuple(dict.fromkeys(e.caller for e in self.calls if e.callee == name))

    def consumers(self, queue: str) -> tuple[str, ...]:
        """Return names of the components that receive messages from ``queue``; empty where it is none."""
        component = self.component(queue)
        if component is None or component.role != "Queue":
            return ()
        found = [e.caller for e in self.calls if e.callee == queue and e.mode == "Async"]
        pushed = [e.callee for e in self.calls if e.caller == queue]
        found += [name for name in pushed if (c := self.component(name)) is not None and c.role in ("App", "Entry")]
        return tuple(dict.fromkeys(found))

    def producers(self, queue: str) -> tuple[str, ...]:
        """Return names of the components that send messages to ``queue``; empty where it is none."""
        component = self.component(queue)
        if component is None or component.role != "Queue":
            return ()
        return tuple(dict.fromkeys(e.caller for e in self.calls if e.callee == queue and e.mode != "Async"))
