"""Applications: the content of ``catalog/apps/<name>/app.yaml`` for one version."""

from __future__ import annotations

from typing import Any, Literal

from scenario_kit.model.base import Object, Value
from scenario_kit.model.kubernetes.reference import Reference
from scenario_kit.model.runtime.client import Client
from scenario_kit.model.twin.definition import TwinDefinition


class JvmResult(Value, frozen=True, kw_only=True):
    """A method of a Java program, and a wrong return value in Java syntax."""

    class_name: str
    method: str
    value: str


class Jvm(Value, frozen=True, kw_only=True):
    """A Java program: a method that runs once per request or record, and one whose result matters."""

    class_name: str
    method: str
    returns: JvmResult | None = None


class Component(Value, frozen=True, kw_only=True):
    """A component of the app: one workload, usually one Service.

    ``name`` is also the label ``service_name`` of its spans. ``workload`` is a reference (``Deployment/cart``),
    ``service`` the name of its Service, empty if there is none. ``serves`` is Http for plain HTTP/1 on the first port;
    ``jvm`` is None unless it is a Java program.
    """

    name: str
    workload: Reference
    service: str = ""
    role: Literal["Entry", "App", "Store", "Queue", "Flags", "Load", "Platform"] = "App"
    serves: Literal["Http", "Other"] = "Other"
    jvm: Jvm | None = None


class CallEdge(Value, frozen=True, kw_only=True):
    """``caller`` calls ``callee``; ``env`` or ``config`` is where the caller reads the address.

    With ``via`` Registry, calls go directly to pods instead of the callee's Service.
    """

    caller: str
    callee: str
    mode: Literal["Sync", "Swallowed", "Async"] = "Sync"
    via: Literal["Service", "Registry"] = "Service"
    env: tuple[str, ...] = ()
    config: str = ""


class Aftermath(Value, frozen=True, kw_only=True):
    """A condition that outlasts an outage of the component ``after``, until each of ``restart`` is restarted."""

    after: str
    restart: tuple[str, ...]
    because: str


class LoadProfile(Value, frozen=True, kw_only=True):
    """A named traffic shape and the option values that produce it."""

    description: str = ""
    options: dict[str, Any] = {}


class FlagTrait(Value, frozen=True, kw_only=True):
    """The effect of a feature flag.

    Attributes:
        component: evaluates the flag.
        shows: the component that shows the effect; empty for ``component``.
        weak: variants whose effect is too weak to observe.
        load: the load profile that is needed; empty for any.
        prepare: a strategic merge patch of the component's workload that is needed to observe the effect.
        because: the reason why ``effect`` is None.
    """

    component: str
    shows: str = ""
    effect: Literal["Errors", "Latency", "OutOfMemory", "Lag", "NoTraffic", "NotReady", "Surge", "None"]
    weak: tuple[str, ...] = ()
    load: str = ""
    prepare: Object = {}
    because: str = ""


class FlagStore(Value, frozen=True, kw_only=True):
    """The store of feature flags: a JSON document in a ConfigMap key, and what to restart after a change.

    ``effects`` may include flags that this version of the app does not have.
    """

    config_map: str
    key: str
    restart: tuple[Reference, ...] = ()
    effects: dict[str, FlagTrait] = {}


class LoadKnob(Value, frozen=True, kw_only=True):
    """A variable from which the load generator reads a number at startup.

    ``flag`` is a feature flag with numeric variants that overrides it; empty if there is none.
    """

    env: str
    flag: str = ""


class LoadKnobs(Value, frozen=True, kw_only=True):
    """The settings of the load generator, the component with role ``Load``."""

    users: LoadKnob
    spawn_rate: LoadKnob | None = None


class App(Value, frozen=True, kw_only=True):
    """An app in one version. ``twin`` is None for apps that run only on real clusters.

    ``namespaces`` are additional ones, by symbolic name, with descriptions. ``images`` are all known images; ``locks``
    are digests for some of them, which rendered objects then contain.
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
        """Return the component of that name."""
        return next((c for c in self.components if c.name == name), None)

    def list_pod_mates(self, name: str) -> tuple[str, ...]:
        """Return the components in the pods of ``name``, itself included; only ``name`` if it is unknown."""
        own = self.component(name)
        return (name,) if own is None else tuple(c.name for c in self.components if c.workload == own.workload)

    def client(self, name: str) -> Client | None:
        """Return the client of that name."""
        return next((c for c in self.clients if c.name == name), None)

    def callers(self, name: str) -> tuple[str, ...]:
        """Return the components that call ``name`` synchronously and fail with it."""
        return tuple(dict.fromkeys(e.caller for e in self.calls if e.callee == name and e.mode == "Sync"))

    def outlasting(self, name: str) -> tuple[tuple[Component, str], ...]:
        """Return the components that need a restart after an outage of a component, each with the reason."""
        found = {c: a.because for a in self.aftermath if a.after == name for c in a.restart}
        return tuple((c, because) for name, because in found.items() if (c := self.component(name)) is not None)

    def dependants(self, name: str) -> tuple[str, ...]:
        """Return the components that call ``name`` in any mode."""
        return tuple(dict.fromkeys(e.caller for e in self.calls if e.callee == name))

    def consumers(self, queue: str) -> tuple[str, ...]:
        """Return the components that consume from a queue; empty if ``queue`` is not one."""
        component = self.component(queue)
        if component is None or component.role != "Queue":
            return ()
        found = [e.caller for e in self.calls if e.callee == queue and e.mode == "Async"]
        pushed = [e.callee for e in self.calls if e.caller == queue]
        found += [name for name in pushed if (c := self.component(name)) is not None and c.role in ("App", "Entry")]
        return tuple(dict.fromkeys(found))

    def producers(self, queue: str) -> tuple[str, ...]:
        """Return the components that produce to a queue; empty if ``queue`` is not one."""
        component = self.component(queue)
        if component is None or component.role != "Queue":
            return ()
        return tuple(dict.fromkeys(e.caller for e in self.calls if e.callee == queue and e.mode != "Async"))
